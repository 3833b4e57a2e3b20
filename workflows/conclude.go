package workflows

import (
	"fmt"
	"slices"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/resource"
	"go.temporal.io/sdk/workflow"
)

// putsBeforeVerySlow is how many PUTs may fail before the retries become very
// slow: a PUT that was accepted and led nowhere costs the most.
const putsBeforeVerySlow = 3

// decided logs what a step decided, where there is something to tell.
func (r *reconciler) decided(ctx workflow.Context, p *pass, step string, verdict resource.Verdict) {
	if len(verdict.Differences) > 0 {
		r.state.Differences, r.state.DifferencesAt = verdict.Differences, workflow.Now(ctx)
	}
	if !verdict.Stops() && verdict.Message == "" {
		return
	}
	r.state.remember(Decision{
		At: workflow.Now(ctx), Pass: p.number, Step: step,
		Action: verdict.Action, Reason: verdict.Reason, Message: verdict.Message,
	})
}

// conclude sets the condition, the phase and the next try from the verdict that
// ended the pass.
func (r *reconciler) conclude(ctx workflow.Context, p *pass, verdict resource.Verdict) {
	r.state.Pass = p.number
	if r.state.gone() {
		return
	}
	now := workflow.Now(ctx)
	if verdict.Stops() {
		r.notReady(ctx, p, verdict, now)
		return
	}
	r.state.Attempts, r.state.FailedPuts, r.state.WaitingFor = 0, 0, nil
	r.state.Ended = activities.Repeated{}
	r.state.Syncs++
	r.state.Settled = p.generation
	r.state.PutUnknown = false
	reason, message := resource.ReasonSucceeded, "in sync"
	if verdict.Reason != "" && verdict.Reason != resource.ReasonInSync {
		reason = verdict.Reason
	}
	if verdict.Message != "" {
		message = verdict.Message
	}
	r.state.Condition.Set(resource.Condition{
		Ready: true, Severity: verdict.Severity, Reason: reason, Message: message, ObservedGeneration: p.generation,
	}, now)
	r.schedule(now, r.nextLook(p, reason), "ready")
	r.state.NotReadySince, r.state.Overdue = time.Time{}, false
	r.setPhase(ctx, PhaseReady, reason)
	r.tell(ctx, p)
}

// changeSettles is how long Azure may take to show a change that it accepted.
const changeSettles = 30 * time.Second

// nextLook is the wait after a pass that ended Ready: once more soon, without a
// PUT, when Azure does not show the change of a PUT that it accepted.
func (r *reconciler) nextLook(p *pass, reason resource.Reason) time.Duration {
	wait := r.resync()
	if reason == resource.ReasonChangeNotTaken && p.put && (wait == 0 || wait > changeSettles) {
		return changeSettles
	}
	return wait
}

// cutShort ends a pass that somebody paused or deleted after a step. Of a
// resource that is not Ready yet the condition still tells of that step.
func (r *reconciler) cutShort(ctx workflow.Context, p *pass, step string) {
	r.state.Pass = p.number
	r.tell(ctx, p)
	if r.state.Condition.Reason != resource.ReasonReconciling {
		return
	}
	message := "stopped after " + step + ": a deletion was asked for"
	if r.state.holds() {
		message = "stopped after " + step + " by a pause; a resume starts the next pass"
	}
	r.state.Condition.Set(resource.Condition{
		Severity: resource.SeverityInfo, Reason: resource.ReasonReconciling, Message: message, ObservedGeneration: p.generation,
	}, workflow.Now(ctx))
}

