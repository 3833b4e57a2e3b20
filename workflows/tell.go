package workflows

import (
	"slices"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"go.temporal.io/sdk/workflow"
)

// Told is what others last heard of a resource.
type Told struct {
	Ready  bool   `json:"ready,omitempty"`
	Exists bool   `json:"exists,omitempty"`
	State  string `json:"state,omitempty"`
	// Released is set once a deletion holds its owner up no longer.
	Released bool `json:"released,omitempty"`
}

// The states of a change that are no provisioning state.
const (
	toldReady   = "Ready"
	toldAbsent  = "absent"
	toldDeleted = "Deleted"
	toldWritten = "written"
	toldChanged = "changed"
	// toldFree: another one that waited for it found that it need not any more.
	toldFree = "free"
	// toldReleased: ARM lets it go only with its owner, which need not wait for it.
	toldReleased = "left to the deletion of its owner"
)

// tell wakes those who wait for the resource when the pass changed what they
// look at: it is Ready, it was written, it vanished, or its provisioning state is
// another. A pass in sync tells nothing.
func (r *reconciler) tell(ctx workflow.Context, p *pass) {
	before := r.state.Told
	now := Told{Ready: r.state.Condition.Ready, Exists: before.Exists, State: before.State}
	if p.read {
		now.Exists, now.State = p.got.Exists, p.got.State
		r.state.Leaf = p.got.Leaf
	}
	now.Released = r.state.Delete != nil && r.state.Condition.Reason == resource.ReasonWaitingForOwnerDelete
	r.state.Told = now
	if now.Released && !before.Released {
		r.wakeDependents(ctx, activities.WakeDependentsInput{State: toldReleased, Needed: r.state.Desired.Needs(), Once: true})
		return
	}
	var what string
	switch {
	case now.Ready && !before.Ready:
		what = toldReady
	case before.Exists && !now.Exists:
		what = toldAbsent
	case now.State != before.State && now.State != "":
		what = now.State
	case now.State != before.State, now.Exists && !before.Exists && !p.put:
		what = toldChanged
	case p.put:
		what = toldWritten
	}
	if what != "" && !r.state.Leaf {
		r.wakeDependents(ctx, activities.WakeDependentsInput{State: what, Once: r.state.Once})
	}
}

// tellFreed wakes those who wait, as this run did, for resources that are free and
// of which nobody tells: an operation of somebody else's ended. The run itself has
// heard of it.
func (r *reconciler) tellFreed(ctx workflow.Context, freed []resource.ID) {
	r.state.Held = nil
	for _, id := range freed {
		r.state.learn(activities.Change{ID: id, State: toldFree, At: workflow.Now(ctx)})
		r.wakeDependents(ctx, activities.WakeDependentsInput{ID: id, State: toldFree, Once: r.state.Once})
	}
}

// wakeDependents tells of this resource where in names none. It goes on beside the
// loop, which asks quiet before it ends the run.
func (r *reconciler) wakeDependents(ctx workflow.Context, in activities.WakeDependentsInput) {
	in.At = workflow.Now(ctx)
	if in.ID.IsZero() {
		in.ID = r.state.Desired.ID
	}
	var a *activities.Activities
	waking := workflow.ExecuteActivity(wakeOptions(ctx, "wake who waits for "+in.ID.Short()+": "+in.State), a.WakeDependents, in)
	r.waking++
	workflow.Go(ctx, func(ctx workflow.Context) {
		// Who was not told goes on at his next try.
		_ = waking.Get(ctx, nil)
		r.waking--
	})
}

// learn notes that another resource changed; false when it is known.
func (s *State) learn(next activities.Change) bool {
	for i, known := range s.Changes {
		if known.ID.Equal(next.ID) {
			if !next.At.After(known.At) {
				return false
			}
			s.Changes = append(s.Changes[:i:i], s.Changes[i+1:]...)
			break
		}
	}
	s.Changes = append(s.Changes, next)
	if extra := len(s.Changes) - changesKept; extra > 0 {
		s.Changes = append([]activities.Change(nil), s.Changes[extra:]...)
	}
	return true
}

// forget drops the changes that are so old that no worker keeps a reading from
// before them. Their times and now are the server's.
func (s *State) forget(now time.Time) {
	s.Changes = slices.DeleteFunc(slices.Clone(s.Changes), func(c activities.Change) bool { return now.Sub(c.At) > changesMatter })
}

// Bounds of the changes that are remembered: of more, the oldest are dropped.
// Workers keep readings for half a minute.
const (
	changesKept   = 64
	changesMatter = 10 * time.Minute
)
