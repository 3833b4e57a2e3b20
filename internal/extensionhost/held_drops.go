package extensionhost

import (
	"fmt"

	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/resource"
)

// HeldDrops returns the verdict that stops a correction which would remove what others
// set, nil if it may be sent. It is for the moment before the PUT; the default pre-check
// decides the same.
func (r *Registry) HeldDrops(req Request) *resource.Verdict {
	if !req.HoldDrops || req.Force || !req.Object.Exists() {
		return nil
	}
	drops := drift.DropsOf(req.Object.Desired, req.Object.Observed, req.Comparison())
	drops.Paths = r.withoutKept(req.resourceType(), drops.Paths)
	if len(drops.Paths) == 0 {
		return nil
	}
	return new(heldVerdict(req.Object.ID, drops))
}

// holding returns a block for a correction that would remove what others set.
func holding(found drift.Result, id resource.ID) resource.Verdict {
	due, verdict := differing(found), heldVerdict(id, found.Drops)
	verdict.Differences, verdict.More = due.Differences, due.More
	return verdict
}

// heldVerdict names what would be removed, and how to keep it or let it go.
func heldVerdict(id resource.ID, drops drift.Drops) resource.Verdict {
	verdict := resource.Block(resource.ReasonHeld, fmt.Sprintf(
		"a correction would remove what the manifest does not set: %s; no user requested it, so nothing is sent. "+
			"To keep it, set it in the manifest; to let it go, run armature reconcile %s", DropsText(drops), id.Short()))
	verdict.Class, verdict.Actor = resource.RetryVerySlow, "the owner of the manifest"
	verdict.Drops, verdict.MoreDrops = drops.Paths, drops.More
	return verdict
}

// DropsText names the first drops and the number of the others.
func DropsText(drops drift.Drops) string {
	return summarizeOf(drops.Paths, len(drops.Paths)+drops.More)
}
