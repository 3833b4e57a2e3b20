package extensions

import (
	"cmp"
	"strings"

	"github.com/armature-io/armature/resource"
)

// Recreation states what happens to a resource of a type after it was deleted outside
// Armature, unless its manifest decides (reconcile.recreate).
type Recreation struct {
	// Default is RecreateNever for a type whose resources a PUT does not bring back:
	// the new one is empty, or another one, or costs money. "" states nothing.
	Default resource.Recreate
	// Loss completes "it is not recreated, because it ...".
	Loss string
	// Restore completes "to bring it back, ..."; "" where Azure has no way.
	Restore string
}

// The losses, as Recreation.Loss: why a type is not recreated by itself.
const (
	LossData        = "held data, and the new one would be empty"
	LossIdentity    = "was an identity, and the new one would be another principal without its rights"
	LossRights      = "granted rights, and its removal may be a response to an incident"
	LossCredentials = "held keys or other credentials, and the new one would have others; its removal may be a response to an incident"
	LossMoney       = "is a purchase or a contract, and a new one costs money"
	LossExpires     = "is of a kind that expires or that Azure removes by itself, and a new one would start again"
	LossRuns        = "is of a kind that runs when it is created, and a new one would run again"
)

// Recreation returns whether a resource of a type is recreated by default, and the
// words for it: from the last entry that states it, else from the published shape of
// the type and from its name.
func (r *Registry) Recreation(resourceType string) Recreation {
	if known, ok := r.recreations[strings.ToLower(resourceType)]; ok {
		return known
	}
	found := publishedRecreation(resourceType)
	found.Default = cmp.Or(found.Default, resource.RecreateAlways)
	return found
}