// notReady sets the condition of a pass that ended early.
func (r *reconciler) notReady(ctx workflow.Context, p *pass, verdict resource.Verdict, now time.Time) {
	if p.put {
		r.state.FailedPuts++
	}
	class := verdict.Class
	switch {
	case r.state.Delete != nil && class == resource.RetryNone:
		class = resource.RetryVerySlow
	case p.put && r.state.FailedPuts >= putsBeforeVerySlow && class != resource.RetryNone:
		class = resource.RetryVerySlow
	}
	severity := verdict.Severity
	overdue := r.isOverdue(p, verdict, now)
	switch {
	case overdue:
		severity = resource.SeverityError
		r.reportOverdue(ctx, p, verdict, now)
	case severity == resource.SeverityError && class != resource.RetryNone:
		severity = resource.SeverityWarning
	}
	changed := !slices.Equal(waitingKeys(r.state.WaitingFor), waitingKeys(verdict.WaitingFor))
	if changed {
		r.state.WaitingSince = now
	}
	if r.state.NotReadySince.IsZero() {
		r.state.NotReadySince = now
	}
	r.state.Overdue = overdue
	if r.state.Ended.Reason != verdict.Reason {
		r.state.Ended = activities.Repeated{Reason: verdict.Reason}
	}
	r.state.Ended.Times++
	r.state.WaitingFor = verdict.WaitingFor
	r.state.Condition.Set(resource.Condition{
		Severity: severity, Reason: verdict.Reason, Message: verdict.Words(), ObservedGeneration: p.generation,
	}, now)
	wait := r.backoff(class, verdict.RetryAfter)
	// Whose turn it is comes by a message, not from a list.
	if changed && len(verdict.WaitingFor) > 0 && wait > 0 && verdict.Reason != resource.ReasonWaitingForSibling {
		wait = max(min(wait, firstTimer), verdict.RetryAfter)
	}
	if within := verdict.RetryWithin; within > 0 && wait > within {
		// Spread, for what waits for one resource shares the reading. It is the same
		// try again with a new reading, so the next wait is no longer for it.
		wait = max(within+time.Duration(r.fraction()*float64(2*time.Second)), verdict.RetryAfter)
	} else {
		r.state.Attempts++
	}
	r.schedule(now, wait, fmt.Sprintf("%s: %s", verdict.Reason, verdict.Message))
	r.setPhase(ctx, phaseOf(verdict, class, r.state.Delete != nil), verdict.Reason)
	r.tell(ctx, p)
}

// isOverdue reports whether the resource has not been Ready for longer than the
// worker's overdue-after. Drift that the policy only reports is never overdue,
// nor is a resource in an exempt state (overdue-exempt) or one whose owner is.
// X// themselves; their mark stays.
func (r *reconciler) isOverdue(p *pass, verdict resource.Verdict, now time.Time) bool {
	if verdict.Overdue || p.overdueAfter <= 0 || p.got.OverdueExempt || verdict.Reason == resource.ReasonDriftDetected {
		return verdict.Overdue
	}
	return r.state.notReadyFor(now) >= p.overdueAfter
}

// OverdueMetric counts verdicts of overdue resources, by the tag "reason". The
// SDK's metrics handler and logger are silent during a replay.
const OverdueMetric = "armature_overdue_verdicts_total"

func (r *reconciler) reportOverdue(ctx workflow.Context, p *pass, verdict resource.Verdict, now time.Time) {
	reason := string(verdict.Reason)
	workflow.GetMetricsHandler(ctx).WithTags(map[string]string{"reason": reason}).Counter(OverdueMetric).Inc(1)
	workflow.GetLogger(ctx).Error("resource is overdue", "id", p.desired.ID.String(), "reason", reason,
		"notReadyFor", r.state.notReadyFor(now).Round(time.Second).String(), "message", verdict.Message)
}

// phaseOf is the one word for a verdict that ended a pass early.
func phaseOf(verdict resource.Verdict, class resource.RetryClass, deleting bool) Phase {
	switch {
	case deleting:
		return PhaseDeleting
	case class == resource.RetryNone:
		return PhaseFailed
	case verdict.Action == resource.ActionBlock:
		return PhaseBlocked
	}
	return PhaseNotReady
}

// schedule sets the next try, and says so in the name of its timer; no wait
// means: only on a message.
func (r *reconciler) schedule(now time.Time, wait time.Duration, why string) {
	r.state.NextTry, r.state.Waiting = time.Time{}, why+"; waits for apply, reconcile or resume"
	switch {
	case wait == 0:
		return
	case r.state.Attempts == 0:
		r.state.Waiting = why + ": next check in " + text.Duration(wait)
	default:
		r.state.Waiting = fmt.Sprintf("%s; try %d", why, r.state.Attempts+1)
	}
	r.state.NextTry = now.Add(wait)
}
