package workflows

import (
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"sort"
	"time"

	"github.com/armature-io/armature/resource"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// waitingForMax bounds the keys in ReconcileWaitingFor: a search attribute over
// 2,048 bytes makes the server terminate the workflow.
const waitingForMax = 32

// setPhase writes the phase, the reason and the keys of what is waited for, to
// the state and, where they changed, to the search attributes.
//
// Who waits for his turn is told by the turn: the holder would wake all of them
// whenever it is Ready.
func (r *reconciler) setPhase(ctx workflow.Context, phase Phase, reason resource.Reason) {
	r.state.Phase = phase
	waitingFor := r.state.WaitingFor
	if reason == resource.ReasonWaitingForSibling {
		waitingFor = nil
	}
	r.upsert(ctx, temporal.NewSearchAttributes(
		reconcilePhase.ValueSet(string(phase)),
		reconcileReason.ValueSet(keyword(string(reason))),
		reconcileWaitingFor.ValueSet(waitingKeys(waitingFor)),
	))
	r.describe(ctx)
}

// operate marks the start of a long-running operation.
func (r *reconciler) operate(ctx workflow.Context, p *pass, method string) {
	now := workflow.Now(ctx)
	r.state.Operation, r.state.OperationSince = method, now
	r.state.WaitingFor, r.state.NextTry = nil, time.Time{}
	if r.state.Delete == nil {
		if !r.state.Condition.Ready {
			r.state.Condition.Set(resource.Condition{
				Severity: resource.SeverityInfo, Reason: resource.ReasonReconciling, ObservedGeneration: p.generation,
				Message: "ARM accepted the " + method + "; its operation goes on",
			}, now)
		}
		r.setPhase(ctx, PhaseOperating, resource.ReasonReconciling)
	}
}

// upsertMemo keeps the memo true when a new generation is read with another
// api-version, bears another name or has another policy. The first apply equals what a starter set.
func (r *reconciler) upsertMemo(ctx workflow.Context, next resource.Desired) {
	now := r.state.Desired
	if now == nil || now.APIVersion == next.APIVersion && now.Name == next.Name && now.Policy == next.Policy {
		return
	}
	if err := workflow.UpsertMemo(ctx, Memo(next)); err != nil {
		workflow.GetLogger(ctx).Error("upsert memo", "error", err)
	}
}

// upsertIdentity keeps search attributes true to the spec. They equal
// what a starter set, so the first apply writes nothing.
func (r *reconciler) upsertIdentity(ctx workflow.Context) {
	desired := *r.state.Desired
	updates := []temporal.SearchAttributeUpdate{}
	if !desired.Owner.IsZero() {
		updates = append(updates, armOwner.ValueSet(keyword(desired.Owner.WorkflowID())))
	}
	updates = append(updates, reconcileLabels.ValueSet(labelKeywords(desired.Labels)), reconcileNeeds.ValueSet(needsKeys(desired)))
	r.upsert(ctx, temporal.NewSearchAttributes(updates...))
}

// upsert writes the attributes whose values changed, and no event when none
// did.
func (r *reconciler) upsert(ctx workflow.Context, next temporal.SearchAttributes) {
	current := workflow.GetTypedSearchAttributes(ctx)
	var updates []temporal.SearchAttributeUpdate
	for _, key := range []temporal.SearchAttributeKeyKeyword{armOwner, reconcilePhase, reconcileReason} {
		value, wanted := next.GetKeyword(key)
		if known, _ := current.GetKeyword(key); wanted && known != value {
			updates = append(updates, key.ValueSet(value))
		}
	}
	for _, key := range []temporal.SearchAttributeKeyKeywordList{reconcileWaitingFor, reconcileLabels, reconcileNeeds} {
		value, wanted := next.GetKeywordList(key)
		if known, _ := current.GetKeywordList(key); wanted && !slices.Equal(known, value) {
			updates = append(updates, key.ValueSet(value))
		}
	}
	if len(updates) == 0 {
		return
	}
	if err := workflow.UpsertTypedSearchAttributes(ctx, updates...); err != nil {
		workflow.GetLogger(ctx).Error("upsert search attributes", "error", err)
	}
}

// WaitingKey is how ReconcileWaitingFor and ReconcileNeeds name a resource: 22 characters of a
// hash, because IDs are long and case-insensitive.
func WaitingKey(id resource.ID) string {
	sum := sha256.Sum256([]byte(id.Key()))
	return base64.RawURLEncoding.EncodeToString(sum[:])[:22]
}

// needsKeys are the keys of what a resource depends on: what it needs is not
// deleted before it.
func needsKeys(desired resource.Desired) []string {
	return keysOf(desired.Needs(), resource.MaxNeeds) // a key takes 25 bytes of the 2,048
}

// waitingKeys are the keys of what is waited for.
func waitingKeys(ids []resource.ID) []string { return keysOf(ids, waitingForMax) }

// keysOf are the keys of resources, each once, the first most of them, sorted.
func keysOf(ids []resource.ID, most int) []string {
	keys := make([]string, 0, min(len(ids), most))
	for _, id := range ids {
		if key := WaitingKey(id); len(keys) < most && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	sort.Strings(keys)
	return keys
}
