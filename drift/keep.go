package drift

import (
	"maps"
	"slices"
	"strings"

	"github.com/armature-io/armature/internal/jsontree"
	"github.com/armature-io/armature/types"
)

// maxServiceValues bounds the hashes of the service's values in a Baseline. A value beyond
// the bound counts as set by another tool, and is sent back.
const maxServiceValues = 2000

// maxOthers and maxOtherBytes bound Baseline.Others and each path in it.
const maxOthers, maxOtherBytes = 50, 200

// KeepsOthers reports whether Body knows what it may send back for a type: its shape is
// published.
func KeepsOthers(resourceType string) bool {
	_, published := types.Spelled(resourceType)
	return published
}

// keep returns the body of a PUT that takes nothing away: desired, and the values of
// observed that desired does not state and that another tool or user set since the last
// PUT of Armature. The values that the service had set by itself at that PUT
// (Options.Baseline) are left to the service, so that a new SKU does not meet the size of
// the old one. Without a baseline of the service's values, as for an adopted resource, all
// of them are kept. Items of a list that desired states are desired's alone, unless other
// writers are known to add some (SharedList) or allItems keeps the items with a key; items
// with the same key keep the values that desired does not state. Only properties that are
// writable in the published shape are kept.
//
// observed must be unmasked, and neither is changed. paths are those of the values of
// others, for Options.Kept of NewBaseline.
func keep(desired, observed map[string]any, opts Options, allItems bool) (payload map[string]any, paths PathSet) {
	others := othersOf(desired, observed, opts)
	k := newKeeper(observed, opts)
	k.changed, k.allItems = changedSelectors(desired, observed, opts), allItems
	whole := jsontree.Clone(others)
	k.members(others, sides{value: others, desired: desired})
	if shape := types.Lookup(opts.Type, opts.APIVersion); shape != nil {
		complete(shape.Body, desired, others, whole)
	}
	payload = jsontree.Clone(desired)
	if payload == nil {
		payload = map[string]any{}
	}
	addOthers(payload, others)
	return payload, newPathSet(k.keptPaths, maxServiceValues)
}

// noteOthers sets ServiceValues, Others, Answer and Parts after a PUT. Values that the PUT kept
// for another tool are none of the service.
func (b *Baseline) noteOthers(desired, observed map[string]any, opts Options) {
	c := leafCollector{subject: opts.sender(observed), hash: hasher{opts.Key}}
	c.inside(sides{value: othersOf(desired, observed, opts), desired: desired})
	ofOthers, own := opts.Kept.decode(), map[pathHash]int{}
	for _, leaf := range c.leaves {
		if !leaf.item && !ofOthers.has(leaf.Path) {
			own[c.hash.leaf(leaf.Value, leaf.Path)] = len(leaf.Path)
		}
	}
	for _, path := range maskedSecrets(desired, observed, opts) {
		if !ofOthers.has(path) {
			own[placeholderHash(path)] = len(path)
		}
	}
	b.ServiceValues, b.Parts, b.Others = newPathSet(own, maxServiceValues), opts.Completed, nil
	for _, leaf := range c.leaves {
		text := leaf.Path.String()
		if len(b.Others) < maxOthers && len(text) <= maxOtherBytes && leaf.isRemovable() {
			b.Others = append(b.Others, text)
		}
	}
	if b.Answer = ""; opts.Answer != nil {
		b.Answer = c.hash.bytes(opts.Answer)
	}
}

// othersOf returns what a PUT of desired may send back of observed.
func othersOf(desired, observed map[string]any, opts Options) map[string]any {
	return withoutFixed(desired, echoes(desired, jsontree.Clone(observed), opts), opts)
}

// keeper walks through the values that desired does not state. A value is a leaf: a
// scalar, an empty mapping, or a whole list.
type keeper struct {
	// serviceValues are the hashes of what the service had set by itself at the last PUT, if one
	// was sent.
	serviceValues decodedSet
	sent          bool
	hash          hasher
	subject       *subject
	// changed are the objects in which desired states another selector.
	changed map[string]bool
	// allItems is set if the items of others are kept in every list.
	allItems bool
	// keptPaths collects the paths of the other values.
	keptPaths map[pathHash]int
}

func newKeeper(observed map[string]any, opts Options) *keeper {
	return &keeper{
		serviceValues: opts.Baseline.ServiceValues.decode(), sent: opts.Baseline.Sent, hash: hasher{opts.Key},
		subject: opts.sender(observed), keptPaths: map[pathHash]int{},
	}
}

// members removes from others what is not kept.
func (k *keeper) members(others map[string]any, of sides) {
	desired, _ := of.desired.(map[string]any)
	for at := range k.subject.inside(of) {
		switch name := at.name(); {
		case at.isStated:
			others[name] = k.inside(at)
		case k.subject.parts.keepOmitted(at.path), k.isDependent(desired, of.path, name) || !k.keepsValue(at):
			delete(others, name)
		}
	}
}

