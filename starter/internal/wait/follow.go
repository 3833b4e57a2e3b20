package wait

import (
	"context"
	"slices"
	"time"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/starter/internal/screen"
)

const (
	// PollInterval is the shortest time between two rounds.
	PollInterval = time.Second
	// crowdInterval is that time while more than maxSoon resources are not settled.
	crowdInterval = 2 * time.Second
	maxSoon       = 20
	// quietInterval is that time after quietRounds rounds in which nothing changed.
	quietInterval = 4 * time.Second
	quietRounds   = 15
	// maxInterval bounds it while Temporal does not respond or limits the requests.
	maxInterval = 30 * time.Second
	// pauseFactor is how many times longer than its lists the pause after a round is.
	pauseFactor = 4
	// maxLists bounds the lists of a round except the first; each has at most
	// backend.MaxListed resources.
	maxLists = 4
	// MaxPolled bounds the resources that a round except the first reads one by one.
	MaxPolled = 100
	// maxChecked bounds those that every checkRounds rounds are read without a reason in the
	// list: no list shows a step that keeps failing.
	maxChecked  = 20
	checkRounds = 15
)

// Outcome is the state of one resource of a wait.
type Outcome struct {
	screen.Progress
	// asked is set while the view is the workflow's own and the list shows nothing newer.
	asked bool
	// tried is set once the list showed the end of a pass since the wait began, or the wait is
	// longer than the time between two: a pass that ends as the one before changes no list.
	tried bool
	// polls counts the reads of this resource alone; firstPass is the last pass that had
	// ended when its workflow was first asked, known that there is one.
	polls     int
	firstPass int64
	known     bool
	// row is the last record from a list, listed the round of that list.
	row    backend.Record
	listed int
	// missed counts the reads since the lists lack the resource; the next is in the round
	// nextRead.
	missed, nextRead int
}

// awaited returns the Outcome of one resource for the question whether waiting helps.
func (o Outcome) awaited(w Resource) awaitedResource {
	pass, generation := o.View.Pass, o.View.Condition.ObservedGeneration
	return awaitedResource{
		View: o.View, Done: o.Done, Blocker: o.Blocker,
		Tried:     o.tried || o.known && pass > o.firstPass || w.Changed || w.MinPass > 0,
		Requested: pass < w.MinPass || generation < w.MinGeneration,
	}
}

// Follower follows the resources of one wait. A round lists those that are not settled,
// and reads one by one only what a list cannot show: whether a resource has reached the
// goal (a list is behind by up to seconds), one that the list lacks, one that an older
// version manages, and the pass of a request.
type Follower struct {
	Outcomes []Outcome

	reader backend.Reader
	viewer *backend.Viewer
	list   []Resource
	goal   Goal
	now    func() time.Time
	// positions finds resources by workflow ID, ids their IDs by the keys of waits.
	positions map[string]int
	ids       map[string]resource.ID
	// unlisted is set once the server refused a list: resources are read one by one then.
	unlisted bool
	begun    time.Time
	// rounds counts the rounds, quiet those in a row in which nothing changed, and failed
	// those that Temporal refused.
	rounds, quiet, failed int
	// judged is the last round in which workflows were asked whether time helps.
	judged int
	// listing is how long the lists of the last round took, next the time of the next round.
	listing time.Duration
	next    time.Time
}

// Follow returns a follower of resources that has read nothing yet.
func Follow(reader backend.Reader, list []Resource, g Goal, now func() time.Time) *Follower {
	f := &Follower{
		reader: reader, list: list, goal: g, now: now, begun: now(),
		Outcomes: make([]Outcome, len(list)), positions: map[string]int{}, ids: map[string]resource.ID{},
	}
	for i, w := range list {
		f.Outcomes[i].View = backend.View{Status: w.Status(), Stale: true, Record: w.Record}
		f.positions[w.WorkflowID] = i
		if !w.ID.IsZero() {
			f.ids[w.Key()] = w.ID
		}
	}
	return f
}

// IsSettled reports whether every resource is settled.
func (f *Follower) IsSettled() bool {
	return !slices.ContainsFunc(f.Outcomes, func(o Outcome) bool { return !o.IsSettled() })
}

// Round refreshes what is not settled yet, unless it is too early for that. While Temporal
// is unreachable, or limits the requests, the wait continues with the last states, and
// rounds become rare.
func (f *Follower) Round(ctx context.Context) error {
	begun := f.now()
	if begun.Before(f.next) {
		return nil
	}
	f.rounds++
	f.quiet++
	f.viewer = &backend.Viewer{Reader: f.reader} // a worker may have started meanwhile
	err := f.refresh(ctx)
	interval := PollInterval
	if f.unsettled() > maxSoon {
		interval = crowdInterval
	}
	if f.quiet > quietRounds {
		interval = quietInterval
	}
	if f.failed++; err == nil {
		f.failed = 0
	}
	for range f.failed {
		interval = min(2*interval, maxInterval)
	}
	f.next = begun.Add(max(interval, min(f.listing+pauseFactor*f.listing, maxInterval)))
	if cli.ExitCode(err) == cli.ExitUnreachable {
		return nil
	}
	return err
}

