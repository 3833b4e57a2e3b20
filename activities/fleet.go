package activities

import (
	"context"
	"time"

	"github.com/armature-io/armature/resource"
)

// Managed is what Temporal knows of the workflow of a managed resource, without
// asking the workflow.
type Managed struct {
	ID     resource.ID
	Policy resource.Policy
	Ready  bool
	// Rests is set while its workflow looks at nothing: it is Ready, paused, or
	// Failed.
	Rests bool
	// Deleting is set while the resource is being deleted. Released is set on top
	// when ARM lets it go only with its owner: it holds the owner up no longer.
	Deleting bool
	Released bool
	// Refused is set on top when ARM has no DELETE for it and its owner was not
	// being deleted when that was found. Gone is set when the deletion is done
	// and the run is about to end.
	Refused bool
	Gone    bool
	// RunID is the current run.
	RunID string
}

// Dependents are the managed resources that need another one.
type Dependents struct {
	// Listed are some of them, at most 1,000, those that hold the other one up
	// first.
	Listed []Managed
	// Holding counts those that hold it up: all but those within it that are
	// Released. More says that the count was broken off.
	Holding int
	More    bool
}

// Fleet asks Temporal about managed resources, and asks one of them to go.
type Fleet interface {
	// Dependents lists by visibility, so it may lag behind by some seconds.
	Dependents(ctx context.Context, id resource.ID) (Dependents, error)
	// Managed does not lag behind; false means that nothing manages id.
	Managed(ctx context.Context, id resource.ID) (Managed, bool, error)
	// Delete asks the workflow of id to delete it, with everything in it.
	Delete(ctx context.Context, id resource.ID, by string) error
}

// Change says that a resource changed, and when: the time comes from the
// workflow that saw it, so two changes of one resource have an order whatever
// the clocks of the workers say.
type Change struct {
	ID resource.ID `json:"id"`
	// State is what it is now: Ready, Deleted or a provisioning state.
	State string    `json:"state,omitempty"`
	At    time.Time `json:"at"`
}

// Waker tells those who wait for a resource that it changed.
type Waker interface {
	// Wake signals the workflows that wait for the resource; how many it told.
	Wake(ctx context.Context, change Change) (int, error)
	// WakeDeleting signals the workflows of resources, if they are being deleted.
	WakeDeleting(ctx context.Context, change Change, needed []resource.ID) (int, error)
}

// Turn is the right to change what is below a parent, where ARM refuses two
// changes at a time.
type Turn struct {
	Parent resource.ID `json:"parent"`
	// ID is the resource that wants to change; its run is WorkflowID and RunID.
	ID         resource.ID `json:"id"`
	WorkflowID string      `json:"workflowID"`
	RunID      string      `json:"runID"`
}

// Place is where a turn stands.
type Place struct {
	// Granted says that it is the taker's turn.
	Granted bool `json:"granted"`
	// Holder has the turn meanwhile; Ahead counts who comes before the taker,
	// the holder included.
	Holder resource.ID `json:"holder,omitzero"`
	Ahead  int         `json:"ahead,omitempty"`
}

// Turns keep the turns of each parent, durably and over all workers.
type Turns interface {
	// Take asks for the turn, or for the place in the queue; it may be repeated.
	Take(ctx context.Context, turn Turn) (Place, error)
	// End gives the turn, or the place in the queue, back; it may be repeated.
	End(ctx context.Context, turn Turn) error
}
