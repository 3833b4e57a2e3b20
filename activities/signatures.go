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
func (a *Activities) checkSigned(ctx context.Context, desired resource.Desired) *resource.Verdict {
	if a.Signatures == nil {
		return nil
	}
	return a.signatureVerdict(ctx, desired, a.Signatures.Spec(desired),
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
func (a *Activities) checkDeletionSigned(ctx context.Context, desired resource.Desired, deletion SignedDeletion) *resource.Verdict {
	if a.Signatures == nil {
		return nil
	}
	next := "request the deletion again with --signing-key (or ARMATURE_SIGNING_KEY)"
	if deletion.Order != nil && deletion.Order.Replace {
		next = "run armature reconcile --recreate again with --signing-key (or ARMATURE_SIGNING_KEY)"
	}
	return a.signatureVerdict(ctx, desired, a.deletionFault(desired, deletion), next)
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

func (a *Activities) signatureVerdict(ctx context.Context, desired resource.Desired, fault *signing.Fault, next string) *resource.Verdict {
	switch {
	case fault == nil:
		return nil
	case a.options.WarnOfSignatures:
		a.Log.WarnContext(ctx, "written without an accepted signature, as signing.mode warn allows",
			"id", desired.ID.String(), "reason", fault.Reason, "message", fault.Message)
		return nil
	}
	return new(resource.Block(fault.Reason, "nothing is written: "+fault.Message+"; "+next))
}

// specKey returns the ID of the accepted key that signed a spec, "" where none did.
func (a *Activities) specKey(desired resource.Desired) string {
	if a.Signatures == nil || desired.Signature == nil || a.Signatures.Spec(desired) != nil {
		return ""
	}
	return desired.Signature.Key
}

// orderKey returns the ID of the accepted key that signed a deletion, "" if none did.
func (a *Activities) orderKey(desired resource.Desired, deletion SignedDeletion) string {
	order := deletion.Order
	if a.Signatures == nil || order == nil || order.Signature == nil || a.deletionFault(desired, deletion) != nil {
		return ""
	}
	return order.Signature.Key
}

// deletionFault returns why a signed request does not allow a DELETE, nil if it does.
func (a *Activities) deletionFault(desired resource.Desired, deletion SignedDeletion) *signing.Fault {
	override := ""
	if deletion.SpecVersion != "" {
		override, desired.APIVersion = desired.APIVersion, deletion.SpecVersion
	}
	return a.Signatures.Deletion(desired, override, deletion.Order)
}
