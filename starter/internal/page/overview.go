package page

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/starter/internal/screen"
	"github.com/armature-io/armature/starter/internal/why"
	"github.com/armature-io/armature/workflows"
)

// Bounds of the overview. The rest is counted and linked.
const (
	maxCauses  = 24
	maxHeld    = 6
	maxGroups  = 16
	maxWorkers = 8
)

// errNotYet is the state before the first lists were read.
var errNotYet = errors.New("the first lists are still being read")

// Overview is the first page.
type Overview struct {
	Frame
	// Headline and Lead say in two sentences how the estate is.
	Headline, Lead string
	Total, Ready   int
	Phases         []Count
	// By is the label whose values are the rows of Groups; Keys are the other labels.
	By      string
	Keys    []Link
	Columns []State
	Groups  []Group
	// MoreGroups counts the values that are not shown.
	MoreGroups int
	Freezes    []Freeze
	// FreezesInterrupted: nothing keeps the freezes up to date, and they last all the same.
	FreezesInterrupted bool
	// Acts are the causes that a person ends, Waits those that time ends.
	Acts, Waits []Cause
	MoreCauses  int
	Workers     []Worker
	MoreWorkers int
	Changes     Changes
	// Filter restricts everything but freezes and workers; Reset is the address without it, ""
	// if there is none.
	Filter Filter
	Reset  string
}

// Link is a text with an address.
type Link struct{ Text, Href string }

// Count is a number of resources in a state.
type Count struct {
	State
	N    int
	Href string
}

// Group are the resources with one value of a label.
type Group struct {
	Name, Href string
	Total      int
	// Counts are in the order of Overview.Columns; their Href is "" for none.
	Counts []Count
}

// Freeze is a freeze in force.
type Freeze struct {
	Scope, By, Reason string
	Since             time.Time
	// Lift is the command that lifts it.
	Lift string
}

// Cause is a root cause: who has to act, since when, and what it holds up.
type Cause struct {
	Who     string
	Subject Ref
	// Many are the number of resources that are the same cause, 1 unless they are alike.
	Many    int
	Since   time.Time
	Reason  string
	Message string
	Advice  []Segment
	// Holds is the number of resources that wait for it, Held the first of them.
	Holds int
	Held  []Ref
	More  int
	Graph string
}

// Worker is a process that polls the task queue.
type Worker struct{ Identity, Version string }

// overview serves the first page.
func (s *Server) overview(w http.ResponseWriter, r *http.Request) {
	state := s.estate.look(r.Context())
	query := r.URL.Query()
	request := overviewRequest{filter: filterOf(query), by: query.Get("by"), since: query.Get("since"), now: s.options.Now()}
	if request.since != "" {
		var err error
		if request.from, err = parseSince(request.since, request.now); err != nil {
			s.notFound(w, r, "The address has no time since which to show changes: since "+err.Error()+".")
			return
		}
		request.ended, request.endedErr = s.estate.endedSince(r.Context(), state, request.since, request.from)
	}
	page, err := newOverview(r.Context(), state, request)
	if err != nil {
		s.failed(w, r, err)
		return
	}
	page.Frame = s.frame(r, state, "Overview")
	s.render(w, r, pageOverview, page)
}

// overviewRequest is what the address of an overview says.
type overviewRequest struct {
	filter Filter
	// by is the label of the groups, "" for the most common.
	by string
	// since is the begin of the changes as the address has it, "" for the last ones; from is
	// its time.
	since string
	from  time.Time
	// ended are the resources whose workflows ended since, endedErr is why they are not known.
	ended    []backend.Record
	endedErr error
	now      time.Time
}

// chooses reports whether a view is in the part of the estate that the address names.
func (r overviewRequest) chooses(v backend.View) bool {
	return r.filter.IsEmpty() || r.filter.matches(v, string(v.CurrentCondition(r.now).Reason))
}

// href returns the address of the overview with another label of the groups and another begin
// of the changes.
func (r overviewRequest) href(by, since string) string {
	return address("/", r.filter.pairs("by", by, "since", since)...)
}

