package extensions

import (
	"context"
	_ "embed"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/resource"
)

var (
	_ LinkSource          = childrenKept{}
	_ ARMResourceModifier = childrenKeeper{}
)

// childrenKept keeps what a PUT of a parent would delete: the items of lists in
// its body that are child resources too, such as the subnets of a network. Which
// lists these are is read from the published descriptions of all types, not from
// a list of services.
type childrenKept struct{}

// Links is the keeper of a type that has such lists.
func (childrenKept) Links(resourceType string) []any {
	if lists := inlineChildren()[strings.ToLower(resourceType)]; len(lists) > 0 {
		return []any{childrenKeeper{lists: lists, patches: strings.HasPrefix(strings.ToLower(resourceType), patchingProvider)}}
	}
	return nil
}

// patchingProvider takes a PUT for a PATCH: what a body leaves out stays, a list
// that it states is the whole list (learn.microsoft.com, PUT calls for creation or
// updates on compute resources).
const patchingProvider = "microsoft.compute/"

// inlineList is a list in a parent's body, and the child types of its items,
// relative to the parent ("subnets").
type inlineList struct {
	path  resource.Path
	types []string
}

// inlineText has one line for each list: parent, path, child types.
//
//go:embed inline_children.txt
var inlineText string

// inlineChildren are the lists by parent type in lower case.
var inlineChildren = sync.OnceValue(func() map[string][]inlineList {
	table := map[string][]inlineList{}
	for line := range strings.Lines(inlineText) {
		words := strings.Fields(line)
		if len(words) != 3 || words[0] == "#" {
			continue
		}
		if path, err := resource.ParsePath(words[1]); err == nil {
			parent := strings.ToLower(words[0])
			table[parent] = append(table[parent], inlineList{path: path, types: strings.Split(words[2], ",")})
		}
	}
	return table
})

// childrenKeeper lists in the payload the children that Azure shows and the body
// does not name. One that goes away itself is left out.
type childrenKeeper struct {
	lists []inlineList
	// patches says that the children stay when the body does not state the list.
	patches bool
}

// ModifyARMResource adds the children; obj is what a GET shows now, unmasked.
func (k childrenKeeper) ModifyARMResource(
	ctx context.Context,
	payload map[string]any,
	obj *resource.Object,
	owner *resource.Object,
	resolver Resolver,
	client ARMClient,
	log *slog.Logger,
	next ARMResourceModifierFunc,
) (map[string]any, error) {
	for _, list := range k.lists {
		k.keep(payload, obj.Observed, list.path)
	}
	return next(ctx, payload, obj, owner, resolver, client, log)
}

// keep adds to the list at a path of a payload what only observed has. A
// body that does not state the list gets it only where its items are whole
// resources, which ARM would otherwise take for deleted; items of another shape
// are a view on the children, and a PUT without the list leaves them alone.
func (k childrenKeeper) keep(payload, observed map[string]any, path resource.Path) {
	value, _ := path.Get(observed)
	shown, _ := value.([]any)
	held, _ := path.Get(payload)
	stated, isList := held.([]any)
	if held != nil && !isList {
		return // for ARM to refuse
	}
	// A copy: the path leads into observed, which stays as it is.
	kept := append([]any{}, stated...)
	for _, child := range shown {
		object, _ := child.(map[string]any)
		name, _ := object["name"].(string)
		if name == "" || named(stated, name) || leaving(object) || held == nil && (k.patches || object["properties"] == nil) {
			continue
		}
		kept = append(kept, drift.Clone(object))
	}
	if len(kept) > len(stated) {
		set(payload, path, kept)
	}
}

// withoutKept leaves out of the paths that a PUT would take away the children that
// a keeper of the registry lists in it.
func (r *Registry) withoutKept(resourceType string, drops []string) []string {
	for _, modifier := range implementing[ARMResourceModifier](r.links(resourceType)) {
		keeper, ok := modifier.(childrenKeeper)
		if !ok {
			continue
		}
		drops = slices.DeleteFunc(slices.Clone(drops), func(path string) bool {
			return slices.ContainsFunc(keeper.lists, func(list inlineList) bool {
				start := list.path.String() + "["
				return len(path) > len(start) && strings.EqualFold(path[:len(start)], start) && strings.HasSuffix(path, "]")
			})
		})
	}
	return drops
}

// named reports whether a list has an item of a name; ARM's names ignore case.
func named(list []any, name string) bool {
	for _, item := range list {
		object, _ := item.(map[string]any)
		if text, _ := object["name"].(string); strings.EqualFold(text, name) {
			return true
		}
	}
	return false
}

// leaving reports whether a child is being deleted.
func leaving(child map[string]any) bool {
	properties, _ := child["properties"].(map[string]any)
	if properties == nil {
		properties = child
	}
	state, _ := properties["provisioningState"].(string)
	return strings.EqualFold(state, "Deleting")
}

// set writes a value at a path of properties, making the objects on the way.
func set(body map[string]any, path resource.Path, value any) {
	at := body
	for _, step := range path[:len(path)-1] {
		found, _ := step.Get(at)
		next, ok := found.(map[string]any)
		if !ok {
			next = map[string]any{}
			at[spelt(at, step.Name)] = next
		}
		at = next
	}
	at[spelt(at, path[len(path)-1].Name)] = value
}

// spelt is the property's name as the body spells it.
func spelt(body map[string]any, name string) string {
	for known := range body {
		if strings.EqualFold(known, name) {
			return known
		}
	}
	return name
}
