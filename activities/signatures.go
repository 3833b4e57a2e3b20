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

// checkDeletionSigned is checkSigned for a DELETE or purge. SpecVersion is the api-version
// of the spec where the deletion replaces it, else "".
func (a *Activities) checkDeletionSigned(ctx context.Context, desired resource.Desired, specVersion string, order *resource.DeletionOrder) *resource.Verdict {
	if a.Signatures == nil {
		return nil
	}
	next := "request the deletion again with --signing-key (or ARMATURE_SIGNING_KEY)"
	if order != nil && order.Replace {
		next = "run armature reconcile --recreate again with --signing-key (or ARMATURE_SIGNING_KEY)"
	}
	return a.signatureVerdict(ctx, desired, a.deletionFault(desired, specVersion, order), next)
}

// withSigned returns the context of a step whose writes need another signature than that
// of the spec.
func withSigned(ctx context.Context, signed func(context.Context) *resource.Verdict) context.Context {
	step, ok := ctx.Value(writeStepKey{}).(*writeStep)
	if !ok {
		return ctx
	}
	changed := *step
	changed.signed = signed
	return withWriteStep(ctx, &changed)
}

// needsNone is the check of a step that changes no resource.
func needsNone(context.Context) *resource.Verdict { return nil }

func (s *writeStep) checkSignature(ctx context.Context, _ arm.Write) *resource.Verdict {
	if s.signed != nil {
		return s.signed(ctx)
	}
	return s.checkSigned(ctx, s.desired)
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

// orderKey returns the ID of the accepted key that signed a deletion, "" where none did.
func (a *Activities) orderKey(desired resource.Desired, specVersion string, order *resource.DeletionOrder) string {
	if a.Signatures == nil || order == nil || order.Signature == nil || a.deletionFault(desired, specVersion, order) != nil {
		return ""
	}
	return order.Signature.Key
}

// deletionFault returns why a signed request does not allow a DELETE, nil if it does.
func (a *Activities) deletionFault(desired resource.Desired, specVersion string, order *resource.DeletionOrder) *signing.Fault {
	override := ""
	if specVersion != "" {
		override, desired.APIVersion = desired.APIVersion, specVersion
	}
	return a.Signatures.Deletion(desired, override, order)
}

// withOrder returns the context of a step that deletes what a signed request names.
func withOrder(ctx context.Context, specVersion string, order *resource.DeletionOrder) context.Context {
	step, ok := ctx.Value(writeStepKey{}).(*writeStep)
	if !ok {
		return ctx
	}
	changed := *step
	changed.signingKey = func() string { return step.orderKey(step.desired, specVersion, order) }
	return withWriteStep(ctx, &changed)
}
