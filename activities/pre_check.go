package activities

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/armature-io/armature/activities/lookup"
	"github.com/armature-io/armature/activities/writing"
	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/resource"
)

// PreCheckInput is what is desired and what was observed.
type PreCheckInput struct {
	Desired  resource.Desired `json:"desired"`
	Observed json.RawMessage  `json:"observed,omitempty"`
	// Completed are the parts that Observed has of other requests than the GET.
	Completed []string `json:"completed,omitempty"`
	// Memory is the baseline that PostCheck returned, opaque to the workflow.
	Memory json.RawMessage `json:"baseline,omitempty"`
	PassFacts
	// Reported are the changes of the resource that the feed reported, oldest first.
	Reported []resource.ReportedChange `json:"reported,omitempty"`
	// Applied is set once this workflow wrote the resource or found it Ready.
	Applied bool `json:"applied,omitempty"`
	// Existed is set once a read of this workflow showed the resource: its absence
	// means that it was deleted.
	Existed bool `json:"existed,omitempty"`
	// Moved is the place where GetResource found the absent resource; Identity proves it.
	Moved    resource.ID       `json:"moved,omitzero"`
	Identity resource.Identity `json:"identity,omitempty"`
	// PutAt is when ARM accepted the last PUT, zero if it failed or there is none.
	PutAt time.Time `json:"putAt,omitzero"`
	// ExistenceOnly is set if Azure shows only that the resource exists.
	ExistenceOnly bool `json:"existenceOnly,omitempty"`
	// BlockedFor is how long an operation in flight has blocked already.
	BlockedFor time.Duration `json:"blockedFor,omitempty"`
	// AcceptedAt is the time of an AcceptedPut of this spec, zero without one; Unanswered is its
	// own.
	AcceptedAt time.Time `json:"acceptedAt,omitzero"`
	Unanswered bool      `json:"unanswered,omitempty"`
	// Refusal stops the PUT that it names, nil where none does.
	Refusal *Refusal `json:"refusal,omitempty"`
	// Now is the time of the workflow, with which AcceptedAt and PutAt are compared.
	Now time.Time `json:"now,omitzero"`
}

// PreCheckResult decides whether a PUT is due.
type PreCheckResult struct {
	Verdict resource.Verdict `json:"verdict"`
	// Adopt makes PostCheck add the differences to the baseline: they stay.
	Adopt bool `json:"adopt,omitempty"`
	// Verify makes PostCheck compare the result of the AcceptedPut.
	Verify bool `json:"verify,omitempty"`
	// Turn is the parent in whose queue a PUT waits, zero where ARM accepts parallel
	// changes of siblings.
	Turn resource.ID `json:"turn,omitzero"`
	// Observed is why a PUT would only be reported: "policy observe", or the setting of the
	// worker; "" if it would be sent.
	Observed string `json:"observed,omitempty"`
}

// PreCheck is step 3, a local activity: it decides whether a PUT is due.
func (a *Activities) PreCheck(ctx context.Context, in PreCheckInput) (PreCheckResult, error) {
	ctx = withCredential(ctx, in.Desired.Credential, in.Desired.ID)
	compare := comparer{a.requestMaker.startedAt(in.Now), a.options.SettleTime}
	ctx, cancel := context.WithTimeout(withRunID(ctx), lookup.Timeout)
	defer cancel()
	ctx = a.forWrites(ctx, in.Desired, in.PassFacts, writing.Step{TaskStarted: in.Now})
	facts := in.PassFacts
	in.PassFacts = facts.shared()
	result, wrote := compare.preCheck(ctx, in)
	if result.Verdict.Stops() && facts.Requested() && !wrote {
		// It may rest on a reading from just before the request.
		in.PassFacts = facts
		result, _ = compare.preCheck(ctx, in)
	}
	a.report("PreCheck", result.Verdict)
	return result, nil
}

// comparer decides whether a PUT is due.
type comparer struct {
	*requestMaker
	// settleTime is how long after an accepted PUT an absence is no disappearance.
	settleTime time.Duration
}

// preCheck is PreCheck as part of an activity. It reports whether a link wrote.
func (c *comparer) preCheck(ctx context.Context, in PreCheckInput) (_ PreCheckResult, wrote bool) {
	c.noteChanges(in.Changes)
	request, stop := c.requestWithOwner(ctx, in.Desired, in.PassFacts, in.Observed, in.Memory)
	if stop != nil {
		return PreCheckResult{Verdict: *stop}, false
	}
	result := c.decide(ctx, in, request)
	result.Verdict = c.withAuthor(result.Verdict, in, in.Correction)
	return result, readerOf(request).wrote()
}

