package activities

import (
	"fmt"
	"slices"
	"strings"

	"github.com/armature-io/armature/activities/contents"
	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/resource"
)

// replaces reports whether a resource is deleted and created again, because Azure refuses to
// change a property of it: its manifest states recreate: on-immutable, and a user approved
// it. Otherwise it adds to the verdict of the refusal what would do that, or why nothing
// does.
func (p *put) replaces(failure *arm.Error, verdict *resource.Verdict) bool {
	desired := p.in.Desired
	if failure.Refusal() != arm.RefusalImmutable || desired.Recreate != resource.RecreateOnImmutable || !p.request.Object.Exists() {
		return false
	}
	switch refusals := replaceRefusals(p.registry, desired); {
	case len(refusals) > 0:
		verdict.Message += "; recreate: on-immutable does not replace it, because " + refusals[0].Text()
		return false
	case !p.in.Approved.Replacement:
		verdict.Message += fmt.Sprintf("; armature reconcile --recreate %s deletes it and creates it again (recreate: on-immutable)", desired.ID.Short())
		return false
	}
	return true
}

// reasonNameKept is the reason of a replacement whose name Azure keeps.
const reasonNameKept resource.Reason = "NameKept"

// DeletionRefusal is a reason that a resource may not be deleted.
type DeletionRefusal struct {
	Reason  resource.Reason `json:"reason"`
	Message string          `json:"message"`
	// Remedy is the next step of a user.
	Remedy string `json:"remedy"`
}

// String returns the refusal with its reason.
func (r DeletionRefusal) String() string { return string(r.Reason) + ": " + r.Text() }

// Text returns the refusal as one sentence.
func (r DeletionRefusal) Text() string { return r.Message + "; " + r.Remedy }

// replaceRefusals returns why a resource is never replaced, whatever Azure and a user say.
func replaceRefusals(registry *extensionhost.Registry, desired resource.Desired) []DeletionRefusal {
	var refusals []DeletionRefusal
	refuse := func(reason resource.Reason, remedy, message string, of ...any) {
		refusals = append(refusals, DeletionRefusal{reason, fmt.Sprintf(message, of...), remedy})
	}
	name, resourceType := desired.ID.Short(), desired.ID.Type()
	again := fmt.Sprintf("`armature delete %s` and then `armature apply` make a new one", name)
	if desired.Policy.PreventsDelete() || desired.Policy.Detaches() {
		refuse(resource.ReasonProtected, "apply its manifest with policy manage first", "policy %s allows no DELETE", desired.Policy)
	}
	if desired.Adopt == resource.AdoptOnly {
		refuse(resource.ReasonNotFound, "apply its manifest without adopt: only first", "adopt: only creates nothing")
	}
	if registry.Facts(resourceType).Purge.Known() {
		refuse(reasonNameKept, "state reconcile.delete.purge: true in its manifest and apply it; then "+again,
			"Azure keeps the name of a deleted one until it is purged, and refuses a new one")
	}
	if recreation := registry.Recreation(resourceType); recreation.Default == resource.RecreateNever {
		refuse(resource.ReasonContainsData, "save what you need; then "+again,
			"a new one does not bring back what is lost: %s %s", resourceType, recreation.Loss)
	}
	return refusals
}

// replaceDependentRefusal returns why a managed resource that needs another one prevents its
// replacement, nil if it falls with the other one and is created again after it.
func replaceDependentRefusal(registry *extensionhost.Registry, replaced resource.ID, dependent Dependent) *DeletionRefusal {
	name := contents.DisplayName(dependent.ID)
	loss := registry.Recreation(dependent.ID.Type())
	switch {
	case !Contains(replaced, dependent.ID):
		return &DeletionRefusal{
			resource.ReasonWaitingForDependents, name + " needs it",
			fmt.Sprintf("`armature delete %s` first, then replace %s, then `armature apply` makes it again", dependent.ID.Short(), replaced.Short()),
		}
	case dependent.Deleting:
		return &DeletionRefusal{resource.ReasonWaitingForDependents, name + " in it is being deleted", "repeat the command once it is gone"}
	case dependent.Policy != resource.PolicyManage:
		return &DeletionRefusal{
			resource.ReasonContainsProtected, fmt.Sprintf("policy %s keeps %s in it", dependent.Policy, name), "apply its manifest with policy manage first",
		}
	case loss.Default == resource.RecreateNever:
		return &DeletionRefusal{
			resource.ReasonContainsData, fmt.Sprintf("a new %s does not bring back what is lost: %s %s", name, dependent.ID.Type(), loss.Loss),
			fmt.Sprintf("save what you need; then `armature delete %s --cascade --with-data` and `armature apply` make new ones", replaced.Short()),
		}
	}
	return nil
}

// rememberImmutable adds the values to the memory that Azure refuses to change, so that a plan
// knows them.
func (p *put) rememberImmutable(failure *arm.Error) {
	if failure.Refusal() != arm.RefusalImmutable || !p.request.Object.Exists() {
		return
	}
	if paths := immutablePaths(failure, p.changed); len(paths) > 0 {
		p.remember(p.request.Baseline.WithImmutable(paths))
	}
}

// immutablePaths returns the changed paths that a refusal names. If it names none, it returns all
// but the tags, because Azure may mean each of them.
func immutablePaths(failure *arm.Error, changed []string) []string {
	names := [][]string{nameSteps(failure.Target)}
	texts := []string{failure.Message}
	for _, detail := range failure.Details {
		names, texts = append(names, nameSteps(detail.Target)), append(texts, detail.Message)
	}
	for _, text := range texts {
		for _, at := range nameForm.FindAllStringIndex(text, -1) {
			word := text[at[0]:at[1]]
			if steps := nameSteps(word); len(steps) > 1 || quoted(text, at[0], at[1]) || isCamelCase(word) || isProperty(text[at[1]:]) {
				names = append(names, steps)
			}
		}
	}
	named, others := []string{}, []string{}
	for _, text := range changed {
		path, err := resource.ParsePath(text)
		switch {
		case err != nil || strings.EqualFold(path[0].Name, "tags"):
		case slices.ContainsFunc(names, func(steps []string) bool { return containsSteps(propertyNames(path), steps) }):
			named = append(named, text)
		default:
			others = append(others, text)
		}
	}
	if len(named) > 0 {
		return named
	}
	return others
}

// isProperty reports whether the text after a word says that the word names a property.
func isProperty(after string) bool {
	for _, noun := range []string{" property", " field", " setting"} {
		if strings.HasPrefix(strings.ToLower(after), noun) {
			return true
		}
	}
	return false
}

// containsSteps reports whether steps follow one another in a path.
func containsSteps(path, steps []string) bool {
	for i := range path {
		if len(steps) > 0 && i+len(steps) <= len(path) && slices.Equal(path[i:i+len(steps)], steps) {
			return true
		}
	}
	return false
}
