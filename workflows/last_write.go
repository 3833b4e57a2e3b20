package workflows

import (
	"time"

	"github.com/armature-io/armature/activities"
	"go.temporal.io/sdk/workflow"
)

// LastWrite is the last PUT and what became of it.
type LastWrite struct {
	// Sent is set once a PUT may have been sent, and stays set.
	Sent bool `json:"sent,omitempty"`
	// Unknown is set while it is unknown whether ARM accepted the last PUT: the next one
	// reads first.
	Unknown bool `json:"unknown,omitempty"`
	// At is when ARM accepted the last PUT, zero if it failed. Replaced are the values that it
	// was to change, as they were before, until a post-check finds that Azure kept them.
	At       time.Time            `json:"at,omitzero"`
	Replaced *activities.Replaced `json:"replaced,omitempty"`
	// Note is the last PUT that ARM accepted, for lists.
	Note WriteNote `json:"note,omitzero"`
	// Accepted is the PUT that ARM accepted and that no post-check has compared yet.
	Accepted *activities.AcceptedPut `json:"accepted,omitempty"`
	// Refusal stops the PUTs of the spec after a verdict with severity Error, until a user
	// requests a pass. It is nil without one.
	Refusal *activities.Refusal `json:"refusal,omitempty"`
	// OperationRefusal is set after a PUT that failed in its operation because of its body.
	OperationRefusal *activities.OperationRefusal `json:"operationRefusal,omitempty"`
}

// The verbs of a WriteNote.
const (
	VerbCreated   = "create"
	VerbRecreated = "recreate"
	VerbUpdated   = "update"
	VerbCorrected = "correct"
)

// WriteNote is a PUT that ARM accepted, in short.
type WriteNote struct {
	At   time.Time `json:"at"`
	Verb string    `json:"verb"`
	// Paths is the number of differences that the PUT was to end, 0 if it created the resource.
	Paths int `json:"paths,omitempty"`
	// By is the user that requested the PUT, "" if the resource had drifted.
	By string `json:"by,omitempty"`
}

// equal compares two notes; a time that continue-as-new carried may have another location.
func (n WriteNote) equal(other WriteNote) bool {
	at := n.At
	n.At = other.At
	return at.Equal(other.At) && n == other
}

// writeNote returns the note of the PUT of a pass.
func (r *reconciler) writeNote(ctx workflow.Context, p *pass) WriteNote {
	verdict, mandate := p.pre.Verdict, r.mandate(p)
	note := WriteNote{At: workflow.Now(ctx), Verb: VerbUpdated, Paths: len(verdict.Differences) + verdict.More}
	switch {
	case verdict.Create && r.state.existed():
		note.Verb = VerbRecreated
	case verdict.Create:
		note.Verb = VerbCreated
	case mandate.Correction:
		note.Verb = VerbCorrected
	}
	switch {
	case mandate.Force:
		note.By = p.request.Force.By
	case !mandate.Unrequested():
		note.By = r.state.AppliedBy
	}
	return note
}

// settle forgets the troubles of the last PUT: the resource is Ready.
func (w *LastWrite) settle() { w.Unknown, w.Refusal, w.OperationRefusal = false, nil, nil }

// replaceBody forgets a PUT of another body.
func (w *LastWrite) replaceBody() {
	w.Accepted, w.At, w.Replaced, w.OperationRefusal = nil, time.Time{}, nil, nil
}

// acceptedFor returns the PUT of a generation that ARM accepted and that no post-check has
// compared yet, nil if there is none.
func (w *LastWrite) acceptedFor(generation int64) *activities.AcceptedPut {
	if w.Accepted == nil || w.Accepted.Generation != generation {
		return nil
	}
	return w.Accepted
}

// lagsAfterWrite is how long after a write a read may still be older than it.
const lagsAfterWrite = 15 * time.Minute

// replaced returns the values from before a recent write, nil if there is none.
func (w *LastWrite) replaced(now time.Time) *activities.Replaced {
	if now.Sub(w.At) >= lagsAfterWrite {
		return nil
	}
	return w.Replaced
}

// endOperation records that the wait for an operation ended: a PUT that failed in its
// operation is not verified by a later pass.
func (w *LastWrite) endOperation(failed bool, now time.Time) {
	switch {
	case failed:
		w.Accepted = nil
	case w.Accepted != nil:
		w.Accepted.At = now
	}
}
