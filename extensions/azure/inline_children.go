package azure

import (
	"strings"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/types"
)

// publishedLists are the lists of child resources that the published shapes of a type
// and its children show, not a list of services.
type publishedLists struct{}

// InlineLists returns the lists in the body of a type.
func (publishedLists) InlineLists(resourceType string) []extensions.InlineList {
	var lists []extensions.InlineList
	for _, list := range types.InlineLists(resourceType) {
		lists = append(lists, extensions.InlineList{Path: strings.Join(list.Path, "."), Types: list.Children})
	}
	return lists
}
