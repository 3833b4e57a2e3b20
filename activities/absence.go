package activities

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/resource"
	"go.temporal.io/sdk/temporal"
)

// doubt is a response that may mean an absence; one attempt records it for the next.
type doubt struct {
	// Response is the status and the codes.
	Response string    `json:"response,omitempty"`
	Since    time.Time `json:"since,omitzero"`
}

// judgeDoubt decides about a response that may mean an absence. The resource counts as absent
// after a DELETE that ended well, while a read waits for the effect of a PUT, and if ARM repeats
// the response over RereadWindow. Otherwise the error is the doubt, or makes Temporal read again.
func (r *resourceReader) judgeDoubt(ctx context.Context, in GetResourceInput, heartbeat *heartbeater[readProgress], doubtful error) (GetResourceResult, error) {
	failure, _ := errors.AsType[*arm.Error](doubtful)
	absent := GetResourceResult{Verdict: resource.Proceed(""), ReadAt: r.now(), Leaf: r.registry.Leaf(in.ID.Type())}
	switch {
	case in.Deleted && failure.RequestID != "":
		absent.Verdict.Message = in.ID.Short() + " is absent: the GET after its DELETE finds nothing"
		return absent, nil
	case in.Expect == ExpectPresent && mayBeAbsent(doubtful):
		return absent, nil // awaitExpected reads again
	case failure.Doubt != arm.DoubtRepeatable:
		return GetResourceResult{}, doubtful
	}
	progress, now := heartbeat.progress(), r.now()
	response := fmt.Sprintf("%d %s", failure.Status, strings.Join(failure.Codes(), "/"))
	if progress.Doubt.Response != response {
		progress.Doubt = doubt{Response: response, Since: now}
		heartbeat.send(progress)
	}
	if now.Sub(progress.Doubt.Since) < r.rereadWindow {
		return GetResourceResult{}, notYet(fmt.Sprintf("ARM responds %s, which counts as absent when it comes again for %s",
			strings.TrimSpace(response), text.Duration(r.rereadWindow)), max(r.rereadInterval, r.rereadWindow/4))
	}
	absent.Verdict = resource.Proceed(fmt.Sprintf("%s (%s) is absent: ARM responded %s for %s, and its owner is readable%s",
		in.ID.Short(), in.ID.Type(), strings.TrimSpace(response), text.Duration(now.Sub(progress.Doubt.Since)), nameHeldText(failure)))
	return absent, nil
}

// mayBeAbsent reports whether ARM itself responded with a doubtful 404 below a readable owner.
// After an accepted PUT or DELETE such a response is normal.
func mayBeAbsent(err error) bool {
	failure, ok := errors.AsType[*arm.Error](err)
	return ok && (failure.Doubt == arm.DoubtRepeatable || failure.Doubt == arm.DoubtBusy) && failure.RequestID != ""
}

// confirmAbsence demands a second proof for the absence of a resource that earlier reads showed: a
// list of its owner must lack it too, over RereadWindow. A single replica or list may lag behind
// a write.
func (r *resourceReader) confirmAbsence(ctx context.Context, in GetResourceInput, result GetResourceResult) error {
	if !in.Existed || in.Deleted || in.Expect != ExpectAny || result.Verdict.Stops() {
		return nil
	}
	requests, cancel := requestContext(ctx)
	defer cancel()
	return r.client.ConfirmAbsence(requests, in.ID, in.APIVersion)
}

// absenceVerdict describes an absence that its code alone does not explain: the proof, and a
// deleted resource that keeps the name.
func absenceVerdict(id resource.ID, absence error) resource.Verdict {
	failure, ok := errors.AsType[*arm.Error](absence)
	if !ok || failure.Proof == "" && !failure.NameHeld {
		return resource.Proceed("")
	}
	verdict := resource.Proceed(fmt.Sprintf("%s (%s) is absent: %s%s", id.Short(), id.Type(), failure.Proof, nameHeldText(failure)))
	verdict.RequestID = failure.RequestID
	return verdict
}

// nameHeldText returns a note that a deleted resource keeps the name, "" if there is none.
func nameHeldText(failure *arm.Error) string {
	if !failure.NameHeld {
		return ""
	}
	return "; a soft-deleted resource keeps the name: restore or purge it before a new one is created"
}

// isNotYet reports whether an error makes Temporal run the activity again.
func isNotYet(err error) bool {
	later, ok := errors.AsType[*temporal.ApplicationError](err)
	return ok && later.Type() == ErrorNotYet
}

// isSettling reports whether ARM accepted a PUT less than settleTime ago. Reads may lag, and some
// services show a resource only after its creation has ended (131 recorded responses): its
// absence is neither a disappearance nor a reason for another PUT.
func (c *comparer) isSettling(in PreCheckInput, now time.Time) bool {
	return !in.PutAt.IsZero() && now.Sub(in.PutAt) < c.settleTime && !in.Force
}

// settlingVerdict returns the verdict for an absent resource that isSettling.
func (c *comparer) settlingVerdict(in PreCheckInput, now time.Time) resource.Verdict {
	verdict := resource.Block(resource.ReasonReconciling, fmt.Sprintf(
		"ARM accepted a PUT of %s %s ago and does not show it now; it is read again, and counts as absent from %s after the PUT on; armature reconcile --force writes it now",
		in.Desired.ID.Short(), text.Duration(now.Sub(in.PutAt).Round(time.Second)), text.Duration(c.settleTime)))
	verdict.Class = resource.RetrySlow
	return verdict
}
