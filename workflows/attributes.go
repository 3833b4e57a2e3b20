package workflows

import (
	"encoding/json"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/searchattr"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
)

// The search attributes of ReconcileResource. The first six are Keywords, the
// last three, which is what SQL stores have room for, lists of Keywords.
var (
	armType             = temporal.NewSearchAttributeKeyKeyword(searchattr.ArmType)
	armSubscription     = temporal.NewSearchAttributeKeyKeyword(searchattr.ArmSubscription)
	armResourceGroup    = temporal.NewSearchAttributeKeyKeyword(searchattr.ArmResourceGroup)
	armOwner            = temporal.NewSearchAttributeKeyKeyword(searchattr.ArmOwner)
	reconcilePhase      = temporal.NewSearchAttributeKeyKeyword(searchattr.ReconcilePhase)
	reconcileReason     = temporal.NewSearchAttributeKeyKeyword(searchattr.ReconcileReason)
	reconcileWaitingFor = temporal.NewSearchAttributeKeyKeywordList(searchattr.ReconcileWaitingFor)
	reconcileLabels     = temporal.NewSearchAttributeKeyKeywordList(searchattr.ReconcileLabels)
	reconcileNeeds      = temporal.NewSearchAttributeKeyKeywordList(searchattr.ReconcileNeeds)
)

// keywordMax is what SQL stores hold of a Keyword, in characters: a longer value
// makes the workflow invisible to every list.
const keywordMax = 255

// SearchAttributes are the names and types that a namespace must know.
func SearchAttributes() map[string]enumspb.IndexedValueType {
	return map[string]enumspb.IndexedValueType{
		armType.GetName():             enumspb.INDEXED_VALUE_TYPE_KEYWORD,
		armSubscription.GetName():     enumspb.INDEXED_VALUE_TYPE_KEYWORD,
		armResourceGroup.GetName():    enumspb.INDEXED_VALUE_TYPE_KEYWORD,
		armOwner.GetName():            enumspb.INDEXED_VALUE_TYPE_KEYWORD,
		reconcilePhase.GetName():      enumspb.INDEXED_VALUE_TYPE_KEYWORD,
		reconcileReason.GetName():     enumspb.INDEXED_VALUE_TYPE_KEYWORD,
		reconcileWaitingFor.GetName(): enumspb.INDEXED_VALUE_TYPE_KEYWORD_LIST,
		reconcileLabels.GetName():     enumspb.INDEXED_VALUE_TYPE_KEYWORD_LIST,
		reconcileNeeds.GetName():      enumspb.INDEXED_VALUE_TYPE_KEYWORD_LIST,
	}
}

// IdentityAttributes are the search attributes that follow from the manifest; a
// starter sets them at the start, the workflow keeps them true.
func IdentityAttributes(desired resource.Desired) temporal.SearchAttributes {
	updates := []temporal.SearchAttributeUpdate{
		armType.ValueSet(keyword(desired.ID.Type())),
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

// labelKeywords are the labels as "key=value", sorted.
func labelKeywords(labels map[string]string) []string {
	words := make([]string, 0, len(labels))
	for key, value := range labels {
		words = append(words, keyword(key+"="+value))
	}
	sort.Strings(words)
	return words
}

// searchAttributeMax is what the server takes of one search attribute, in bytes:
// beyond it, it terminates the workflow.
const searchAttributeMax = 2048

// labelsFit reports whether ReconcileLabels can hold the labels, as JSON.
func labelsFit(labels map[string]string) bool {
	encoded, err := json.Marshal(labelKeywords(labels))
	return err == nil && len(encoded) <= searchAttributeMax
}

// keyword cuts a value to what SQL stores hold.
func keyword(value string) string {
	if utf8.RuneCountInString(value) <= keywordMax {
		return strings.ToValidUTF8(value, "")
	}
	return string([]rune(value)[:keywordMax])
}

// Memo keys: identity of the resource for lists when no worker answers.
const (
	MemoID         = "id"
	MemoName       = "name"
	MemoAPIVersion = "apiVersion"
	MemoPolicy     = "policy"
)

// Memo is what a starter writes beside the workflow.
func Memo(desired resource.Desired) map[string]any {
	return map[string]any{
		MemoID:         desired.ID.String(),
		MemoName:       desired.Name,
		MemoAPIVersion: desired.APIVersion,
		MemoPolicy:     string(desired.Policy),
	}
}
