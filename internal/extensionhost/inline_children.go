package extensionhost

import (
	"context"
	"log/slog"
	"slices"
	"strings"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/internal/jsontree"
	"github.com/armature-io/armature/resource"
)

var _ extensions.ARMResourceModifier = childKeeper{}

// childKeeper keeps what a PUT of a parent would delete: the items of lists in
// its body that are child resources too, such as the subnets of a network. It
// adds the children that Azure shows and the body does not name to the payload,
// except those that are being deleted.
type childKeeper struct {
	lists []inlineList
}

// inlineList is an InlineList with its path parsed.
type inlineList struct {
	path            resource.Path
	keptWhenOmitted bool
	// allOrNone are the members that Azure takes in all items or in none.
	allOrNone []string
}

// ModifyARMResource adds the children; obj is what a GET shows now, unmasked.
func (k childKeeper) ModifyARMResource(
	ctx context.Context,
	payload map[string]any,
	obj *resource.Object,
	owner *resource.Object,
	resolver extensions.Resolver,
	client extensions.ARMClient,
	log *slog.Logger,
	next extensions.ARMResourceModifierFunc,
) (map[string]any, error) {
	for _, list := range k.lists {
		list.keep(payload, obj.Observed)
		list.align(payload, obj.Desired)
	}
	return next(ctx, payload, obj, owner, resolver, client, log)
}

// keep adds to the list of a payload the items that only observed has. A body
// that omits the list gets it only where its items are whole resources, which ARM
// would otherwise delete. Items of another shape are a view of the children, and
// a PUT without the list leaves them alone.
func (l inlineList) keep(payload, observed map[string]any) {
	value, _ := l.path.Get(observed)
	shown, _ := value.([]any)
	desired, _ := l.path.Get(payload)
	listed, isList := desired.([]any)
	if desired != nil && !isList {
		return // for ARM to refuse
	}
	// A copy: the path leads into observed, which must not change.
	kept := append([]any{}, listed...)
	for _, child := range shown {
		object, _ := child.(map[string]any)
		name, _ := object["name"].(string)
		_, stated := resource.Step{Key: "name", Value: name}.Get(listed)
		if name == "" || stated || isDeleting(object) || desired == nil && (l.keptWhenOmitted || object["properties"] == nil) {
			continue
		}
		kept = append(kept, jsontree.Clone(object))
	}
	if len(kept) > len(listed) {
		l.path.Set(payload, kept)
	}
}

// align leaves the members allOrNone out of the items of a payload that the manifest does not state,
// if one that it states lacks them.
func (l inlineList) align(payload, manifest map[string]any) {
	stated := l.items(manifest)
	own := func(item any) bool {
		object, _ := item.(map[string]any)
		name, _ := object["name"].(string)
		_, found := resource.Step{Key: "name", Value: name}.Get(stated)
		return found
	}
	for _, member := range l.allOrNone {
		listed := l.items(payload)
		if !slices.ContainsFunc(listed, func(item any) bool { return own(item) && lacks(item, member) }) {
			continue
		}
		aligned := jsontree.Clone(listed)
		for _, item := range aligned {
			if object, _ := item.(map[string]any); !own(item) {
				delete(object, member)
			}
		}
		l.path.Set(payload, aligned)
	}
}

func (l inlineList) items(body map[string]any) []any {
	value, _ := l.path.Get(body)
	items, _ := value.([]any)
	return items
}

func lacks(item any, member string) bool {
	object, _ := item.(map[string]any)
	return object[member] == nil
}

// ChildLists returns the paths of the lists in a body whose items are children, which a PUT
// keeps.
func (r *Registry) ChildLists(resourceType string) []string {
	var paths []string
	for _, list := range r.childFacts(resourceType).lists {
		paths = append(paths, list.path.String())
	}
	return paths
}

// isDeleting reports whether a child is being deleted.
func isDeleting(child map[string]any) bool {
	properties, _ := child["properties"].(map[string]any)
	if properties == nil {
		properties = child
	}
	state, _ := properties["provisioningState"].(string)
	return strings.EqualFold(state, "Deleting")
}
