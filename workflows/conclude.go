package workflows

import (
	"cmp"
	"fmt"
	"time"

	"github.com/armature-io/armature/resource"
	"go.temporal.io/sdk/workflow"
)

// putsBeforeVerySlow is how many PUTs may fail before the retries become very slow: a
// PUT that ARM accepts and that fails in its operation costs the most.
const putsBeforeVerySlow = 3

// logDecision records the verdict of a step, unless it carries no information.
func (r *reconciler) logDecision(ctx workflow.Context, p *pass, step string, verdict resource.Verdict) {
	if len(verdict.Differences) > 0 {
		r.state.Differences, r.state.DifferencesAt = verdict.Differences, workflow.Now(ctx)
	}
	if !verdict.Stops() && verdict.Message == "" {
		return
	}
	r.state.addDecision(Decision{
		At: workflow.Now(ctx), Pass: p.number, Step: step,
		Action: verdict.Action, Reason: verdict.Reason, Message: verdict.WithAuthor(), Origin: verdict.Origin,
	})
}

// conclude sets the condition, the phase and the next try from the verdict that ended
// the pass, and notifies dependents.
func (r *reconciler) conclude(ctx workflow.Context, p *pass, verdict resource.Verdict) {
	r.state.Pass = p.number
	if p.hasRead() && !p.granted { // a pass that waited for its turn read before
		r.state.Reported.noteRead(r.passSince)
	}
	r.state.Requests.HeldDrops = verdict.Stops() && verdict.Reason == resource.ReasonHeld && len(verdict.Drops) > 0
	if r.state.deleted() {
		return
	}
	if verdict.Stops() {
		r.concludeNotReady(ctx, p, verdict)
	} else {
		r.concludeReady(ctx, p, verdict)
	}
	r.announce(ctx, p)
}

// concludeReady sets the condition of a pass in which all steps succeeded.
func (r *reconciler) concludeReady(ctx workflow.Context, p *pass, verdict resource.Verdict) {
	s, now := r.state, workflow.Now(ctx)
	s.Retry.reset()
	s.Wait.For = nil
	s.Write.settle()
	s.Requests.Approved.Drops = false
	s.Ready.Passes++
	r.countReady(ctx, p)
	s.Ready.Generation = p.generation
	if p.post != nil {
		s.Reported.Interval = p.post.Interval
	}
	reason, message := resource.ReasonSucceeded, "in sync"
	if verdict.Reason != "" && verdict.Reason != resource.ReasonInSync {
		reason = verdict.Reason
	}
	if verdict.Message != "" {
		message = verdict.Message
	}
	condition := resource.Condition{Ready: true, Severity: verdict.Severity, Reason: reason, Message: message, ObservedGeneration: p.generation}
	if verdict.Severity != resource.SeverityNone {
		condition.Origin = verdict.Origin
	}
	s.Condition.Set(condition, now)
	s.Retry.schedule(now, s.Reported.untilDue(s.untilExport(s.resyncDelay(p.put.Sent, reason), now), now), "ready", nil)
	r.setPhase(ctx, PhaseReady, reason)
}

// concludeNotReady sets the condition of a pass that ended early.
func (r *reconciler) concludeNotReady(ctx workflow.Context, p *pass, verdict resource.Verdict) {
	s, now := r.state, workflow.Now(ctx)
	if p.put.Sent {
		s.Retry.FailedPuts++
	}
	class := s.retryClass(p, verdict)
	overdue := s.isOverdue(p, verdict, now)
	if overdue {
		r.reportOverdue(ctx, p, verdict, now)
	}
	s.Retry.fail(now, verdict, overdue)
	s.Freshness = verdict.Detail()
	newBlocker := s.Wait.begin(verdict.WaitingFor, now)
	s.Condition.Set(resource.Condition{
		Severity: severityOf(verdict, class, overdue), Reason: verdict.Reason, Message: verdict.Text(), ObservedGeneration: p.generation,
		Actor: actorOf(verdict, class), Origin: verdict.Origin,
	}, now)
	if class == resource.RetryNone {
		s.noteRefusal(p, verdict)
	}
	wait, counts := s.retryDelay(now, verdict, class, newBlocker)
	s.Retry.Within = longest(s.backoff(class, verdict.Reason), wait)
	if counts {
		s.Retry.Attempts++
	}
	s.Retry.schedule(now, wait, fmt.Sprintf("%s: %s", verdict.Reason, verdict.Message), s.Wait.For)
	r.setPhase(ctx, phaseOf(verdict, class, s.Deletion != nil), verdict.Reason)
}

