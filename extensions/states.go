package extensions

import (
	"slices"
	"strings"

	"github.com/armature-io/armature/resource"
)

// provisioningState is where ARM's contract puts the state of the last
// operation.
const provisioningState = "properties.provisioningState"

// among reports whether a state is one of the words, ignoring case: providers
// spell them as they like.
func among(state string, words ...string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.EqualFold(word, state) })
}

// unsettled is the word at a path if it is none of those in which a resource
// rests. An absent, null or odd value is no word: ARM defines an absent state as
// Succeeded, and what is not there blocks nothing.
func unsettled(object *resource.Object, path string, resting ...string) (string, bool) {
	state, _ := object.StringAt(path)
	return state, state != "" && !among(state, resting...)
}

// isType reports whether an object is there and of a type.
func isType(object *resource.Object, resourceType string) bool {
	return object != nil && strings.EqualFold(object.ID.Type(), resourceType)
}
