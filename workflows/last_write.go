package workflows

import (
	"time"

	"github.com/armature-io/armature/activities"
)

// LastWrite is the last PUT and what became of it.
type LastWrite struct {
	// Sent is set once a PUT may have been sent, and stays set.
	Sent bool `json:"sent,omitempty"`
	// Unknown is set while it is unknown whether ARM accepted the last PUT: the next one
	// reads first.
	Unknown bool `json:"unknown,omitempty"`
	// At is when ARM accepted the last PUT, zero if it failed; Shown is set once a read has
	// shown the resource since.
	At    time.Time `json:"at,omitzero"`
	Shown bool      `json:"shown,omitempty"`
	// Accepted is the PUT that ARM accepted and that no post-check has compared yet.
	Accepted *activities.AcceptedPut `json:"accepted,omitempty"`
	// Refusal stops the PUTs of the spec after a verdict with severity Error, until a user
	// requests a pass. It is nil without one.
	Refusal *activities.Refusal `json:"refusal,omitempty"`
	// OperationRefusal is set after a PUT that failed in its operation because of its body.
	OperationRefusal *activities.OperationRefusal `json:"operationRefusal,omitempty"`
}

// settle forgets the troubles of the last PUT: the resource is Ready.
func (w *LastWrite) settle() { w.Unknown, w.Refusal, w.OperationRefusal = false, nil, nil }

// replaceBody forgets a PUT of another body.
func (w *LastWrite) replaceBody() { w.Accepted, w.At, w.OperationRefusal = nil, time.Time{}, nil }

// acceptedFor returns the PUT of a generation that ARM accepted and that no post-check has
// compared yet, nil if there is none.
func (w *LastWrite) acceptedFor(generation int64) *activities.AcceptedPut {
	if w.Accepted == nil || w.Accepted.Generation != generation {
		return nil
	}
	return w.Accepted
}

// acceptedAt returns when ARM accepted the last PUT if a read has, or has not, shown the
// resource since; else zero.
func (w *LastWrite) acceptedAt(shown bool) time.Time {
	if w.Shown != shown {
		return time.Time{}
	}
	return w.At
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
