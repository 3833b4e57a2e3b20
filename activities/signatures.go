package activities

import (
	"context"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/internal/signing"
	"github.com/armature-io/armature/resource"
)

// SignatureStatus is what a worker demands of signatures.
type SignatureStatus struct {
	// Required is set when nothing is written without one; else it is only logged.
	Required bool `json:"required"`
	// Keys are the IDs of the accepted public keys.
	Keys []string `json:"keys"`
}

// signatureStatus returns nil for a worker that checks no signatures.
func (a *Activities) signatureStatus() *SignatureStatus {
	if a.Signatures == nil {
		return nil
	}
	return &SignatureStatus{Required: !a.options.WarnOfSignatures, Keys: a.Signatures.KeyIDs()}
}

// checkSigned returns the verdict that stops the write of a spec that no accepted key
// signed, nil where nothing does. Workflows do not check it: the keys are configuration,
// and write access to Temporal may schedule activities without a workflow of Armature.
func (f fences) checkSigned(ctx context.Context, desired resource.Desired) *resource.Verdict {
	if f.signatures == nil {
		return nil
	}
	return f.signatureVerdict(ctx, desired, f.signatures.Spec(desired),
		"apply its manifest again with --signing-key (or ARMATURE_SIGNING_KEY)")
}

// SignedDeletion is the request of a user on which a DELETE or a purge rests.
type SignedDeletion struct {
	// SpecVersion is the api-version of the spec if the deletion replaced it, else "".
	SpecVersion string `json:"specVersion,omitempty"`
	// Order is the signed request, nil for a request without a signature.
	Order *resource.DeletionOrder `json:"order,omitempty"`
}

// checkDeletionSigned is checkSigned for a DELETE or purge.
func (f fences) checkDeletionSigned(ctx context.Context, desired resource.Desired, deletion SignedDeletion) *resource.Verdict {
	if f.signatures == nil {
		return nil
	}
	next := "request the deletion again with --signing-key (or ARMATURE_SIGNING_KEY)"
	if deletion.Order != nil && deletion.Order.Replace {
		next = "run armature reconcile --recreate again with --signing-key (or ARMATURE_SIGNING_KEY)"
	}
	return f.signatureVerdict(ctx, desired, f.deletionFault(desired, deletion), next)
}

func (s *writeStep) checkSignature(ctx context.Context, _ arm.Write) *resource.Verdict {
	switch {
	case s.noResource:
		return nil
	case s.deletion != nil:
		return s.checkDeletionSigned(ctx, s.desired, *s.deletion)
	}
	return s.checkSigned(ctx, s.desired)
}

// signingKey returns the ID of the accepted key that signed what the step writes, "" for
// none.
func (s *writeStep) signingKey() string {
	if s.deletion != nil {
		return s.orderKey(s.desired, *s.deletion)
	}
	return s.specKey(s.desired)
}

func (f fences) signatureVerdict(ctx context.Context, desired resource.Desired, fault *signing.Fault, next string) *resource.Verdict {
	switch {
	case fault == nil:
		return nil
	case f.warnOnly:
		f.log.WarnContext(ctx, "written without an accepted signature, as signing.mode warn allows",
			"id", desired.ID.String(), "reason", fault.Reason, "message", fault.Message)
		return nil
	}
	return new(resource.Block(fault.Reason, "nothing is written: "+fault.Message+"; "+next))
}

// specKey returns the ID of the accepted key that signed a spec, "" where none did.
func (f fences) specKey(desired resource.Desired) string {
	if f.signatures == nil || desired.Signature == nil || f.signatures.Spec(desired) != nil {
		return ""
	}
	return desired.Signature.Key
}

// orderKey returns the ID of the accepted key that signed a deletion, "" if none did.
func (f fences) orderKey(desired resource.Desired, deletion SignedDeletion) string {
	order := deletion.Order
	if f.signatures == nil || order == nil || order.Signature == nil || f.deletionFault(desired, deletion) != nil {
		return ""
	}
	return order.Signature.Key
}

// deletionFault returns why a signed request does not allow a DELETE, nil if it does.
func (f fences) deletionFault(desired resource.Desired, deletion SignedDeletion) *signing.Fault {
	override := ""
	if deletion.SpecVersion != "" {
		override, desired.APIVersion = desired.APIVersion, deletion.SpecVersion
	}
	return f.signatures.Deletion(desired, override, deletion.Order)
}
