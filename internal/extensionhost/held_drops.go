package extensionhost

import (
	"fmt"

	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/resource"
)

// HeldVerdict returns the verdict about what a correction leaves to a user, nil if there is
// nothing.
func HeldVerdict(id resource.ID, found drift.Result) *resource.Verdict {
	if len(found.Held.Paths) == 0 {
		return nil
	}
	verdict := resource.Block(resource.ReasonHeld, fmt.Sprintf(
		"everything else is corrected, but no user requested to take away what other tools or users set: %s. "+
			"To keep it, set it in the manifest; to let it go, run armature reconcile %s", DropsText(found.Held), id.Short()))
	verdict.Class, verdict.Actor = resource.RetryVerySlow, "the owner of the manifest"
	verdict.Drops, verdict.MoreDrops = found.Held.Paths, found.Held.More
	verdict.Differences = found.Waiting
	return &verdict
}

// DropsText names the first drops and the number of the others.
func DropsText(drops drift.Drops) string {
	return summarizeOf(drops.Paths, len(drops.Paths)+drops.More)
}
