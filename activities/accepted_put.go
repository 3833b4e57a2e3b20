package activities

import (
	"fmt"
	"time"

	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/resource"
)

// AcceptedPut is a PUT that ARM accepted, or may have accepted, and that no post-check has compared yet: the
// workflow keeps it until one has, also when the pass of the PUT ended early.
type AcceptedPut struct {
	// Generation is the spec that was sent.
	Generation int64 `json:"generation"`
	// At is when the PUT was accepted, or its operation was last seen.
	At time.Time `json:"at"`
	// Unanswered is set for a creation whose answer was lost. It was accepted if the resource,
	// which was absent, exists with what it stated (drift.IsCreation).
	Unanswered bool `json:"unanswered,omitempty"`
	// Differences are the reasons for the PUT; Secrets and Kept are as in
	// PutResourceResult.
	Differences []resource.Difference `json:"differences,omitempty"`
	Secrets     map[string]string     `json:"secrets,omitempty"`
	Kept        string                `json:"kept,omitempty"`
}

// maxVerifyAge is how old an accepted PUT may be that a later pass verifies. What
// differs after that may be a change of another tool, which is corrected.
const maxVerifyAge = time.Hour

// verifyAccepted replaces the verdict that requests a PUT while one that ARM accepted
// for the same spec has not been verified: what differs is what Azure made of it. It
// reports whether PostCheck has to compare the result of that PUT. A resource that is
// absent, broken or changing, and a forced pass, need the verdict as it is.
func (c *comparer) verifyAccepted(now time.Time, verdict resource.Verdict, in PreCheckInput, request extensionhost.Request) (resource.Verdict, bool) {
	object := request.Object
	age := now.Sub(in.AcceptedAt)
	state := object.ProvisioningState()
	switch {
	case in.AcceptedAt.IsZero(), age > maxVerifyAge, in.Force, verdict.Stops(), !object.Exists(),
		resource.Broken(state), c.registry.InFlight(in.Desired.ID.Type(), state):
		return verdict, false
	case verdict.Action != resource.ActionProceed:
		return verdict, true
	case in.Unanswered && !isCreation(request):
		return verdict, false
	}
	return resource.Verdict{
		Action: resource.ActionSkip, Reason: resource.ReasonInSync,
		Message: fmt.Sprintf("ARM accepted a PUT %s ago and no pass has verified it yet: it is verified now, and not sent again", text.Duration(age)),
	}, true
}

// isCreation reports whether a resource may be what a PUT of its spec created.
func isCreation(request extensionhost.Request) bool {
	object, options := request.Object, request.Comparison()
	return drift.IsCreation(object.Desired, object.Observed, drift.Compare(object.Desired, object.Observed, options), options)
}