func newOverview(ctx context.Context, state *snapshot, request overviewRequest) (Overview, error) {
	request.filter.Of = ""
	views := slices.DeleteFunc(backend.ListedViews(state.records), func(v backend.View) bool { return !request.chooses(v) })
	page := Overview{Total: len(views), FreezesInterrupted: state.freezesInterrupted, Filter: request.filter}
	if !request.filter.IsEmpty() {
		page.Reset = overviewRequest{}.href(request.by, request.since)
	}
	page.count(views, request.filter)
	page.group(views, request)
	for _, f := range state.freezes {
		page.Freezes = append(page.Freezes, Freeze{
			Scope: screen.FreezeScope(f), By: cli.OneLine(f.By), Reason: cli.OneLine(f.Reason), Since: f.Since,
			Lift: "armature unfreeze" + cli.SelectorFlag(f.Selector),
		})
	}
	if err := page.addCauses(ctx, state, views, request.now); err != nil {
		return Overview{}, err
	}
	for _, p := range state.workers {
		if len(page.Workers) == maxWorkers {
			page.MoreWorkers = len(state.workers) - maxWorkers
			break
		}
		page.Workers = append(page.Workers, Worker{Identity: cli.OneLine(p.Identity), Version: cli.OneLine(p.BuildID)})
	}
	page.Changes = newChanges(views, request)
	page.summarize()
	return page, nil
}

// summarize writes the headline.
func (p *Overview) summarize() {
	p.Lead = fmt.Sprintf("%d of %s Ready.", p.Ready, cli.CountAre(p.Total, "resource"))
	switch waiting := p.Total - p.Ready; {
	case p.Total == 0 && p.Reset != "":
		p.Headline, p.Lead = "Nothing matches", ""
	case p.Total == 0:
		p.Headline, p.Lead = "No resources are managed", ""
	case len(p.Acts) > 0:
		p.Headline = cli.CountOf(len(p.Acts), "cause needs a person", "causes need a person")
	case waiting > 0:
		p.Headline = "Nothing needs a person"
		p.Lead = cli.CountOf(waiting, "resource waits", "resources wait") + " and will go on alone; " + p.Lead
	default:
		p.Headline, p.Lead = "Everything is Ready", cli.CountAre(p.Total, "resource")+" managed, and nothing is blocked."
	}
}

// count counts the phases, in the order in which people look at them.
func (p *Overview) count(views []backend.View, filter Filter) {
	counts := map[string]int{}
	for _, v := range views {
		counts[v.PhaseName()]++
	}
	p.Ready = counts[string(workflows.PhaseReady)]
	for _, name := range phaseOrder() {
		if n := counts[name]; n > 0 {
			filter.Phase = name
			p.Phases = append(p.Phases, Count{State: newState(name), N: n, Href: filter.href()})
			p.Columns = append(p.Columns, newState(name))
		}
	}
}

// phaseOrder returns the names of the phases: those that need a person first.
func phaseOrder() []string {
	return []string{
		backend.PhaseStuck, backend.PhaseUnreadable, string(workflows.PhaseFailed), string(workflows.PhaseBlocked), string(workflows.PhaseNotReady),
		string(workflows.PhaseOperating), string(workflows.PhaseDeleting), string(workflows.PhasePending), string(workflows.PhasePaused), string(workflows.PhaseReady),
	}
}

// group counts the phases for each value of a label: the given one, else the one that most
// resources have.
func (p *Overview) group(views []backend.View, request overviewRequest) {
	by := request.by
	have := map[string]int{}
	for _, v := range views {
		for _, label := range v.Record.Labels {
			key, _, _ := strings.Cut(label, "=")
			have[key]++
		}
	}
	keys := slices.Sorted(maps.Keys(have))
	slices.SortStableFunc(keys, func(a, b string) int { return cmp.Compare(have[b], have[a]) })
	if by == "" && len(keys) > 0 {
		by = keys[0]
	}
	if have[by] == 0 {
		return
	}
	p.By = by
	for _, key := range keys {
		if key != by {
			p.Keys = append(p.Keys, Link{Text: key, Href: request.href(key, request.since)})
		}
	}
	groups := map[string]map[string]int{}
	for _, v := range views {
		value := ""
		for _, label := range v.Record.Labels {
			if key, of, _ := strings.Cut(label, "="); key == by {
				value = of
			}
		}
		if groups[value] == nil {
			groups[value] = map[string]int{}
		}
		groups[value][v.PhaseName()]++
	}
	for _, value := range slices.Sorted(maps.Keys(groups)) {
		if len(p.Groups) == maxGroups {
			p.MoreGroups = len(groups) - maxGroups
			break
		}
		label := by + "=" + value
		g := Group{Name: cmp.Or(value, "without "+by)}
		if value != "" {
			g.Href = request.filter.with(label).href()
		}
		for _, column := range p.Columns {
			n := groups[value][column.Text]
			c := Count{State: column, N: n}
			if n > 0 && value != "" {
				below := request.filter.with(label)
				below.Phase = column.Text
				c.Href = below.href()
			}
			g.Counts, g.Total = append(g.Counts, c), g.Total+n
		}
		p.Groups = append(p.Groups, g)
	}
}

