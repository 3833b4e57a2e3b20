package activities

import (
	"context"
	"time"

	"github.com/armature-io/armature/resource"
)

// Managed is what Temporal shows of the workflow of a managed resource without a
// query to the workflow.
type Managed struct {
	ID     resource.ID
	Policy resource.Policy
	Ready  bool
	// Reason is that of the Ready condition, Since when it last became what it is. Labels and
	// Generation are those of the manifest. Only Fleet.Managed sets Since, Labels and
	// Generation.
	Reason     resource.Reason
	Since      time.Time
	Labels     map[string]string
	Generation int64
	// Idle is set while its workflow runs no passes soon: it is Ready, paused, or
	// Failed.
	Idle bool
	// Operating is set while its workflow waits for the operation of a PUT.
	Operating bool
	// Deleting is set while the resource is being deleted. Released is set on top
	// when ARM deletes it only with its owner: it does not block the owner.
	Deleting bool
	Released bool
	// Refused is set on top when ARM has no DELETE for it and its owner was not being
	// deleted when it tried. Gone is set when the deletion is done and the run is
	// about to end.
	Refused bool
	Gone    bool
	// HoldsData is set on top of Deleting when its deletion waits for the consent to
	// delete its data.
	HoldsData bool
	// Stopped is set on top of Deleting when Azure refused the DELETE or another resource has
	// taken its ID, with the Message of the condition. Only Fleet.Managed sets it.
	Stopped bool
	Message string
	// Unreadable is why the memo of its workflow cannot be read, nil if it can. The ID is then
	// that of the workflow, and the policy is protect, because the real one is not known.
	Unreadable error
	// RunID is the current run.
	RunID string
	// Sleeping is set while the run has no task and no activity but a notification of
	// others: no pass is running. Only Fleet.Managed sets it.
	Sleeping bool
}

// Dependents are the managed resources that need another one.
type Dependents struct {
	// Listed are some of them, at most 1,000, the blocking ones first.
	Listed []Managed
	// Blocking counts those that block the other one: all but those in it that are
	// Released. More is set when the count was cut off.
	Blocking int
	More     bool
}

// Fleet looks up managed resources in Temporal, deletes one of them, and takes that back.
type Fleet interface {
	// Dependents lists by visibility, which may lag behind by some seconds.
	Dependents(ctx context.Context, id resource.ID) (Dependents, error)
	// Managed does not lag behind. It returns false where nothing manages id.
	Managed(ctx context.Context, id resource.ID) (Managed, bool, error)
	// Delete requests the deletion of id, with everything in it, from its workflow.
	Delete(ctx context.Context, id resource.ID, cascade Cascade) error
	// Abort takes back the deletions that a cascade requested.
	Abort(ctx context.Context, cascade Cascade) (Aborted, error)
	// Release continues the deletion of id that the DeleteStack with the ID stack accompanies: a
	// held one begins, and one that waits is tried again now. A deletion that was taken back
	// stays so.
	Release(ctx context.Context, id resource.ID, stack, by string) error
	// Apply applies a spec. It starts a workflow if none manages the resource.
	Apply(ctx context.Context, desired resource.Desired, by string) error
}

// Cascade is the deletion of an owner that requests the deletions of its dependents.
type Cascade struct {
	Owner resource.ID
	// Resources are those whose deletions are taken back if the DeleteStack with the ID Stack
	// accompanies them; empty for all in Owner.
	Resources []resource.ID
	Stack     string
	// By is the user that requested it, or takes it back.
	By string
	// WithData is set when the user included data that ARM does not list.
	WithData bool
	// StatedAt is when a user requested it.
	StatedAt time.Time
	// Order is the signed request of the user, nil for one that is not signed.
	Order *resource.DeletionOrder
}

// Aborted is the result of taking a cascade back.
type Aborted struct {
	// Count is the number of deletions that were taken back.
	Count int
	// Sent are the resources for which a DELETE may have been sent already.
	Sent []resource.ID
	// Running are those whose DELETE did not end while the fleet waited for it.
	Running []resource.ID
}

// Change is the fact that a resource changed. Its time comes from the workflow
// that noticed it, so two changes of one resource have an order whatever the clocks
// of the workers show.
type Change struct {
	ID resource.ID `json:"id"`
	// State is the current state: Ready, Deleted or a provisioning state.
	State string    `json:"state,omitempty"`
	At    time.Time `json:"at"`
	// Trace is the W3C traceparent of the activity that sends the change, "" without traces.
	Trace string `json:"trace,omitempty"`
}

// Waker notifies the resources that wait for another one.
type Waker interface {
	// Wake signals the workflows that wait for the resource, and returns their
	// number.
	Wake(ctx context.Context, change Change) (int, error)
	// WakeDeleting signals the workflows of those resources that are being deleted,
	// and returns their number.
	WakeDeleting(ctx context.Context, change Change, needed []resource.ID) (int, error)
	// WakeFallen signals the workflows of resources that fell with a replaced one, approves that
	// they are created again, and returns their number.
	WakeFallen(ctx context.Context, change Change, fallen []resource.ID) (int, error)
	// Awaited reports whether a workflow waits for the resource. It may lag behind by some
	// seconds.
	Awaited(ctx context.Context, id resource.ID) (bool, error)
}

// Turn is the permission to change one child of a parent, where ARM refuses two
// changes at a time.
type Turn struct {
	Parent resource.ID `json:"parent"`
	// ID is the resource to change; its run is WorkflowID and RunID.
	ID         resource.ID `json:"id"`
	WorkflowID string      `json:"workflowID"`
	RunID      string      `json:"runID"`
}

// Position is the position of a turn in the queue of its parent.
type Position struct {
	// Granted is set when the resource has the turn.
	Granted bool `json:"granted"`
	// Holder is the resource that has the turn instead. Ahead counts the turns before
	// this one, including the holder's.
	Holder resource.ID `json:"holder,omitzero"`
	Ahead  int         `json:"ahead,omitempty"`
}

// Turns keep the queue of each parent, durably and for all workers.
type Turns interface {
	// Take requests the turn, or the position in the queue; it may be repeated.
	Take(ctx context.Context, turn Turn) (Position, error)
}