// inside returns what is kept inside a value that desired states.
func (k *keeper) inside(of sides) any {
	switch others := of.value.(type) {
	case map[string]any:
		if _, isMap := of.desired.(map[string]any); isMap {
			k.members(others, of)
		}
	case []any:
		if _, isList := of.desired.([]any); isList {
			return k.items(of)
		}
	}
	return of.value
}

// keptItems are the parts of a list that are added to a list that desired states.
type keptItems struct {
	// members are added to the item of desired with the same index.
	members map[int]map[string]any
	// foreign are items of other writers by their index in others, at the indexes there of
	// the items of desired.
	foreign map[int]any
	at      map[int]int
}

// items returns what is kept of a list that desired states: what its items do not state,
// and the items that other writers added to a shared list.
func (k *keeper) items(of sides) keptItems {
	result := keptItems{members: map[int]map[string]any{}, foreign: map[int]any{}, at: map[int]int{}}
	list, shared := k.subject.sharing.at(of.path)
	for item := range k.subject.inside(of) {
		switch {
		case !item.keyed: // a guess is good enough for the baseline, not for a PUT
			return result
		case item.isStated:
			k.inside(item)
			result.members[item.own], _ = item.value.(map[string]any)
			result.at[item.own] = item.at
		case k.subject.isImplied(of.path, item.value):
		case shared && list.keeps(item.value), !shared && k.allItems:
			result.foreign[item.at] = item.value
			k.keptPaths[hashPath(item.path)] = len(item.path)
		}
	}
	return result
}

// keepsValue reports whether anything of a value is kept that desired does not state.
func (k *keeper) keepsValue(of sides) bool {
	if members, ok := of.value.(map[string]any); ok && len(members) > 0 {
		k.members(members, of)
		return len(members) > 0
	}
	if k.serviceValues.hasHash(k.hash.leaf(of.value, of.path)) {
		return false
	}
	k.keptPaths[hashPath(of.path)] = len(of.path)
	return true
}

// complete adds back to the mappings of others that desired does not state, and that lost
// some members, the members that the shape requires: a service refuses a part of an
// object. What desired states is complete as it is: the tier of the last SKU does not
// belong to a new one.
func complete(n *types.Node, desired, others, whole map[string]any) {
	members := publishedMembers(n, whole, whole)
	for name, value := range others {
		p, found := members.Find(name)
		inner, isMap := value.(map[string]any)
		outer, _ := whole[name].(map[string]any)
		if found && isMap && outer != nil {
			complete(p.Type, jsontree.Object(desired, name), inner, outer)
		}
	}
	if len(desired) > 0 {
		return
	}
	for p := range members.All() {
		name, value, present := jsontree.Member(whole, p.Name)
		if _, _, isSent := jsontree.Member(others, p.Name); present && !isSent && p.Has(types.Required) && !p.Has(types.ReadOnly) && len(others) > 0 {
			others[name] = jsontree.Clone(value)
		}
	}
}

// addOthers adds to a payload the members of others that it does not state.
func addOthers(payload, others map[string]any) {
	for name, value := range others {
		own, desired, isStated := jsontree.Member(payload, name)
		if !isStated {
			payload[name] = value
			continue
		}
		switch at := value.(type) {
		case map[string]any:
			if object, ok := desired.(map[string]any); ok && !isMarker(object) {
				addOthers(object, at)
			}
		case keptItems:
			if items, ok := desired.([]any); ok {
				payload[own] = addToItems(items, at)
			}
		}
	}
}

// addToItems adds to the items of a list the members that they do not state, and the items of
// other writers. With such items the list has the order that Azure shows; an item that Azure
// lacks follows the one before it.
func addToItems(items []any, others keptItems) []any {
	for i, more := range others.members {
		if object, ok := items[i].(map[string]any); ok {
			addOthers(object, more)
		}
	}
	if len(others.foreign) == 0 {
		return items
	}
	places := maps.Clone(others.foreign)
	following := map[int][]any{} // by the index in others, -1 for the beginning
	last := -1
	for i, item := range items {
		if at, shown := others.at[i]; shown {
			places[at], last = item, at
		} else {
			following[last] = append(following[last], item)
		}
	}
	merged := slices.Clone(following[-1])
	for _, at := range slices.Sorted(maps.Keys(places)) {
		merged = append(append(merged, places[at]), following[at]...)
	}
	return merged
}

// isPlaceholder reports whether a text stands for a secret that a service does not show:
// asterisks or bullets only.
func isPlaceholder(value any) bool {
	text, ok := value.(string)
	return ok && len(text) >= 3 && strings.Trim(text, "*•") == ""
}
