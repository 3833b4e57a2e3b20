package workflows

import (
	"fmt"
	"strings"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/activities/writing"
	"github.com/armature-io/armature/internal/audit"
	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/resource"
)

const (
	// maxRequests bounds the requests that wait to be written to the audit trail.
	maxRequests = 20
	// maxReasonRunes bounds the texts of a request.
	maxReasonRunes = 300
	// endTimeout is how long the end of a run waits for the audit trail.
	endTimeout = time.Minute
)

// requestQueue are the requests of users that no worker has written to its audit trail yet.
type requestQueue struct {
	Requests []activities.UserRequest `json:"requests,omitempty"`
	// MissedRequests counts those that did not fit, since the last one that did.
	MissedRequests int `json:"missedRequests,omitempty"`
}

// Audit is what the workflow has for the audit trail.
type Audit struct {
	// On is set while the workers keep an audit trail, as the last pass reported.
	On bool `json:"on,omitempty"`
	requestQueue
}

// add adds the request of the update that runs.
func (q *requestQueue) add(ctx workflow.Context, request activities.UserRequest) {
	if request.UpdateID == "" {
		request.UpdateID = workflow.GetCurrentUpdateInfo(ctx).ID
	}
	if len(q.Requests) >= maxRequests {
		q.MissedRequests++
		return
	}
	request.At, request.Missed, q.MissedRequests = workflow.Now(ctx), q.MissedRequests, 0
	request.Reason, request.Text = text.Cut(request.Reason, maxReasonRunes), text.Cut(request.Text, maxReasonRunes)
	q.Requests = append(q.Requests, request)
}

// requestKey returns the key of the update that runs in the audit trail.
func requestKey(ctx workflow.Context, event audit.Event) string {
	return audit.RequestKey(event, workflow.GetInfo(ctx).WorkflowExecution.ID, workflow.GetCurrentUpdateInfo(ctx).ID)
}

// send passes the requests to a worker. What it did not write stays.
func (q *requestQueue) send(ctx workflow.Context, desired *resource.Desired) {
	var a *activities.Activities
	in := activities.RecordRequestsInput{Desired: desired, Requests: q.Requests}
	result, err := executeLocal(ctx, a.RecordRequests, in)
	if err != nil {
		workflow.GetLogger(ctx).Warn("cannot record the requests of users yet", "requests", len(q.Requests), "error", err)
		return
	}
	q.Requests = q.Requests[min(result.Written, len(q.Requests)):]
	if len(q.Requests) == 0 {
		q.Requests = nil
	}
}

// noteRequest keeps a request of a user for the audit trail.
func (r *reconciler) noteRequest(ctx workflow.Context, request activities.UserRequest) {
	request.Generation = r.state.Generation
	r.state.Audit.add(ctx, request)
}

// followAudit takes what the worker of a pass reported: whether it keeps an audit trail. The
// requests are for the workers that do.
func (r *reconciler) followAudit(ctx workflow.Context, audits bool) {
	r.state.Audit.On = audits
	if !audits {
		r.state.Audit.requestQueue = requestQueue{}
		return
	}
	r.sendRequests(ctx)
}

// sendRequests passes the requests to a worker that keeps an audit trail.
func (r *reconciler) sendRequests(ctx workflow.Context) {
	if r.state.Audit.On && len(r.state.Audit.Requests) > 0 && ctx.Err() == nil {
		r.state.Audit.send(checkOptions(ctx, "record who asked for what"), r.recordedSpec())
	}
}

// recordedSpec returns what a record needs of the spec: where nothing signed it, not its
// body.
func (r *reconciler) recordedSpec() *resource.Desired {
	spec := *r.state.Desired
	if spec.Signature == nil {
		spec = resource.Desired{ID: spec.ID, APIVersion: spec.APIVersion}
	}
	return &spec
}