// decide is the decision of a pre-check about a request of requestWithOwner.
func (c *comparer) decide(ctx context.Context, in PreCheckInput, request extensionhost.Request) PreCheckResult {
	request.Object.Completed = in.Completed
	request.Force, request.BlockedFor, request.Hold = in.Force, in.BlockedFor, in.Hold()
	checked := readerOf(request).withWrites(withAge(request, c.registry.PreCheck(ctx, request)))
	verdict, adopt := c.checkAdoption(c.now(), checked, in, request.Object.Exists())
	if in.comparesNothing(verdict) {
		verdict, adopt = resource.Verdict{
			Action: resource.ActionSkip, Reason: resource.ReasonInSync,
			Message: "Azure shows only that it exists: nothing is compared, and the next change of the manifest is written",
		}, true
	}
	verdict, verify := c.verifyAccepted(c.now(), verdict, in, request)
	if verdict.Action == resource.ActionSkip && len(in.Desired.SecretRefs) > 0 && !c.rotation {
		verdict.Message += "; rotated secrets are not detected, because the worker has no mask-key"
	}
	turn, _ := c.registry.FamilyHead(in.Desired.ID)
	observing := c.observing(in.Desired)
	verdict = c.checkRefusal(ctx, reportDrift(verdict, in.Desired, observing), in, request)
	return PreCheckResult{Verdict: verdict, Turn: turn, Adopt: adopt, Verify: verify && !adopt, Observed: observing}
}

// comparesNothing reports whether a PUT would be sent for differences from a body that
// Azure does not show, before any PUT of this manifest: first contact with a type without
// GET.
func (in PreCheckInput) comparesNothing(verdict resource.Verdict) bool {
	return in.ExistenceOnly && len(in.Memory) == 0 && in.AcceptedAt.IsZero() && !in.Force &&
		verdict.Action == resource.ActionProceed && !verdict.Create
}

// requestWithOwner returns what the extension points know after the GET, including
// the owner.
func (m *requestMaker) requestWithOwner(
	ctx context.Context, desired resource.Desired, facts PassFacts, observed, memory json.RawMessage,
) (extensionhost.Request, *resource.Verdict) {
	request, stop := m.requestWithBodies(ctx, m.bodies.Decode, desired, facts, observed, memory)
	if stop == nil {
		m.addOwner(ctx, &request, desired)
		m.addOwners(ctx, &request)
	}
	return request, stop
}

// decoder is drift.Decode, or lookup.Bodies.Decode where the body is not changed.
type decoder func(what string, text []byte) (map[string]any, error)

// requestWithBodies is requestWithOwner without the owner.
func (m *requestMaker) requestWithBodies(
	ctx context.Context, decode decoder, desired resource.Desired, facts PassFacts, observed, memory json.RawMessage,
) (extensionhost.Request, *resource.Verdict) {
	request := m.requestWithoutBody(desired, facts)
	for _, reference := range desired.References {
		m.lookup.NoteRequest(reference.ID, facts.RequestedAt)
	}
	var err error
	if request.Object.Desired, err = decode("desired", desired.Body); err == nil {
		request.Object.Observed, err = decode("observed", observed)
	}
	if err == nil {
		request.Baseline, err = decodeBaseline(memory)
	}
	if err != nil {
		return request, new(resource.Fail(resource.ReasonFailed, resource.RetrySlow, err.Error()))
	}
	request.Now, request.Secrets = m.now(), m.readSecretHashes(ctx, desired)
	if request.Object.Desired, err = m.lookup.ResolveReferences(ctx, request.Object.Desired); err != nil {
		verdict := resource.Block(resource.ReasonReferenceNotReady, err.Error())
		if missing, ok := errors.AsType[*lookup.UnresolvedError](err); ok {
			verdict.WaitingFor = []resource.ID{missing.ID}
			verdict.RetryWithin = m.lookup.UntilExpiry(verdict.WaitingFor)
		}
		return request, &verdict
	}
	return request, nil
}

// readSecretHashes returns keyed hashes of the values behind the resource's $secret
// references, by reference; nil without a secret key. A value that cannot be read
// now is left out, and then not compared.
func (m *requestMaker) readSecretHashes(ctx context.Context, desired resource.Desired) map[string]string {
	if !m.rotation {
		return nil
	}
	known := make(map[string]string, len(desired.SecretRefs))
	for _, reference := range desired.SecretRefs {
		if values, all := m.secretValues(ctx, []string{reference}); all && len(values) == 1 {
			known[reference] = values[0]
		}
	}
	return m.hashSecrets(known)
}

// hashSecrets returns keyed hashes of secrets; nil without a secret key.
func (h *hasher) hashSecrets(values map[string]string) map[string]string {
	if !h.rotation || len(values) == 0 {
		return nil
	}
	hashes := make(map[string]string, len(values))
	for reference, value := range values {
		hashes[reference] = h.hash([]byte("secret\x00" + value))
	}
	return hashes
}

// hash returns a keyed hash of 16 bytes, in hex.
func (h *hasher) hash(data []byte) string {
	mac := hmac.New(sha256.New, h.key)
	mac.Write(data)
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// decodeBaseline decodes what PostCheck returned.
func decodeBaseline(raw json.RawMessage) (drift.Baseline, error) {
	var baseline drift.Baseline
	if len(raw) == 0 {
		return baseline, nil
	}
	if err := json.Unmarshal(raw, &baseline); err != nil {
		return baseline, fmt.Errorf("decode the memory of earlier PUTs: %w", err)
	}
	return baseline, nil
}