func (f *Follower) unsettled() int {
	n := 0
	for _, o := range f.Outcomes {
		if !o.IsSettled() {
			n++
		}
	}
	return n
}

// refresh is one round.
func (f *Follower) refresh(ctx context.Context) error {
	var due []int
	for i, o := range f.Outcomes {
		if !o.IsSettled() {
			due = append(due, i)
		}
	}
	reads := &reads{}
	listed, err := f.listAll(ctx, due)
	switch code := cli.ExitCode(err); {
	case err != nil && (code == cli.ExitUnreachable || ctx.Err() != nil):
		return err
	case err != nil:
		f.unlisted = true
	}
	for _, i := range due {
		row, known := listed[i]
		switch {
		case f.unlisted, f.list[i].MinPass > 0, f.Outcomes[i].asked && f.isDue(f.Outcomes[i].View):
			reads.ask = append(reads.ask, i)
		case known && row.WorkflowID != "":
			f.see(i, row, reads)
		case known && f.Outcomes[i].nextRead <= f.rounds:
			reads.missing = append(reads.missing, i)
		default:
			reads.check = append(reads.check, i)
		}
	}
	return f.read(ctx, reads)
}

// isDue reports whether a pass runs, or should have begun since the workflow was asked.
func (f *Follower) isDue(v backend.View) bool {
	next := v.Attempt()
	return v.InPass || !next.NoTry() && next.Left(f.now()) < 0
}

// listAll lists resources, those first that were not listed for longest. The result has
// a record without a workflow ID for each that was listed and not found.
func (f *Follower) listAll(ctx context.Context, due []int) (map[int]backend.Record, error) {
	listed := map[int]backend.Record{}
	if f.unlisted {
		return listed, nil
	}
	begun := f.now()
	defer func() { f.listing = f.now().Sub(begun) }()
	var rest []int
	for _, i := range due {
		// What chose the resources of the wait was a list, too.
		if w := f.list[i]; f.rounds == 1 && w.Running && w.Phase != "" {
			listed[i] = w.Record
		} else if w.MinPass == 0 {
			rest = append(rest, i)
		}
	}
	slices.SortStableFunc(rest, func(i, j int) int { return f.Outcomes[i].listed - f.Outcomes[j].listed })
	for n := 0; len(rest) > 0 && (f.rounds == 1 || n < maxLists); n++ {
		chunk := rest[:min(backend.MaxListed, len(rest))]
		rest = rest[len(chunk):]
		workflowIDs := make([]string, len(chunk))
		for at, i := range chunk {
			workflowIDs[at] = f.list[i].WorkflowID
			listed[i], f.Outcomes[i].listed = backend.Record{}, f.rounds
		}
		records, err := backend.ListByID(ctx, f.reader, workflowIDs)
		if err != nil {
			return nil, err
		}
		for _, r := range records {
			if i, ok := f.positions[r.WorkflowID]; ok {
				listed[i] = r
			}
		}
	}
	return listed, nil
}

// see takes over what a list shows of one resource.
func (f *Follower) see(i int, row backend.Record, reads *reads) {
	o := &f.Outcomes[i]
	o.missed, o.nextRead = 0, 0
	if row.ID.IsZero() {
		row.ID = f.list[i].ID
	}
	same := o.row.WorkflowID != "" && isSame(o.row, row)
	if !same {
		o.tried = o.tried || o.row.WorkflowID != "" && hasEnded(o.row, row)
		o.row, o.asked, f.quiet = row, false, 0
	}
	if next := backend.ListedView(row).Attempt(); !next.NoTry() && f.now().Sub(f.begun) > next.Left(f.now()) {
		o.tried = true
	}
	if same && (o.asked || o.polls > 0) {
		reads.check = append(reads.check, i) // what was read of it is newer, or the same
		if !o.asked && Compare(f.list[i], f.viewOf(row), f.goal).IsSettled() {
			reads.confirm = append(reads.confirm, i)
		}
		return
	}
	v := f.viewOf(row)
	p := Compare(f.list[i], v, f.goal)
	switch {
	case p.IsSettled(), o.View.Deleting && !v.Deleting:
		reads.confirm = append(reads.confirm, i)
	case f.lacksNames(v):
		reads.ask = append(reads.ask, i)
	default:
		reads.check = append(reads.check, i)
		o.Progress, o.asked = p, false
	}
}
