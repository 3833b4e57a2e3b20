package workflows

import (
	"strings"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/internal/tracing"
	"github.com/armature-io/armature/resource"
	"go.temporal.io/sdk/workflow"
)

// userRequest is the request of a user for one pass, zero if only changes of other resources
// request it. A proof of the sender belongs here too.
type userRequest struct {
	// At is when a user last requested the pass.
	At time.Time `json:"at,omitzero"`
	// Force is a forced reconcile, nil for none.
	Force *ReconcileInput `json:"force,omitempty"`
}

// forced reports whether the user asked to skip the guards.
func (u userRequest) forced() bool { return u.Force != nil }

// Requests are the messages that request the next pass, and what users approved in them.
type Requests struct {
	// Pass is set when a message requests a pass.
	Pass bool `json:"pass,omitempty"`
	userRequest
	// Approved are the effects that users approved: a recreation until a read shows the
	// resource and that nothing deletes it, a replacement until its DELETE is sent or the pass with that read ends, the
	// removal of settings of other tools until the PUT was sent or none is due.
	Approved activities.Approvals `json:"approved,omitzero"`
	// Order is the signed approval of a recreation, nil for one that is not signed.
	Order *resource.DeletionOrder `json:"order,omitempty"`
	// Falling are the managed resources that fall with the replaced one, until its absence is
	// known and they are woken. They are created again with the same approval.
	Falling []resource.ID `json:"falling,omitempty"`
	// HeldDrops is set while a correction waits because it would remove settings of other
	// tools. The next request of a user approves it.
	HeldDrops bool `json:"heldDrops,omitempty"`
}

// approveDrops approves the removals that the last pass named, and reports whether there
// are any.
func (r *Requests) approveDrops() bool {
	r.Approved.Drops = r.Approved.Drops || r.HeldDrops
	return r.HeldDrops
}

// approveRecreation approves the creation of a resource that disappeared. An earlier PUT is not
// waited for any more: only the one that follows makes an absence a lag of reads again.
func (s *State) approveRecreation() {
	s.Requests.Approved.Recreation, s.Write.At = true, time.Time{}
}

// noteExisting ends the approvals that a read of the resource uses up. One that is being deleted, in
// the state that its provider names, is created again: its DELETE may be that of a replacement
// whose response was lost. No second DELETE is approved.
func (r *Requests) noteExisting(state string) {
	if isDeleting(state) {
		r.Approved.Replacement = false
		return
	}
	r.Approved.Recreation, r.Falling = false, nil
}

func isDeleting(state string) bool { return strings.EqualFold(state, "Deleting") }

// take returns the request for the pass that begins. An approval to replace the resource ends
// with the one to recreate it, which a read of the resource uses up.
func (r *Requests) take() userRequest {
	taken := r.userRequest
	r.userRequest, r.Approved.Replacement = userRequest{}, r.Approved.Replacement && r.Approved.Recreation
	return taken
}

// requestPass records a message that requests a pass. Several messages share one pass.
func (r *reconciler) requestPass(ctx workflow.Context, name, text string) {
	r.state.Requests.Pass = true
	if name != WakeSignal && name != ReportSignal {
		r.state.Requests.At = workflow.Now(ctx)
		r.state.noteRequest(name, tracing.Requested(ctx))
	}
	r.cause = name
	r.recordMessage(ctx, name, text)
}

// recordMessage logs a message and ends the wait.
func (r *reconciler) recordMessage(ctx workflow.Context, name, text string) {
	r.messages++
	r.state.addDecision(Decision{At: workflow.Now(ctx), Pass: r.state.Pass, Step: name, Message: text})
}
