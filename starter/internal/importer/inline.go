package importer

import (
	"strings"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/convert"
)

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
		if !convert.IsListOf(property, child.Type()) {
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
