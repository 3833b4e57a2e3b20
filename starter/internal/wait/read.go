package wait

import (
	"context"
	"slices"

	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
)

// reads are the resources that a round reads one by one, in the order of their urgency.
type reads struct {
	// confirm may have reached the goal, or may never reach it.
	confirm []int
	// missing are not in the list: they ended, or are too new for it.
	missing []int
	// ask have something to show that only their workflows have.
	ask []int
	// check are all others, of which a few are described.
	check []int
}

// read reads resources one by one, those first that were read the fewest times.
func (f *Follower) read(ctx context.Context, r *reads) error {
	leastRead := func(list []int) {
		slices.SortStableFunc(list, func(i, j int) int { return f.Outcomes[i].polls - f.Outcomes[j].polls })
	}
	var due []int
	asks := map[int]bool{}
	for _, i := range r.ask {
		asks[i] = true
	}
	for _, list := range [][]int{r.confirm, r.missing, r.ask} {
		leastRead(list)
		due = append(due, list...)
	}
	if f.rounds > 1 {
		due = due[:min(MaxPolled, len(due))]
	}
	if f.rounds%checkRounds == 0 {
		leastRead(r.check)
		for _, i := range r.check[:min(maxChecked, len(r.check))] {
			if asks[i] = f.Outcomes[i].asked; !slices.Contains(due, i) {
				due = append(due, i)
			}
		}
	}
	return backend.ForEach(ctx, len(due), backend.MaxParallel, func(ctx context.Context, at int) error {
		i := due[at]
		if asks[i] {
			return f.ask(ctx, i)
		}
		return f.describe(ctx, i)
	})
}

// describe reads the record of one resource, and asks its workflow only where the record
// does not prove whether the resource is settled.
func (f *Follower) describe(ctx context.Context, i int) error {
	o := &f.Outcomes[i]
	v, err := f.viewer.Described(ctx, f.list[i].Record)
	if err != nil {
		return err
	}
	o.polls++
	if r := v.Record; !v.Unmanaged {
		v = f.viewOf(r)
		if o.row.WorkflowID == "" {
			o.missed++
			o.nextRead = f.rounds + 1<<min(o.missed, 4) // too new for the list
		}
	}
	p := Compare(f.list[i], v, f.goal)
	if !v.Unmanaged && (p.Blocker != "" || p.Done && v.Record.Busy || o.View.Deleting && !v.Deleting) {
		return f.ask(ctx, i)
	}
	o.Progress, o.asked = p, false
	return nil
}

// ask asks the workflow of one resource, if anything happened since the last time.
func (f *Follower) ask(ctx context.Context, i int) error {
	o := &f.Outcomes[i]
	before := o.View
	known := backend.View{Stale: true}
	if o.asked {
		known = before
	}
	v, err := f.viewer.RefreshFrom(ctx, f.list[i].Record, known)
	if err != nil {
		return err
	}
	o.polls++
	if o.asked = !v.Stale || v.Unmanaged; !o.asked && v.Record.Obstacle() == "" && v.Record.Summary != nil {
		v = f.viewOf(v.Record) // no worker responds
	}
	if o.asked && !o.known {
		o.firstPass, o.known = v.Pass, true
	}
	o.Progress = Compare(f.list[i], v, f.goal)
	if f.goal == Deleted && before.Deleting && !v.Deleting && !v.Unmanaged && !v.Stale {
		o.Blocker = "its deletion was taken back"
	}
	return nil
}

// IsHopeless sets who has to act if no time helps what is not done, and reports whether
// that is so. Lists show too little to be sure: at the end the workflows are asked, at most
// MaxPolled in a round.
func (f *Follower) IsHopeless(ctx context.Context) (bool, error) {
	for {
		blockers, stuck := f.blockers(ctx)
		if !stuck {
			return false, nil
		}
		var unsure []int
		for i, o := range f.Outcomes {
			if !o.IsSettled() && !o.asked {
				unsure = append(unsure, i)
			}
		}
		if len(unsure) == 0 {
			for i, blocker := range blockers {
				f.Outcomes[i].Blocker = blocker
			}
			return true, nil
		}
		if f.judged == f.rounds {
			return false, nil // they were asked in this round, and do not answer
		}
		f.judged = f.rounds
		more := len(unsure) > MaxPolled
		unsure = unsure[:min(MaxPolled, len(unsure))]
		err := backend.ForEach(ctx, len(unsure), backend.MaxParallel, func(ctx context.Context, at int) error { return f.ask(ctx, unsure[at]) })
		switch {
		case cli.ExitCode(err) == cli.ExitUnreachable:
			return false, nil
		case err != nil || more || f.isUnanswered(unsure):
			return false, err
		}
	}
}

// isUnanswered reports whether a workflow that was asked did not answer.
func (f *Follower) isUnanswered(asked []int) bool {
	return slices.ContainsFunc(asked, func(i int) bool { return !f.Outcomes[i].asked && !f.Outcomes[i].IsSettled() })
}

func (f *Follower) blockers(ctx context.Context) ([]string, bool) {
	all := make([]awaitedResource, len(f.Outcomes))
	for i, o := range f.Outcomes {
		all[i] = o.awaited(f.list[i])
	}
	return newBlockerSearch(f.reader, all, f.goal == Deleted, f.now()).Blockers(ctx)
}
