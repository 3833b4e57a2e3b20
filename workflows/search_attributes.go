package workflows

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/armature-io/armature/internal/searchattr"
	"github.com/armature-io/armature/resource"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// The keys of the search attributes of ReconcileResource.
var (
	armType             = temporal.NewSearchAttributeKeyKeyword(searchattr.ArmType)
	armSubscription     = temporal.NewSearchAttributeKeyKeyword(searchattr.ArmSubscription)
	armResourceGroup    = temporal.NewSearchAttributeKeyKeyword(searchattr.ArmResourceGroup)
	armName             = temporal.NewSearchAttributeKeyKeyword(searchattr.ArmName)
	armOwner            = temporal.NewSearchAttributeKeyKeyword(searchattr.ArmOwner)
	reconcilePhase      = temporal.NewSearchAttributeKeyKeyword(searchattr.ReconcilePhase)
	reconcileReason     = temporal.NewSearchAttributeKeyKeyword(searchattr.ReconcileReason)
	reconcileSince      = temporal.NewSearchAttributeKeyTime(searchattr.ReconcileSince)
	reconcileWaitingFor = temporal.NewSearchAttributeKeyKeywordList(searchattr.ReconcileWaitingFor)
	reconcileLabels     = temporal.NewSearchAttributeKeyKeywordList(searchattr.ReconcileLabels)
	reconcileNeeds      = temporal.NewSearchAttributeKeyKeywordList(searchattr.ReconcileNeeds)
)

const (
	// maxKeywordRunes is the length of a Keyword on SQL stores: a longer value makes the
	// workflow invisible to every list.
	maxKeywordRunes = 255
	// maxAttributeBytes is the size of one search attribute: the server terminates a
	// workflow that exceeds it.
	maxAttributeBytes = 2048
	// maxWaitingKeys bounds the keys in ReconcileWaitingFor, far below maxAttributeBytes.
	maxWaitingKeys = 32
)

// SearchAttributes returns the names and types that a namespace must know.
func SearchAttributes() map[string]enumspb.IndexedValueType {
	types := map[string]enumspb.IndexedValueType{}
	for _, key := range []temporal.SearchAttributeKey{
		armType, armSubscription, armResourceGroup, armName, armOwner, reconcilePhase, reconcileReason, reconcileSince,
		reconcileWaitingFor, reconcileLabels, reconcileNeeds,
	} {
		types[key.GetName()] = key.GetValueType()
	}
	return types
}

// IdentityAttributes returns the search attributes that follow from the manifest. A
// starter sets them at the start; the workflow keeps them current.
func IdentityAttributes(desired resource.Desired) temporal.SearchAttributes {
	updates := []temporal.SearchAttributeUpdate{
		armType.ValueSet(keyword(desired.ID.Type())),
		armName.ValueSet(nameKeyword(desired.ID)),
		reconcilePhase.ValueSet(string(PhasePending)),
	}
	if s := desired.ID.Subscription(); s != "" {
		updates = append(updates, armSubscription.ValueSet(keyword(s)))
	}
	if g := desired.ID.ResourceGroup(); g != "" {
		updates = append(updates, armResourceGroup.ValueSet(keyword(g)))
	}
	if !desired.Owner.IsZero() {
		updates = append(updates, armOwner.ValueSet(keyword(desired.Owner.WorkflowID())))
	}
	if needs := needsKeys(desired); len(needs) > 0 {
		updates = append(updates, reconcileNeeds.ValueSet(needs))
	}
	if labels := labelKeywords(desired.Labels); len(labels) > 0 {
		updates = append(updates, reconcileLabels.ValueSet(labels))
	}
	return temporal.NewSearchAttributes(updates...)
}

