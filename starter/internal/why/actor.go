package why

import (
	"cmp"
	"strings"

	"github.com/armature-io/armature/docs"
)

// Actor is who has to act so that a root cause ends.
type Actor struct {
	// Who is in the words of docs/troubleshooting.md: "the owner of the manifest".
	Who string
	// Waits is set if time alone ends the cause.
	Waits bool
}

// Who acts on what has no reason.
const (
	ownerOfManifest   = "the owner of the manifest"
	operatorOfWorkers = "the operator of the workers"
	noOne             = "no one"
)

// Actor returns who has to act on a root cause.
func (l *Link) Actor() Actor {
	switch {
	case strings.HasPrefix(l.Advice, NoAction):
		return Actor{Who: noOne, Waits: true}
	case len(l.Cycle) > 0:
		return Actor{Who: ownerOfManifest}
	case l.Stale:
		return Actor{Who: operatorOfWorkers}
	case l.Reason == "" && (l.State == stateNotManaged || l.State == stateDeleted):
		return Actor{Who: "the team that creates it, or the owner of a manifest that names it"}
	case l.blocksDeletion, l.Reason == "":
		return Actor{Who: ownerOfManifest}
	}
	documented, _ := docs.FindReason(string(l.Reason))
	who := strings.TrimSuffix(cmp.Or(documented.Acts, ownerOfManifest), ".")
	for _, nobody := range []string{"no one", "usually no one", "time", "Azure"} {
		if who == nobody || strings.HasPrefix(who, nobody+";") {
			return Actor{Who: who, Waits: true}
		}
	}
	return Actor{Who: who}
}
