package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/armature-io/armature/activities/lookup"
	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/secrets"
)

// payload builds the body of the PUT: the manifest's body, then references, then
// secrets, then ignored paths and the tags of others as observed, then the
// modifiers. Secrets come before observed values: a marker that another user wrote
// into the resource must not read a secret of the worker. It returns the secret
// values too, so that they can be scrubbed from ARM's messages, and keeps hashes to
// detect a rotation.
func (p *put) payload(ctx context.Context) (map[string]any, []string, *resource.Verdict) {
	desired := p.in.Desired
	body, known, err := p.resolver.Resolve(ctx, p.request.Object.Desired)
	if err != nil {
		return nil, nil, secretVerdict(err)
	}
	values := slices.Sorted(maps.Values(known))
	p.secrets = p.hashSecrets(known)
	if p.secrets != nil {
		p.request.Secrets = p.secrets // one may be rotated since the comparison
	}
	if p.patches() {
		return p.patchBody(body), values, nil
	}
	merged := drift.Body(body, p.request.Object.Desired, p.request.Object.Observed, p.request.Comparison())
	if len(merged.Violations) > 0 {
		return nil, nil, holdUnsound(merged.Violations)
	}
	body, p.kept = merged.Body, merged.Kept
	drift.KeepTags(body, p.request.Object.Desired, p.request.Object.Observed, p.request.Baseline)
	if p.registry.Modifies(desired.ID.Type()) {
		p.addOwner(ctx, &p.request, desired)
		request := p.request
		request.Log, request.Purpose = scrubLog(request.Log, values), p.purpose()
		modified, stop := p.registry.Modify(ctx, request, body)
		if stop != nil {
			stop.Message = secrets.Scrub(stop.Message, values)
			return nil, nil, stop
		}
		// A modifier that keeps what Azure shows must not keep what the manifest
		// stated before and no longer states.
		drift.RemoveFormerValues(modified, p.request.Object.Desired, p.request.Comparison())
		body = modified
	}
	return body, values, p.unstatedLeaves(body)
}

// holdUnsound returns the verdict of a PUT whose body, merged with what others set, does
// not have the published shape of the type.
func holdUnsound(paths []string) *resource.Verdict {
	verdict := resource.Block(resource.ReasonHeld, fmt.Sprintf(
		"the body that is merged with what others set does not have the published shape of the type: %s; nothing is sent. "+
			"State the whole value in the manifest, or set put: replace", strings.Join(paths[:min(len(paths), resource.MaxDifferences)], ", ")))
	verdict.Class, verdict.Actor = resource.RetryVerySlow, "the owner of the manifest"
	return &verdict
}

// encodePayload returns a body as it is sent.
func encodePayload(body map[string]any) ([]byte, *resource.Verdict) {
	if lookup.ContainsMask(body) {
		return nil, invalidPayload("the payload contains a masked value and is not sent; remove the value from the manifest or from the extension that added it")
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return nil, invalidPayload("the payload cannot be encoded as JSON; check the extensions of the type")
	}
	return raw, nil
}

// secretVerdict blocks for a secret that may still be created. One outside the
// allow-lists waits for a change of the manifest or the worker.
func secretVerdict(err error) *resource.Verdict {
	verdict := resource.Block(resource.ReasonSecretNotFound, err.Error())
	if refused, ok := errors.AsType[*secrets.Error](err); ok && refused.NotAllowed {
		verdict = resource.Fail(resource.ReasonSecretNotFound, resource.RetryVerySlow, err.Error())
	}
	return &verdict
}

func invalidPayload(message string) *resource.Verdict {
	return new(resource.Fail(resource.ReasonFailed, resource.RetryVerySlow, message))
}
