package extensionhost

import (
	"fmt"

	"github.com/armature-io/armature/extensions"
)

// chain folds the links of type L around the innermost function of type F: the
// first link is the outermost, each one gets the rest as its next. bind turns a
// link and its next into one function.
func chain[L, F any](links []L, innermost F, bind func(link L, next F) F) F {
	for i := len(links) - 1; i >= 0; i-- {
		innermost = bind(links[i], innermost)
	}
	return innermost
}

// implementing returns the links that implement the point L, in order.
func implementing[L any](links []any) []L {
	var found []L
	for _, link := range links {
		if point, ok := link.(L); ok {
			found = append(found, point)
		}
	}
	return found
}

// nameOf returns the display name of a link.
func nameOf(link any) string {
	if named, ok := link.(extensions.Named); ok {
		return named.ExtensionName()
	}
	return fmt.Sprintf("extension %T", link)
}
