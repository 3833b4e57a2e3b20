package workflows

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/resource"
	"go.temporal.io/sdk/workflow"
)

// ReportSignal brings what Azure reported about a resource; its payload is activities.Reports.
const ReportSignal = "report"

// Reported is what the feed of changes reported about the resource.
type Reported struct {
	// Changes are the last reports, oldest first.
	Changes []resource.ReportedChange `json:"changes,omitempty"`
	// ReadAt is when the last pass began that read the resource. A read at or after Due shows
	// every reported change, also behind a replica that lags; Due is zero if ReadAt is one.
	ReadAt time.Time `json:"readAt,omitzero"`
	Due    time.Time `json:"due,omitzero"`
	// Interval is the time to the next routine pass as the last post-check decided it.
	Interval time.Duration `json:"interval,omitempty"`
}

// receiveReports handles the signals of the feed that arrived.
func (r *reconciler) receiveReports(ctx workflow.Context) {
	for {
		var in activities.Reports
		if !r.reports.ReceiveAsync(&in) {
			return
		}
		for _, change := range in.Changes {
			r.report(ctx, change, in.RereadWindow)
		}
		if in.Unfollowed {
			r.shortenWait(ctx)
		}
	}
}

// report takes one reported change. One that this resource's own run made is read once the
// reread window has passed, unless that has happened: a read right after the write may not show
// what another writer did in the same moment. While the resource is not Ready its own next try is
// that read. Any other change is read now, and then too.
func (r *reconciler) report(ctx workflow.Context, change resource.ReportedChange, window time.Duration) {
	s := &r.state.Reported
	if slices.ContainsFunc(s.Changes, change.Same) {
		return
	}
	own := ownRun(ctx, change.Correlation)
	change.Own = own
	s.Changes = append(slices.Clone(s.Changes), change)
	s.Changes = s.Changes[max(0, len(s.Changes)-resource.MaxReportedChanges):]
	visible := change.At.Add(window)
	if own && !s.ReadAt.Before(visible) {
		return
	}
	if visible.After(s.Due) {
		s.Due = visible
	}
	if now := workflow.Now(ctx); own {
		r.readBy(ctx, now.Add(max(visible.Sub(now), 0)))
		return
	}
	r.requestPass(ctx, ReportSignal, reportText(change))
}

// ownRun reports whether a correlation ID is of this run, the one before it or the first one:
// a worker sends the ID of the run with each request.
func ownRun(ctx workflow.Context, correlation string) bool {
	info := workflow.GetInfo(ctx)
	return correlation != "" && slices.ContainsFunc([]string{info.WorkflowExecution.RunID, info.ContinuedExecutionRunID, info.FirstRunID},
		func(run string) bool { return strings.EqualFold(run, correlation) })
}

// reportText names a change and its author for the log of decisions.
func reportText(change resource.ReportedChange) string {
	what := strings.ToLower(string(change.Kind))
	if paths := change.PathsText(); paths != "" {
		what += " of " + paths
	}
	return fmt.Sprintf("%s by %s at %s", what, change.ReportedAuthor, text.Time(change.At))
}

// readBy makes the next pass of a resource that waits begin no later than a time.
func (r *reconciler) readBy(ctx workflow.Context, at time.Time) {
	s := r.state
	if s.Deletion != nil || s.Phase != PhaseReady || !s.Retry.NextTry.IsZero() && !s.Retry.NextTry.After(at) {
		return
	}
	s.Retry.NextTry = at
	s.Retry.Reason = "reading what Azure reported: next try in " + text.Duration(at.Sub(workflow.Now(ctx)))
	r.messages++
}

// shortenWait ends a wait that is longer than the interval of the manifest: changes may come
// without a report. The passes of the fleet are spread.
func (r *reconciler) shortenWait(ctx workflow.Context) {
	s := r.state
	if s.Reported.Interval <= s.Desired.Interval {
		return
	}
	s.Reported.Interval = 0
	wait := max(s.Reported.ReadAt.Add(s.jitter(s.Desired.Interval)).Sub(workflow.Now(ctx)), time.Duration(s.fraction()*float64(s.Desired.Interval)/4))
	r.readBy(ctx, workflow.Now(ctx).Add(wait))
}

// noteRead records that a pass which began at a time read the resource.
func (s *Reported) noteRead(at time.Time) {
	s.ReadAt = at
	if !at.Before(s.Due) {
		s.Due = time.Time{}
	}
}

// untilDue shortens the wait of a resource that is Ready until its reported changes are visible
// for certain.
func (s *Reported) untilDue(wait time.Duration, now time.Time) time.Duration {
	if s.Due.IsZero() || wait != 0 && now.Add(wait).Before(s.Due) {
		return wait
	}
	return max(s.Due.Sub(now), time.Second)
}
