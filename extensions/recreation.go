package extensions

import "github.com/armature-io/armature/resource"

// Recreation states what happens to a resource of a type after it was deleted outside
// Armature, unless its manifest decides (reconcile.recreate).
type Recreation struct {
	// Default is RecreateNever for a type whose resources a PUT does not bring back:
	// the new one is empty, or another one, or costs money. A Loss implies it.
	Default resource.Recreate `yaml:"default"`
	// Loss is lost in a recreation.
	Loss Loss `yaml:"loss"`
	// Restore completes "to bring it back, ..."; "" if Azure has no way.
	Restore string `yaml:"restore"`
	// Within is how long Azure keeps deleted ones, for example "14 days"; "" if that is not
	// known or depends on the resource.
	Within string `yaml:"within"`
	Source Source `yaml:"source"`
}

// Loss is the reason that a type is not recreated by itself: one of the constants, or a text
// that completes "it is not recreated, because it ...".
type Loss string

// The losses.
const (
	LossData        Loss = "data"
	LossIdentity    Loss = "identity"
	LossRights      Loss = "rights"
	LossCredentials Loss = "credentials"
	LossMoney       Loss = "money"
	LossExpires     Loss = "expires"
	LossRuns        Loss = "runs"
	LossAddress     Loss = "address"
)

// String completes "it is not recreated, because it ...".
func (l Loss) String() string {
	switch l {
	case LossData:
		return "held data, and the new one would be empty"
	case LossIdentity:
		return "was an identity, and the new one would be another principal without its rights"
	case LossRights:
		return "granted rights, and its removal may be a response to an incident"
	case LossCredentials:
		return "held keys or other credentials, and the new one would have others; its removal may be a response to an incident"
	case LossMoney:
		return "is a purchase or a contract, and a new one costs money"
	case LossExpires:
		return "is of a kind that expires or that Azure removes by itself, and a new one would start again"
	case LossRuns:
		return "is of a kind that runs when it is created, and a new one would run again"
	case LossAddress:
		return "had an address or a host name that others allow or refer to, and the new one would have another one"
	}
	return string(l)
}
