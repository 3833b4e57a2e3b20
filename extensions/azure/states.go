package azure

import (
	"slices"
	"strings"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

// provisioningState is where ARM's contract puts the state of the last
// operation.
const provisioningState = "properties.provisioningState"

// equalFoldAny reports whether a state is one of the given ones, ignoring case,
// which providers vary.
func equalFoldAny(state string, others ...string) bool {
	return slices.ContainsFunc(others, func(other string) bool { return strings.EqualFold(other, state) })
}

// unsettled returns the state at a path and reports whether it is none of the
// settled ones. An absent, null or odd value is no state: ARM defines an absent
// state as Succeeded, and what is absent blocks nothing.
func unsettled(object *resource.Object, path string, settled ...string) (string, bool) {
	state, _ := object.StringAt(path)
	return state, state != "" && !equalFoldAny(state, settled...)
}

// isType reports whether an object exists and has a type.
func isType(object *resource.Object, resourceType string) bool {
	return object != nil && strings.EqualFold(object.ID.Type(), resourceType)
}

// textAt returns a value of an object as a text, "" for a value of another kind.
func textAt(value any, _ bool) string {
	text, _ := value.(string)
	return text
}

// prefixStopped puts the text of a type before the block of a default that leaves
// the resource stopped. Other results stay as they are.
func prefixStopped(result extensions.PreReconcileCheckResult, text string) extensions.PreReconcileCheckResult {
	if result.Reason() == resource.ReasonStopped {
		return result.WithPrefix(text)
	}
	return result
}

// permanent returns an error that no retry resolves.
func permanent(err error) error {
	return extensions.NewReadyConditionImpactingError(err, resource.SeverityError, resource.ReasonFailed)
}
