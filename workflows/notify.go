package workflows

import (
	"slices"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"go.temporal.io/sdk/workflow"
)

// Announced is the state of a resource that was last sent to its dependents.
type Announced struct {
	Ready  bool   `json:"ready,omitempty"`
	Exists bool   `json:"exists,omitempty"`
	State  string `json:"state,omitempty"`
	// Released is set once a deletion no longer delays its owner.
	Released bool `json:"released,omitempty"`
}

// The states of a change that are not provisioning states. Messages quote them after
// "is".
const (
	stateReady   = "Ready"
	stateAbsent  = "absent"
	stateDeleted = "Deleted"
	stateWritten = "written"
	stateChanged = "changed"
	// stateFree: another resource that waited for this one found it free.
	stateFree = "free"
	// stateReplaced: it was deleted and is created again, and its contents fell with it.
	stateReplaced = "deleted to be created again"
	// stateKept: its deletion was taken back.
	stateKept = "no longer being deleted"
	// stateForgotten: its workflow ended and left it in Azure.
	stateForgotten = "not managed"
	// stateReleased: ARM deletes the resource only with its owner, which need not wait.
	stateReleased = "left to the deletion of its owner"
)

// announce notifies dependents when the pass changed what they read: the resource is
// Ready, it was written, it disappeared, or its provisioning state changed. A pass in
// sync announces nothing.
func (r *reconciler) announce(ctx workflow.Context, p *pass) {
	before := r.state.Announced
	now := Announced{Ready: r.state.Condition.Ready, Exists: before.Exists, State: before.State}
	if p.hasRead() {
		now.Exists, now.State = p.got.Exists, p.got.State
		r.state.Known.Leaf = p.got.Leaf
	}
	now.Released = r.state.Deletion != nil && r.state.Condition.Reason == resource.ReasonWaitingForOwnerDelete
	r.state.Announced = now
	if now.Released && !before.Released {
		r.notifyDependents(ctx, activities.WakeDependentsInput{State: stateReleased, Needed: r.state.Desired.Needs(), Once: true})
		return
	}
	if state := changedState(before, now, p.put.Sent); state != "" && !r.state.Known.Leaf {
		in := activities.WakeDependentsInput{State: state, Once: r.state.Once}
		if !p.polled.Unawaited || !r.notifyLater(ctx, in) {
			r.notifyDependents(ctx, in)
		}
	}
}

// notifyLater lets the worker notify the resources that began to wait for this one since a
// list showed none. It returns false where that failed.
func (r *reconciler) notifyLater(ctx workflow.Context, in activities.WakeDependentsInput) bool {
	var a *activities.Activities
	in.ID, in.At = r.state.Desired.ID, workflow.Now(ctx)
	_, err := executeLocal(checkOptions(ctx, "nothing waits for "+in.ID.Short()+": "+in.State), a.WakeLater, in)
	return err == nil
}

// changedState returns the state to announce, or "" when dependents see no change.
func changedState(before, now Announced, put bool) string {
	switch {
	case now.Ready && !before.Ready:
		return stateReady
	case before.Exists && !now.Exists:
		return stateAbsent
	case now.State != before.State && now.State != "":
		return now.State
	case now.State != before.State, now.Exists && !before.Exists && !put:
		return stateChanged
	case put:
		return stateWritten
	}
	return ""
}

// announceFreed wakes the resources that wait, as this one did, for resources that are
// free now and that no workflow announces: an operation of another tool ended. This run
// knows the change already.
func (r *reconciler) announceFreed(ctx workflow.Context, freed []resource.ID) {
	r.state.Wait.BlockedBy = nil
	for _, id := range freed {
		r.state.noteChange(activities.Change{ID: id, State: stateFree, At: workflow.Now(ctx)})
		r.notifyDependents(ctx, activities.WakeDependentsInput{ID: id, State: stateFree, Once: r.state.Once})
	}
}

// notifyDependents wakes the resources that wait for in.ID, by default this resource. It
// runs beside the loop, which waits for it before the run ends.
func (r *reconciler) notifyDependents(ctx workflow.Context, in activities.WakeDependentsInput) {
	in.At = workflow.Now(ctx)
	if in.ID.IsZero() {
		in.ID = r.state.Desired.ID
	}
	r.startNotification(ctx, in)
}

func (r *reconciler) startNotification(ctx workflow.Context, in activities.WakeDependentsInput) {
	var a *activities.Activities
	waking := workflow.ExecuteActivity(wakeOptions(ctx, "notify dependents of "+in.ID.Short()+": "+in.State), a.WakeDependents, in)
	r.notifications = append(r.notifications, &in)
	workflow.Go(ctx, func(ctx workflow.Context) {
		// A resource that was not notified continues at its own next try.
		_ = waking.Get(ctx, nil)
		r.notifications = slices.DeleteFunc(r.notifications, func(other *activities.WakeDependentsInput) bool { return other == &in })
	})
}

// resumeNotifications starts those that the run before had not ended.
func (r *reconciler) resumeNotifications(ctx workflow.Context) {
	started := r.state.Notifications
	r.state.Notifications = nil
	for _, in := range started {
		r.startNotification(ctx, in)
	}
}

// maxNotifications bounds the notifications that a run leaves to the next one: each resource
// that is not notified continues at its own next try.
const maxNotifications = 100

// unendedNotifications returns those that the next run starts again, with the time of the
// change that they announce.
func (r *reconciler) unendedNotifications() []activities.WakeDependentsInput {
	var left []activities.WakeDependentsInput
	for _, in := range r.notifications[:min(maxNotifications, len(r.notifications))] {
		left = append(left, *in)
	}
	return left
}