// retryClass returns the class of the verdict, or very slow where the verdict alone does
// not decide: a deletion never becomes fatal, and repeated PUTs that fail are expensive.
func (s *State) retryClass(p *pass, verdict resource.Verdict) resource.RetryClass {
	switch {
	case s.Deletion != nil && verdict.Class == resource.RetryNone:
		return resource.RetryVerySlow
	case p.put.Sent && s.Retry.FailedPuts >= putsBeforeVerySlow && verdict.Class != resource.RetryNone:
		return resource.RetryVerySlow
	}
	return verdict.Class
}

// severityOf returns the severity of the condition: a verdict that is retried is at most
// a warning, until the resource is overdue.
func severityOf(verdict resource.Verdict, class resource.RetryClass, overdue bool) resource.Severity {
	switch {
	case overdue:
		return resource.SeverityError
	case verdict.Severity == resource.SeverityError && class != resource.RetryNone:
		return resource.SeverityWarning
	}
	return verdict.Severity
}

// actorOf returns who has to act before the verdict can change, "" where time may be
// enough: a very slow retry means that Azure needs another request, or another state.
func actorOf(verdict resource.Verdict, class resource.RetryClass) string {
	actor := cmp.Or(verdict.Actor, verdict.Reason.Actor())
	if actor == "" && (class == resource.RetryNone || class == resource.RetryVerySlow) {
		return "you"
	}
	return actor
}

// phaseOf returns the phase after a verdict that ended a pass early.
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

// isOverdue reports whether the resource has not been Ready for longer than the worker's
// overdue-after. Drift that the policy only reports is never overdue, nor is a resource
// while it or its owner is in an exempt state (overdue-exempt).
func (s *State) isOverdue(p *pass, verdict resource.Verdict, now time.Time) bool {
	exempt := p.overdueAfter <= 0 || p.got.OverdueExempt || verdict.Reason == resource.ReasonDriftDetected
	return !exempt && s.Retry.notReadyFor(now) >= p.overdueAfter
}

// TimeToReadyMetric is the histogram of the time from the apply that changed a spec until
// the resource was Ready with it, in seconds.
const TimeToReadyMetric = "armature_time_to_ready_seconds"

// countReady records the time to Ready of a generation once. The SDK's metrics handler is
// silent during a replay.
func (r *reconciler) countReady(ctx workflow.Context, p *pass) {
	s := r.state
	if s.Ready.Generation >= p.generation || s.Generation != p.generation || s.ChangedAt.IsZero() {
		return
	}
	workflow.GetMetricsHandler(ctx).Timer(TimeToReadyMetric).Record(workflow.Now(ctx).Sub(s.ChangedAt))
}

// OverdueMetric counts verdicts on overdue resources, by the tag "reason".
const OverdueMetric = "armature_overdue_verdicts_total"

// reportOverdue counts and logs the verdict. The SDK's metrics handler and logger are
// silent during a replay.
func (r *reconciler) reportOverdue(ctx workflow.Context, p *pass, verdict resource.Verdict, now time.Time) {
	reason := string(verdict.Reason)
	workflow.GetMetricsHandler(ctx).WithTags(map[string]string{"reason": reason}).Counter(OverdueMetric).Inc(1)
	workflow.GetLogger(ctx).Error("resource is overdue", "id", p.desired.ID.String(), "reason", reason,
		"notReadyFor", r.state.Retry.notReadyFor(now).Round(time.Second).String(), "message", verdict.Message)
}

// interrupt ends a pass after a step because a pause, a new spec or a deletion came meanwhile.
// The condition names the step while the resource has not been Ready yet. A deletion begins in
// the same workflow task and sets its own.
func (r *reconciler) interrupt(ctx workflow.Context, p *pass, step string) {
	r.state.Pass = p.number
	r.announce(ctx, p)
	if r.state.Condition.Reason != resource.ReasonReconciling {
		return
	}
	message := "stopped after " + step + ": a new spec was applied"
	if r.state.pauseBlocks() {
		message = "stopped after " + step + " by a pause; resume starts the next pass"
	}
	r.state.Condition.Set(resource.Condition{
		Severity: resource.SeverityInfo, Reason: resource.ReasonReconciling, Message: message, ObservedGeneration: p.generation,
	}, workflow.Now(ctx))
}
