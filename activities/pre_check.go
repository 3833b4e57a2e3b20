package activities

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

// PreCheck is step 3, a local activity: is a PUT due, and why?
func (a *Activities) PreCheck(ctx context.Context, in PreCheckInput) (PreCheckResult, error) {
	ctx = as(ctx, in.Desired.Credential, in.Desired.ID)
	ctx, cancel := context.WithTimeout(correlated(ctx), readBudget)
	defer cancel()
	result := a.preCheck(ctx, in)
	a.observed("PreCheck", result.Verdict)
	return result, nil
}

// preCheck is PreCheck as part of an activity.
func (a *Activities) preCheck(ctx context.Context, in PreCheckInput) PreCheckResult {
	a.owners.heard(in.Changes)
	request, stop := a.fullRequest(ctx, in.Desired, in.Observed, in.Memory)
	if stop != nil {
		return PreCheckResult{Verdict: *stop}
	}
	request.Force, request.BlockedFor = in.Force, in.BlockedFor
	verdict, adopt := adopted(a.Registry.PreCheck(ctx, request), in, request.Object.Exists())
	if verdict.Action == resource.ActionSkip && len(in.Desired.SecretRefs) > 0 && !a.options.Rotation {
		verdict.Message += "; whether its secrets were rotated is not seen, because the worker has no mask-key"
	}
	verdict = reported(verdict, in.Desired)
	turn, _ := a.Registry.FamilyHead(in.Desired.ID)
	return PreCheckResult{Verdict: verdict, Turn: turn, Adopt: adopt}
}

// fullRequest is what the extension points know after the GET, the owner too.
func (a *Activities) fullRequest(
	ctx context.Context, desired resource.Desired, observed, memory json.RawMessage,
) (extensions.Request, *resource.Verdict) {
	request, stop := a.knownRequest(ctx, a.bodies.decode, desired, observed, memory)
	if stop == nil {
		a.cachedOwner(ctx, &request, desired)
	}
	return request, stop
}

// decoder is drift.Decode, or one whose bodies others have too.
type decoder func(what string, text []byte) (map[string]any, error)

// knownRequest is fullRequest without the owner.
func (a *Activities) knownRequest(
	ctx context.Context, decode decoder, desired resource.Desired, observed, memory json.RawMessage,
) (extensions.Request, *resource.Verdict) {
	request := a.bare(desired)
	var err error
	if request.Object.Desired, err = decode("desired", desired.Body); err == nil {
		request.Object.Observed, err = decode("observed", observed)
	}
	if err != nil {
		verdict := resource.Fail(resource.ReasonFailed, resource.RetrySlow, err.Error())
		return request, &verdict
	}
	if request.Baseline, err = decodeMemory(memory); err != nil {
		verdict := resource.Fail(resource.ReasonFailed, resource.RetrySlow, err.Error())
		return request, &verdict
	}
	request.Now, request.Secrets = a.now(), a.rotating(ctx, desired)
	if request.Object.Desired, err = a.owners.resolveReferences(ctx, request.Object.Desired); err != nil {
		verdict := refVerdict(err)
		return request, &verdict
	}
	return request, nil
}

// rotating are keyed hashes of the values behind the resource's $secret
// references, by reference: nil without a key that is secret. What cannot be read
// now is left out, and then not compared.
func (a *Activities) rotating(ctx context.Context, desired resource.Desired) map[string]string {
	if !a.options.Rotation || len(desired.SecretRefs) == 0 {
		return nil
	}
	known := make(map[string]string, len(desired.SecretRefs))
	for _, reference := range desired.SecretRefs {
		if values, all := a.values(ctx, []string{reference}); all && len(values) == 1 {
			known[reference] = values[0]
		}
	}
	return a.hashed(known)
}

// hashed are keyed hashes of secrets, nil without a key that is secret.
func (a *Activities) hashed(values map[string]string) map[string]string {
	if !a.options.Rotation || len(values) == 0 {
		return nil
	}
	hashes := make(map[string]string, len(values))
	for reference, value := range values {
		mac := hmac.New(sha256.New, a.options.HashKey)
		mac.Write([]byte("secret\x00" + value))
		hashes[reference] = hex.EncodeToString(mac.Sum(nil)[:16])
	}
	return hashes
}

// decodeMemory reads what PostCheck wrote.
func decodeMemory(raw json.RawMessage) (drift.Baseline, error) {
	var memory drift.Baseline
	if len(raw) == 0 {
		return memory, nil
	}
	if err := json.Unmarshal(raw, &memory); err != nil {
		return memory, fmt.Errorf("decode the memory of earlier PUTs: %w", err)
	}
	return memory, nil
}
