package importer

import (
	"strings"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
)

// IsListOf reports whether a property is the list of the parent's children of a type. It is
// the rule by which package manifest refuses an item that is a manifest too.
func IsListOf(property, childType string) bool {
	last := strings.ToLower(childType[strings.LastIndex(childType, "/")+1:])
	property = strings.ToLower(property)
	return property == last || property == strings.TrimSuffix(last, "s")+"profiles"
}

// inlineItems are the names, in lower case, of the items of the lists in a body.
type inlineItems map[string][]string

// inlineOf returns the lists in the body of a result that have items with names.
func inlineOf(result activities.ImportResourceResult) inlineItems {
	body, err := resource.DecodeBody(result.Body)
	if err != nil {
		return nil // its manifest reports it
	}
	found := inlineItems{}
	properties, _ := body["properties"].(map[string]any)
	for _, object := range []map[string]any{body, properties} {
		for property, value := range object {
			items, _ := value.([]any)
			for _, item := range items {
				stated, _ := item.(map[string]any)
				if name, ok := stated["name"].(string); ok {
					found[property] = append(found[property], strings.ToLower(name))
				}
			}
		}
	}
	return found
}

// have reports whether one of the lists has a child of the resource.
func (lists inlineItems) have(child resource.ID) bool {
	for property, names := range lists {
		if !IsListOf(property, child.Type()) {
			continue
		}
		for _, name := range names {
			if strings.EqualFold(name, child.Name()) {
				return true
			}
		}
	}
	return false
}