// sendLastRequests is sendRequests for a run that ends. A run that has had no pass does not
// know whether its workers keep an audit trail.
func (r *reconciler) sendLastRequests(ctx workflow.Context) {
	if unknown := r.state.Pass == 0; len(r.state.Audit.Requests) > 0 && ctx.Err() == nil && (r.state.Audit.On || unknown) {
		r.state.Audit.send(repeatedLocal(ctx, endTimeout), r.recordedSpec())
	}
}

// repeatedLocal returns the context of a local activity that is tried again for a while.
func repeatedLocal(ctx workflow.Context, timeout time.Duration) workflow.Context {
	return workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		ScheduleToCloseTimeout: timeout, StartToCloseTimeout: checkTimeout,
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: 10 * time.Second},
		Summary:     "record who asked for what",
	})
}

// writeCause returns why a pass writes, nil for workers without an audit trail.
func (r *reconciler) writeCause(p *pass) *writing.Cause {
	if !r.state.Audit.On {
		return nil
	}
	cause := &writing.Cause{
		By: r.state.AppliedBy, Request: r.state.AppliedRequest, Reason: p.pre.Verdict.Reason, Message: p.pre.Verdict.WithAuthor(),
		Differences: p.pre.Verdict.Differences, More: p.pre.Verdict.More,
	}
	switch {
	case r.state.Deletion != nil:
		cause.By, cause.Request, cause.Reason = r.state.Deletion.By, r.state.Deletion.Request, resource.ReasonDeleting
	case p.request.forced():
		cause.By, cause.Request, cause.Message = p.request.Force.By, p.request.Force.Request, strings.TrimSuffix("forced: "+p.request.Force.Reason+"; "+cause.Message, "; ")
	case r.mandate(p).Unrequested():
		cause.Message = strings.TrimSuffix("correction of drift; "+cause.Message, "; ")
	}
	return cause
}

// noteApply keeps an apply that had an effect.
func (r *reconciler) noteApply(ctx workflow.Context, in ApplyInput, takenBack, approved bool) {
	detail := fmt.Sprintf("generation %d", r.state.Generation)
	if takenBack {
		detail += "; takes back the deletion"
	}
	r.noteRequest(ctx, activities.UserRequest{Event: audit.EventApply, By: in.By, Text: detail})
	if approved {
		r.noteRequest(ctx, activities.UserRequest{Event: audit.EventApproval, By: in.By, Text: "removals approved"})
	}
}

// noteReconcile keeps a forced reconcile, and approvals.
func (r *reconciler) noteReconcile(ctx workflow.Context, in ReconcileInput, dropsApproved bool) {
	if in.Force {
		r.noteRequest(ctx, activities.UserRequest{Event: audit.EventForce, By: in.By, Reason: in.Reason})
	}
	var approved []string
	if in.Recreate {
		approved = append(approved, "recreation approved")
	}
	if dropsApproved {
		approved = append(approved, "removals approved")
	}
	if in.DropBaseline {
		approved = append(approved, "baseline dropped")
	}
	if len(approved) > 0 {
		r.noteRequest(ctx, activities.UserRequest{
			Event: audit.EventApproval, By: in.By, Reason: in.Reason, Text: strings.Join(approved, "; "), Order: in.Order,
		})
	}
}

// noteDelete keeps a deletion that changed something.
func (r *reconciler) noteDelete(ctx workflow.Context, in DeleteInput) {
	var details []string
	if in.Cascade {
		details = append(details, "with everything in it")
	}
	if in.WithData {
		details = append(details, "with data")
	}
	if !in.From.IsZero() {
		details = append(details, "with the deletion of "+in.From.String())
	}
	r.noteRequest(ctx, activities.UserRequest{Event: audit.EventDelete, By: in.By, Text: strings.Join(details, "; "), Order: in.Order})
}

// attribution returns the user and the reason of a pause or resume.
func attribution(in PauseInput) string {
	if in.Reason == "" {
		return "by " + in.By
	}
	return "by " + in.By + ": " + in.Reason
}