// engine returns the engine of `why` on a reader, with the freezes of the snapshot.
func (s *snapshot) engine(reader backend.Reader, now time.Time) *why.Engine {
	return why.New(why.Sources{
		Reader:  reader,
		Freezes: func(context.Context) ([]workflows.Freeze, error) { return s.freezes, nil },
	}, s.taskQueue, now)
}

// addCauses adds the root causes: first those that a person ends, then by the number of
// resources that each holds up, the oldest first.
func (p *Overview) addCauses(ctx context.Context, state *snapshot, views []backend.View, now time.Time) error {
	chosen := map[string]bool{}
	for _, v := range views {
		chosen[v.Record.WorkflowID] = true
	}
	isChosen := func(id resource.ID) bool { return chosen[id.WorkflowID()] }

	report, err := state.engine(state, now).Causes(ctx, backend.Selection{})
	if err != nil {
		return err
	}
	for _, found := range report.Causes {
		// A cause counts if it holds up a resource of the filter, or is one.
		if len(views) < len(state.records) && !slices.ContainsFunc(found.Resources, isChosen) && (found.Link == nil || !isChosen(found.Link.ID)) {
			continue
		}
		c := newCause(state, found)
		if found.Link != nil && found.Link.Actor().Waits {
			p.Waits = append(p.Waits, c)
		} else {
			p.Acts = append(p.Acts, c)
		}
	}
	for _, list := range []*[]Cause{&p.Acts, &p.Waits} {
		slices.SortStableFunc(*list, func(a, b Cause) int {
			return cmp.Or(cmp.Compare(b.Holds, a.Holds), cmp.Compare(b.Many, a.Many), a.Since.Compare(b.Since))
		})
		if more := len(*list) - maxCauses; more > 0 {
			p.MoreCauses += more
			*list = (*list)[:maxCauses]
		}
	}
	return nil
}

// newCause returns the model of a root cause.
func newCause(state *snapshot, found *why.Cause) Cause {
	c := Cause{Many: 1}
	if found.Waiting {
		c.Holds = found.Count
	} else {
		c.Many = found.Count
	}
	l := found.Link
	switch {
	case l == nil:
		c.Who, c.Advice = "the owner of the manifests", segments(found.Text)
		c.Subject = Ref{Name: "something that is not managed"}
	case len(l.Cycle) > 0:
		c.Who, c.Advice = l.Actor().Who, segments(found.Text)
		c.Subject = Ref{Name: strings.Join(l.Cycle, ", "), Kind: "a cycle:"}
	default:
		c.Who, c.Advice = whoActs(l), advice(l)
		c.Subject = refOf(l.ID, l.State)
		c.Since, c.Reason, c.Message = l.Since, string(l.Reason), cmp.Or(l.Message, l.WaiterMessage)
		if c.Since.IsZero() {
			c.Since = state.byID[l.ID.WorkflowID()].Since
		}
		if c.Reason == l.State {
			c.Reason = ""
		}
		c.Graph = address("/graph", "of", l.ID.String())
	}
	for _, id := range found.Resources {
		if !found.Waiting && l != nil && id.Equal(l.ID) || id.IsZero() {
			continue
		}
		if len(c.Held) == maxHeld {
			c.More++
			continue
		}
		c.Held = append(c.Held, refOf(id, state.phaseOf(id.WorkflowID())))
	}
	return c
}

// whoActs returns who has to act on a root cause, as a label.
func whoActs(l *why.Link) string {
	actor := l.Actor()
	if actor.Waits {
		return "no one has to act"
	}
	return actor.Who
}

// advice returns what to do, nil for nothing.
func advice(l *why.Link) []Segment {
	if l.Advice == why.NoAction {
		return nil
	}
	return segments(l.Advice)
}

// phaseOf returns the phase of a managed resource, "" for any other.
func (s *snapshot) phaseOf(workflowID string) string {
	if r, known := s.byID[workflowID]; known {
		return backend.ListedView(r).PhaseName()
	}
	return ""
}
