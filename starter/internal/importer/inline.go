package importer

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
)

// withoutInline returns the results without the items in bodies that are results themselves,
// such as the subnets of a network: as manifests the two would overwrite each other, so a
// plan refuses both.
func withoutInline(results []activities.ImportResourceResult) []activities.ImportResourceResult {
	results = slices.Clone(results)
	at := map[string]int{}
	for i, result := range results {
		at[result.ID.Key()] = i
	}
	bodies := map[int]map[string]any{}
	for _, result := range results {
		i, found := at[result.ID.Owner().Key()]
		if !found || !result.ID.IsChild() {
			continue
		}
		if bodies[i] == nil {
			body, err := resource.DecodeBody(results[i].Body)
			if err != nil {
				continue // its own manifest reports it
			}
			bodies[i] = body
		}
		dropInline(bodies[i], result.ID)
	}
	for i, body := range bodies {
		if raw, err := json.Marshal(body); err == nil {
			results[i].Body = raw
		}
	}
	return results
}

// dropInline removes the item of a child from the lists of its parent's body.
func dropInline(body map[string]any, child resource.ID) {
	properties, _ := member(body, "properties").(map[string]any)
	for _, object := range []map[string]any{body, properties} {
		for name := range object {
			if isListOf(name, child.Type()) {
				dropItem(object, name, child)
			}
		}
	}
}

// member returns a member of an object, ignoring case.
func member(object map[string]any, name string) any {
	for candidate, value := range object {
		if strings.EqualFold(candidate, name) {
			return value
		}
	}
	return nil
}

// isListOf reports whether a property is the list of the parent's children of a type. It is
// the rule by which package manifest refuses an item that is a manifest too.
func isListOf(property, childType string) bool {
	last := strings.ToLower(childType[strings.LastIndex(childType, "/")+1:])
	property = strings.ToLower(property)
	return property == last || property == strings.TrimSuffix(last, "s")+"profiles"
}

// dropItem removes the item of a child from a list, and the list with its last item.
func dropItem(object map[string]any, name string, id resource.ID) {
	items, isList := object[name].([]any)
	if !isList {
		return
	}
	kept := []any{}
	for _, item := range items {
		stated, _ := item.(map[string]any)
		itemName, _ := stated["name"].(string)
		itemID, _ := stated["id"].(string)
		if !strings.EqualFold(itemName, id.Name()) && !strings.EqualFold(itemID, id.String()) {
			kept = append(kept, item)
		}
	}
	switch {
	case len(kept) == len(items):
	case len(kept) == 0:
		delete(object, name)
	default:
		object[name] = kept
	}
}
