package drift

import (
	"strings"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// maxUnstated bounds the hashes of unstated values in a Baseline. A value beyond the
// bound counts as set by another tool, and is sent back.
const maxUnstated = 2000

// KeepsOthers reports whether Keep knows what it may send back for a type: its shape is
// published.
func KeepsOthers(resourceType string) bool {
	_, published := types.Spelled(resourceType)
	return published
}

// Keep returns the body of a PUT that takes nothing away: desired, and the values of
// observed that desired does not state and that another tool or user set since the last
// PUT of Armature. What the service had set by itself at that PUT (Options.Baseline) is
// left to the service, so that a new SKU does not meet the size of the old one. Without a
// baseline of unstated values, as for an adopted resource, all of them are kept. Items of
// a list that desired states are desired's alone; items with the same key keep the values
// that desired does not state. Only what the published shape has as writable is kept.
//
// observed must be unmasked, and neither is changed. kept are the paths of the values that
// were kept, for Options.Kept of NewBaseline.
func Keep(desired, observed map[string]any, opts Options) (payload map[string]any, kept PathSet) {
	others := othersOf(desired, observed, opts)
	k := keeper{unstated: opts.Baseline.Unstated.decoded(), hash: hasher{opts.Key}, kept: map[pathHash]int{}}
	whole := Clone(others)
	k.members(desired, others, nil)
	if shape := types.Lookup(opts.Type, opts.APIVersion); shape != nil {
		complete(shape.Body, desired, others, whole)
	}
	payload = Clone(desired)
	if payload == nil {
		payload = map[string]any{}
	}
	addUnstated(payload, others)
	return payload, newPathSet(k.kept, maxUnstated)
}

// unstatedValues returns the hashes of the values of observed that desired does not state,
// with their paths, but for those that the last PUT kept for another tool: what the
// service set by itself.
func unstatedValues(desired, observed map[string]any, opts Options) PathSet {
	k := keeper{hash: hasher{opts.Key}, kept: map[pathHash]int{}, own: map[pathHash]int{}, before: opts.Kept.decoded()}
	k.members(desired, othersOf(desired, observed, opts), nil)
	for _, path := range maskedSecrets(desired, observed, opts) {
		if !k.before.has(path) {
			k.own[placeholderHash(path)] = len(path)
		}
	}
	return newPathSet(k.own, maxUnstated)
}

// othersOf returns what a PUT may send back of observed, without the lists of child
// resources that desired does not state: those are kept as children (extensions).
func othersOf(desired, observed map[string]any, opts Options) map[string]any {
	others := echoes(desired, Clone(observed), opts.Type, opts.APIVersion)
	for name := range others {
		if setByARM(name) {
			delete(others, name)
		}
	}
	for _, list := range types.InlineLists(opts.Type) {
		parent, stated := others, desired
		for _, step := range list.Path[:len(list.Path)-1] {
			_, value, _ := property(parent, step)
			parent, _ = value.(map[string]any)
			_, value, _ = property(stated, step)
			stated, _ = value.(map[string]any)
		}
		last := list.Path[len(list.Path)-1]
		if name, _, present := property(parent, last); present {
			if _, _, isStated := property(stated, last); !isStated {
				delete(parent, name)
			}
		}
	}
	return others
}

// keeper walks through the values that desired does not state. A value is a leaf: a
// scalar, an empty mapping, or a whole list.
type keeper struct {
	// unstated are the hashes of what the service had set by itself.
	unstated decodedSet
	hash     hasher
	// kept collects the paths of the other values; own, if it is not nil, the hashes of
	// those that are not among the paths before.
	kept, own map[pathHash]int
	before    decodedSet
}

// members removes from others what is not kept.
func (k *keeper) members(desired, others map[string]any, path resource.Path) {
	for name := range inOrder(others) {
		below := path.With(resource.Step{Name: name})
		_, stated, isStated := property(desired, name)
		if isStated {
			k.stated(stated, others[name], below)
			continue
		}
		if !k.unstatedValue(others[name], below) {
			delete(others, name)
		}
	}
}

// stated descends into a value that desired states, to what it does not state inside.
func (k *keeper) stated(desired, others any, path resource.Path) {
	switch at := others.(type) {
	case map[string]any:
		if own, ok := desired.(map[string]any); ok {
			k.members(own, at, path)
		}
	case []any:
		own, _ := desired.([]any)
		key := identifyingKey(own, at)
		if key == "" {
			return
		}
		for i, j := range matchByKey(own, at, key) {
			if j >= 0 {
				k.stated(own[i], at[j], path.With(resource.Step{Key: key, Value: keyOf(at[j], key)}))
			}
		}
	}
}

// unstatedValue reports whether anything of a value is kept.
func (k *keeper) unstatedValue(value any, path resource.Path) bool {
	if members, ok := value.(map[string]any); ok && len(members) > 0 {
		k.members(nil, members, path)
		return len(members) > 0
	}
	at := hashPath(path)
	leaf := hashPath(append(path, resource.Step{Name: "=" + k.hash.sum(value)}))
	if resource.Masked(value) || resource.SecretName(path[len(path)-1].Name) {
		leaf = hashPath(append(path, resource.Step{Name: "= secret"}))
	}
	if k.own != nil && !k.before.has(path) {
		k.own[leaf] = len(path)
	}
	if k.unstated.hasHash(leaf) {
		return false
	}
	k.kept[at] = len(path)
	return true
}

// complete adds back to the mappings of others that desired does not state, and that lost
// some members, the members that the shape requires: a service refuses a part of an
// object. What desired states is complete as it is: the tier of the last SKU does not
// belong to a new one.
func complete(n *types.Node, desired, others, whole map[string]any) {
	lists, additional := formOf(n, whole, whole)
	for name, value := range others {
		p, found := propertyIn(lists, name)
		if !found && additional != nil {
			p, found = types.Property{Type: additional}, true
		}
		inner, isMap := value.(map[string]any)
		outer, _ := whole[name].(map[string]any)
		if found && isMap && outer != nil {
			_, stated, _ := property(desired, name)
			own, _ := stated.(map[string]any)
			complete(p.Type, own, inner, outer)
		}
	}
	if len(desired) > 0 {
		return
	}
	for _, list := range lists {
		for _, p := range list {
			name, value, present := property(whole, p.Name)
			if _, _, kept := property(others, p.Name); present && !kept && p.Has(types.Required) && !p.Has(types.ReadOnly) && len(others) > 0 {
				others[name] = cloneValue(value)
			}
		}
	}
}

// addUnstated adds to a payload the members of others that it does not state.
func addUnstated(payload, others map[string]any) {
	for name, value := range others {
		own, stated, isStated := property(payload, name)
		if !isStated {
			payload[name] = value
			continue
		}
		switch at := value.(type) {
		case map[string]any:
			if object, ok := stated.(map[string]any); ok && !isMarker(object) {
				addUnstated(object, at)
			}
		case []any:
			if items, ok := stated.([]any); ok {
				payload[own] = addToItems(items, at)
			}
		}
	}
}

// addToItems adds to the items of a list the members that they do not state and that the
// items with the same key have.
func addToItems(items, others []any) []any {
	key := identifyingKey(items, others)
	if key == "" {
		return items
	}
	for i, at := range matchByKey(items, others, key) {
		object, ok := items[i].(map[string]any)
		if at < 0 || !ok {
			continue
		}
		if more, ok := others[at].(map[string]any); ok {
			addUnstated(object, more)
		}
	}
	return items
}

// isPlaceholder reports whether a text stands for a secret that a service does not show:
// asterisks or bullets only.
func isPlaceholder(value any) bool {
	text, ok := value.(string)
	return ok && len(text) >= 3 && strings.Trim(text, "*•") == ""
}
