package extensionhost

import "github.com/armature-io/armature/resource"

// WaitNamer is a link whose verdicts name every resource that they rest on, as those of rules
// do. It has no effect beside its presence.
type WaitNamer interface {
	NamesWaits()
}

// awaitOwner returns a verdict that stops with the owner as what it waits for, if the link
// names nothing: the link got the owner, and its verdict may rest on it. An owner that
// Armature does not manage wakes nothing and is not named.
func awaitOwner(link any, verdict resource.Verdict, owner *resource.Object) resource.Verdict {
	if _, names := link.(WaitNamer); names {
		return verdict
	}
	if verdict.Stops() && len(verdict.WaitingFor) == 0 && owner != nil && owner.Managed != nil {
		verdict.WaitingFor = []resource.ID{owner.ID}
	}
	return verdict
}
