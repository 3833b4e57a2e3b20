package azure

import (
	"strings"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/types"
)

var _ extensions.InlineLister = publishedLists{}

// publishedLists are the lists of child resources that the published shapes of a type
// and its children show, not a list of services.
type publishedLists struct{}

// patchingProvider handles a PUT like a PATCH: what a body omits stays, a list
// that it contains is the whole list (learn.microsoft.com, PUT calls for creation
// or updates on compute resources).
const patchingProvider = "microsoft.compute/"

// InlineLists returns the lists in the body of a type.
func (publishedLists) InlineLists(resourceType string) []extensions.InlineList {
	var lists []extensions.InlineList
	patches := strings.HasPrefix(strings.ToLower(resourceType), patchingProvider)
	for _, list := range types.InlineLists(resourceType) {
		lists = append(lists, extensions.InlineList{Path: strings.Join(list.Path, "."), Types: list.Children, KeptWhenOmitted: patches})
	}
	return lists
}
