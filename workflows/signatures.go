package workflows

import (
	"bytes"
	"encoding/json"

	"github.com/armature-io/armature/activities/writing"
	"github.com/armature-io/armature/resource"
)

// equalSpecs reports whether two specs are equal in histories, where map keys are
// sorted. Their signatures may differ: each apply has a new one.
func equalSpecs(a, b resource.Desired) bool {
	a.Signature, b.Signature = nil, nil
	left, errLeft := json.Marshal(a)
	right, errRight := json.Marshal(b)
	return errLeft == nil && errRight == nil && bytes.Equal(left, right)
}

// validateSignature refuses a spec that was signed before the one in force. The workflow
// has no keys: a worker verifies the signature before each write.
func (r *reconciler) validateSignature(next resource.Desired) error {
	known := r.state.Desired
	if known == nil || known.Signature == nil || next.Signature == nil || !next.Signature.At.Before(known.Signature.At) {
		return nil
	}
	return refused(RefusedInvalid, "the spec of %s was signed at %s, and one that was signed at %s is in force: sign it again, and compare the clocks of the signers",
		next.ID.Short(), next.Signature.At.Format(timeFormat), known.Signature.At.Format(timeFormat))
}

// timeFormat shows the fractions of seconds, by which signatures of one pipeline differ.
const timeFormat = "2006-01-02T15:04:05.000Z07:00"

// renewSignature takes the signature of a repeated apply, and reports whether a pass should
// follow because the last one ended for want of it.
func (r *reconciler) renewSignature(next resource.Desired) bool {
	if next.Signature == nil {
		return false
	}
	renewed := *r.state.Desired // what is derived from a spec is kept by its address
	renewed.Signature = next.Signature
	r.state.Desired = &renewed
	switch r.state.Condition.Reason {
	case resource.ReasonSignatureMissing, resource.ReasonSignatureInvalid, resource.ReasonSignatureOutdated:
		return true
	}
	return false
}

// order returns the signed request of the deletion, nil for none.
func (r *reconciler) order() *resource.DeletionOrder {
	if r.state.Deletion == nil {
		return nil
	}
	return r.state.Deletion.Order
}

// signedDeletion returns the request on which a DELETE of the pass rests.
func (r *reconciler) signedDeletion(p *pass) writing.SignedDeletion {
	return writing.SignedDeletion{SpecVersion: p.specVersion, Order: r.order()}
}

// joinedOrder returns the signed request that counts after a repeated request: the one
// that a user signed last, but one with a cascade as long as the deletion has it.
func joinedOrder(next, earlier DeleteInput) *resource.DeletionOrder {
	switch {
	case next.Order == nil,
		earlier.Order != nil && !next.From.IsZero(),
		earlier.Order != nil && earlier.Order.Cascade && !next.Order.Cascade:
		return earlier.Order
	}
	return next.Order
}
