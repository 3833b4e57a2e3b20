package drift

import (
	"strings"

	"github.com/armature-io/armature/internal/jsontree"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// selectors are the members of the envelope whose value decides what else a service
// accepts, by the path of their object as pattern writes it.
var selectors = map[string][]string{"": {"kind"}, "sku": {"name", "tier"}, "identity": {"type"}}

// changedSelectors returns the paths, as pattern writes them, of the objects in which
// desired states another selector than observed shows: one of selectors, or a published
// discriminator. Objects in lists are not among them.
func changedSelectors(desired, observed map[string]any, opts Options) map[string]bool {
	changed := map[string]bool{}
	for object, members := range selectors {
		own, shown := desired, observed
		if object != "" {
			own, shown = jsontree.Object(desired, object), jsontree.Object(observed, object)
		}
		for _, member := range members {
			if differentTexts(own, shown, member) {
				changed[object] = true
			}
		}
	}
	if shape := types.Lookup(opts.Type, opts.APIVersion); shape != nil {
		changedForms(shape.Body, desired, observed, nil, changed)
	}
	return changed
}

// changedForms adds the objects with another published form.
func changedForms(n *types.Node, desired, observed map[string]any, path resource.Path, changed map[string]bool) {
	if n.Kind == types.Discriminated && differentTexts(desired, observed, n.Discriminator) {
		changed[pattern(path)] = true
	}
	members := publishedMembers(n, desired, observed)
	for name, value := range desired {
		p, found := members.Property(name)
		own, isMap := value.(map[string]any)
		_, shown, _ := jsontree.Member(observed, name)
		if at, ok := shown.(map[string]any); ok && found && isMap {
			changedForms(p.Type, own, at, path.With(resource.Step{Name: name}), changed)
		}
	}
}

// differentTexts reports whether both objects have different texts as a member.
func differentTexts(desired, observed map[string]any, member string) bool {
	own, isText := jsontree.Value(desired, member).(string)
	shown, isShown := jsontree.Value(observed, member).(string)
	return isText && isShown && !strings.EqualFold(own, shown)
}

// isDependent reports whether an unstated member cannot be kept beside the selector that
// desired states. Identities that are assigned need a type that says so. Without a
// baseline nothing shows what the service had set for the last selector, so that all
// members beside it are left to the service.
func (k *keeper) isDependent(desired map[string]any, path resource.Path, name string) bool {
	if len(path) == 0 {
		return false
	}
	at := pattern(path)
	if at == "identity" && strings.EqualFold(name, "userAssignedIdentities") {
		text, isText := jsontree.Value(desired, "type").(string)
		return isText && !strings.Contains(strings.ToLower(text), "userassigned")
	}
	return !k.sent && k.changed[at]
}
