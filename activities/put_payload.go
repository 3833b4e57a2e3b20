package activities

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/secrets"
)

// payload is body + references + secrets + ignored paths and the tags of others
// as observed, then the modifiers. Secrets come before what was observed: a marker that somebody wrote
// into the resource must not fetch a secret of the worker. The secret values are
// answered too, so that they can be scrubbed from what ARM says; of those that a
// rotation is seen by, hashes are kept.
func (p *put) payload(ctx context.Context) ([]byte, []string, *resource.Verdict) {
	desired := p.in.Desired
	body, known, err := p.Secrets.Resolve(ctx, p.request.Object.Desired)
	if err != nil {
		return nil, nil, notResolved(err)
	}
	values := slices.Sorted(maps.Values(known))
	p.secrets = p.hashed(known)
	body = drift.Payload(body, p.request.Object.Observed, desired.Ignore)
	if desired.Put == resource.PutMerge {
		body = drift.Merge(body, p.request.Object.Observed)
		drift.RemoveUnstated(body, p.request.Object.Desired, desired.Ignore, p.request.Baseline)
	}
	p.keptTags = drift.KeepTags(body, p.request.Object.Desired, p.request.Object.Observed, p.request.Baseline)
	if p.Registry.Modifies(desired.ID.Type()) {
		p.cachedOwner(ctx, &p.request, desired)
		request := p.request
		request.Log = withoutSecrets(request.Log, values)
		modified, stop := p.Registry.Modify(ctx, request, body)
		if stop != nil {
			stop.Message = secrets.Scrub(stop.Message, values)
			return nil, nil, stop
		}
		// A modifier that keeps what Azure shows must not keep what the manifest
		// once stated and states no more.
		drift.RemoveUnstated(modified, p.request.Object.Desired, desired.Ignore, p.request.Baseline)
		body = modified
	}
	if holdsMask(body) {
		return nil, nil, unsendable("the payload holds a masked value, and such a payload is never sent; remove it from the manifest or the extension that put it there")
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return nil, nil, unsendable("the payload cannot be encoded as JSON; look at the extensions of the type")
	}
	return raw, values, nil
}

// notResolved blocks for a secret that may still come; one outside the
// allow-lists waits for somebody to change the manifest or the worker.
func notResolved(err error) *resource.Verdict {
	verdict := resource.Block(resource.ReasonSecretNotFound, err.Error())
	var refused *secrets.Error
	if errors.As(err, &refused) && refused.NotAllowed {
		verdict = resource.Fail(resource.ReasonSecretNotFound, resource.RetryVerySlow, err.Error())
	} else if refused != nil && strings.HasPrefix(refused.Reference, resource.VaultScheme) {
		verdict.Class = resource.RetrySlow // each try is a request to somebody's vault
	}
	return &verdict
}

func unsendable(message string) *resource.Verdict {
	verdict := resource.Fail(resource.ReasonFailed, resource.RetryVerySlow, message)
	return &verdict
}