// setPhase writes the phase, the reason and the keys of the resources that this one
// waits for to the state and, where they changed, to the search attributes.
//
// A queued resource is signaled by the queue of turns. It writes no keys, because waking
// it on every Ready of the holder would wake the whole queue.
func (r *reconciler) setPhase(ctx workflow.Context, phase Phase, reason resource.Reason) {
	r.state.Phase = phase
	waitingFor := r.state.Wait.For
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

// upsertIdentity updates the search attributes that follow from the spec. The starter
// set the same values, so the first apply writes nothing.
func (r *reconciler) upsertIdentity(ctx workflow.Context) {
	desired := *r.state.Desired
	updates := []temporal.SearchAttributeUpdate{}
	if !desired.Owner.IsZero() {
		updates = append(updates, armOwner.ValueSet(keyword(desired.Owner.WorkflowID())))
	}
	updates = append(updates, reconcileLabels.ValueSet(labelKeywords(desired.Labels)), reconcileNeeds.ValueSet(needsKeys(desired)))
	r.upsert(ctx, temporal.NewSearchAttributes(updates...))
}

// upsert writes the attributes that changed, and no event when none changed.
func (r *reconciler) upsert(ctx workflow.Context, next temporal.SearchAttributes) {
	current := workflow.GetTypedSearchAttributes(ctx)
	var updates []temporal.SearchAttributeUpdate
	phaseChanged := false
	for _, key := range []temporal.SearchAttributeKeyKeyword{armOwner, reconcilePhase, reconcileReason} {
		value, set := next.GetKeyword(key)
		if known, _ := current.GetKeyword(key); set && known != value {
			updates = append(updates, key.ValueSet(value))
			phaseChanged = phaseChanged || key != armOwner
		}
	}
	for _, key := range []temporal.SearchAttributeKeyKeywordList{reconcileWaitingFor, reconcileLabels, reconcileNeeds} {
		value, set := next.GetKeywordList(key)
		if known, _ := current.GetKeywordList(key); set && !slices.Equal(known, value) {
			updates = append(updates, key.ValueSet(value))
		}
	}
	if len(updates) == 0 {
		return
	}
	if phaseChanged {
		updates = append(updates, reconcileSince.ValueSet(workflow.Now(ctx)))
	}
	r.upsertAttributes(ctx, updates...)
}

// WaitingKey returns the key of a resource in ReconcileWaitingFor and ReconcileNeeds: 22
// characters of a hash, because IDs are long and case-insensitive.
func WaitingKey(id resource.ID) string {
	sum := sha256.Sum256([]byte(id.Key()))
	return base64.RawURLEncoding.EncodeToString(sum[:])[:22]
}

// needsKeys returns the keys of the resources that a spec depends on. They are not
// deleted before this resource. A key takes 25 bytes of maxAttributeBytes.
func needsKeys(desired resource.Desired) []string { return keysOf(desired.Needs(), resource.MaxNeeds) }

// waitingKeys returns the keys of the resources that this one waits for.
func waitingKeys(ids []resource.ID) []string { return keysOf(ids, maxWaitingKeys) }

// keysOf returns the keys of resources, sorted and each once, for at most limit of them.
func keysOf(ids []resource.ID, limit int) []string {
	keys := make([]string, 0, min(len(ids), limit))
	for _, id := range ids {
		if key := WaitingKey(id); len(keys) < limit && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// nameKeyword returns the last name of a resource for ArmName. Azure ignores the case of
// names, and some visibility stores do not.
func nameKeyword(id resource.ID) string { return keyword(strings.ToLower(id.Name())) }

// NameTerm returns the value of ArmName by which a user's name of a resource, such as web
// or plan/web, is found.
func NameTerm(name string) string {
	return keyword(strings.ToLower(name[strings.LastIndex(name, "/")+1:]))
}

// labelKeywords returns the labels as "key=value", sorted.
func labelKeywords(labels map[string]string) []string {
	keywords := make([]string, 0, len(labels))
	for key, value := range labels {
		keywords = append(keywords, keyword(key+"="+value))
	}
	slices.Sort(keywords)
	return keywords
}

// labelsFit reports whether ReconcileLabels has room for the labels, as JSON.
func labelsFit(labels map[string]string) bool {
	encoded, err := json.Marshal(labelKeywords(labels))
	return err == nil && len(encoded) <= maxAttributeBytes
}

// keyword cuts a value to the length of a Keyword on SQL stores.
func keyword(value string) string {
	if utf8.RuneCountInString(value) <= maxKeywordRunes {
		return strings.ToValidUTF8(value, "")
	}
	return string([]rune(value)[:maxKeywordRunes])
}

// Keys of the memo, which names the resource for lists while no worker runs.
const (
	MemoID         = "id"
	MemoName       = "name"
	MemoAPIVersion = "apiVersion"
	MemoPolicy     = "policy"
	// MemoGeneration is the newest generation that was applied while a write was in
	// progress: workers read it before the write leaves.
	MemoGeneration = "generation"
	// MemoForgotten is true if the management ended while a step ran: workers read it with
	// MemoGeneration.
	MemoForgotten = "forgotten"
)

// Memo returns the memo that a starter sets at the start.
func Memo(desired resource.Desired) map[string]any {
	return map[string]any{
		MemoID:         desired.ID.String(),
		MemoName:       desired.Name,
		MemoAPIVersion: desired.APIVersion,
		MemoPolicy:     string(desired.Policy),
	}
}

// upsertMemo updates the memo when the next generation has another api-version, name or
// policy. The starter set the memo of the first apply.
func (r *reconciler) upsertMemo(ctx workflow.Context, next resource.Desired) {
	now := r.state.Desired
	if now == nil || now.APIVersion == next.APIVersion && now.Name == next.Name && now.Policy == next.Policy {
		return
	}
	writeMemo(ctx, Memo(next))
}

// writeMemo writes members of the memo.
func writeMemo(ctx workflow.Context, members map[string]any) {
	logFailure(ctx, "upsert memo", workflow.UpsertMemo(ctx, members))
}

// logFailure logs an error of a command that the SDK refused, nil for none. What it was to show to
// users is missing then; the run continues.
func logFailure(ctx workflow.Context, message string, err error) {
	if err != nil {
		workflow.GetLogger(ctx).Error(message, "error", err)
	}
}
