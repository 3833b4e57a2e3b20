package importer

import (
	"strings"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/activities/importing"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/convert"
)

// inlineItems are the names, in lower case, of the items of the lists in a body.
type inlineItems map[string][]string

// inlineOf returns the lists in the body of a result that have items with names: as Azure has
// them, or as the manifest of a managed resource states them.
func (w *walk) inlineOf(result activities.ImportResourceResult) inlineItems {
	if w.ByManifest && result.Managed {
		return result.StatedItems
	}
	body, err := resource.DecodeBody(result.Body)
	if err != nil {
		return nil // its manifest reports it
	}
	return importing.NamedItems(body)
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
