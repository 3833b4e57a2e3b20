package writing

import (
	"context"
	"time"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/internal/signing"
	"github.com/armature-io/armature/resource"
)

// CheckSigned returns the verdict that stops the write of a spec that no accepted key
// signed, nil where nothing does. Workflows do not check it: the keys are configuration,
// and write access to Temporal may schedule activities without a workflow of Armature.
func (c Checks) CheckSigned(ctx context.Context, desired resource.Desired) *resource.Verdict {
	if c.Signatures == nil {
		return nil
	}
	return c.signatureVerdict(ctx, desired, c.Signatures.Spec(desired), applyAgain)
}

// applyAgain is the remedy for a spec whose signature is not accepted.
const applyAgain = "apply its manifest again with --signing-key (or ARMATURE_SIGNING_KEY)"

// SignedDeletion is the request of a user on which a DELETE or a purge rests.
type SignedDeletion struct {
	// SpecVersion is the api-version of the spec if the deletion replaced it, else "".
	SpecVersion string `json:"specVersion,omitempty"`
	// Order is the signed request, nil for a request without a signature.
	Order *resource.DeletionOrder `json:"order,omitempty"`
}

// checkDeletionSigned is CheckSigned for a DELETE or purge.
func (c Checks) checkDeletionSigned(ctx context.Context, desired resource.Desired, deletion SignedDeletion) *resource.Verdict {
	if c.Signatures == nil {
		return nil
	}
	return c.signatureVerdict(ctx, desired, c.deletionFault(desired, deletion), deletion.signAgain())
}

// signAgain is the remedy for a request whose signature is not accepted.
func (d SignedDeletion) signAgain() string {
	if d.Order != nil && d.Order.Replace {
		return "run armature reconcile --recreate again with --signing-key (or ARMATURE_SIGNING_KEY)"
	}
	return "request the deletion again with --signing-key (or ARMATURE_SIGNING_KEY)"
}

func (s *Step) checkSignature(ctx context.Context, _ arm.Write) *resource.Verdict {
	switch {
	case s.NoResource:
		return nil
	case s.Deletion != nil:
		return s.checkDeletionSigned(ctx, s.Desired, *s.Deletion)
	}
	return s.CheckSigned(ctx, s.Desired)
}

// signingKey returns the ID of the accepted key that signed what the step writes, "" for
// none.
func (s *Step) signingKey() string {
	if s.Deletion != nil {
		return s.OrderKey(s.Desired, *s.Deletion)
	}
	return s.SpecKey(s.Desired)
}

// signedAt returns the time of the accepted signature of what the step writes, zero without
// one. A replacement is a statement of its spec: the creation after it has the same.
func (s *Step) signedAt() time.Time {
	switch {
	case s.signingKey() == "":
		return time.Time{}
	case s.Deletion != nil && !s.Deletion.Order.Replace:
		return s.Deletion.Order.Signature.At.UTC()
	case s.Desired.Signature == nil:
		return time.Time{}
	}
	return s.Desired.Signature.At.UTC()
}

// signAgain is the remedy for a statement that was signed too early.
func (s *Step) signAgain() string {
	if s.Deletion != nil {
		return s.Deletion.signAgain()
	}
	return applyAgain
}

// demandsSignatures reports whether nothing is written without an accepted signature.
func (c Checks) demandsSignatures() bool { return c.Signatures != nil && !c.WarnOnly }

func (c Checks) signatureVerdict(ctx context.Context, desired resource.Desired, fault *signing.Fault, next string) *resource.Verdict {
	switch {
	case fault == nil:
		return nil
	case c.WarnOnly:
		c.Log.WarnContext(ctx, "written without an accepted signature, as signing.mode warn allows",
			"id", desired.ID.String(), "reason", fault.Reason, "message", fault.Message)
		return nil
	}
	return new(resource.Block(fault.Reason, "nothing is written: "+fault.Message+"; "+next))
}

// SpecKey returns the ID of the accepted key that signed a spec, "" where none did.
func (c Checks) SpecKey(desired resource.Desired) string {
	if c.Signatures == nil || desired.Signature == nil || c.Signatures.Spec(desired) != nil {
		return ""
	}
	return desired.Signature.Key
}

// OrderKey returns the ID of the accepted key that signed a deletion, "" if none did.
func (c Checks) OrderKey(desired resource.Desired, deletion SignedDeletion) string {
	order := deletion.Order
	if c.Signatures == nil || order == nil || order.Signature == nil || c.deletionFault(desired, deletion) != nil {
		return ""
	}
	return order.Signature.Key
}

// deletionFault returns why a signed request does not allow a DELETE, nil if it does.
func (c Checks) deletionFault(desired resource.Desired, deletion SignedDeletion) *signing.Fault {
	override := ""
	if deletion.SpecVersion != "" {
		override, desired.APIVersion = desired.APIVersion, deletion.SpecVersion
	}
	return c.Signatures.Deletion(desired, override, deletion.Order)
}
