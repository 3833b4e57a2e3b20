package extensionhost

import (
	"cmp"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

// Recreation returns whether a resource of a type is recreated by default, and the
// words for it: from the last entry that states it, else from the published shape of
// the type and from its name.
func (r *Registry) Recreation(resourceType string) extensions.Recreation {
	known := r.Facts(resourceType).Recreation
	if known.Default == "" && known.Loss != "" {
		known.Default = resource.RecreateNever
	}
	if known.Default != "" {
		return known
	}
	found := publishedRecreation(resourceType)
	found.Default = cmp.Or(found.Default, resource.RecreateAlways)
	return found
}
