package workflows

import (
	"strings"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"go.temporal.io/sdk/workflow"
)

// putResource writes the resource when the pre-check requested it and the turn is
// granted, waits for the operation, and reads the resource again.
func (r *reconciler) putResource(ctx workflow.Context, p *pass) resource.Verdict {
	if p.pre.Verdict.Action == resource.ActionSkip {
		r.leaveQueue(ctx)
		return resource.Verdict{Action: resource.ActionSkip, Reason: resource.ReasonInSync}
	}
	if verdict := r.takeTurn(ctx, p, p.turn); verdict.Stops() || ctx.Err() != nil {
		return verdict
	}
	if r.state.Forget != nil {
		r.endTurn(ctx, p.turn)
		return resource.Verdict{}
	}
	verdict := r.putAndPoll(ctx, p)
	r.endTurn(ctx, p.turn)
	if verdict.Stops() || ctx.Err() != nil || r.state.Forget != nil {
		return verdict
	}
	return r.readAfter(ctx, p, activities.ExpectPresent)
}

// readAfter uses the reading at the end of the operation, or else reads the resource.
func (r *reconciler) readAfter(ctx workflow.Context, p *pass, expect activities.Expectation) resource.Verdict {
	got := p.polled.Got
	if got == nil {
		return r.readResource(ctx, p, expect)
	}
	p.polled.Got = nil
	r.noteRead(p, *got)
	return got.Verdict
}

// putAndPoll sends the PUT and waits for its operation. If the subscription is not
// registered for the provider, it registers the provider and sends the PUT again.
func (r *reconciler) putAndPoll(ctx workflow.Context, p *pass) resource.Verdict {
	result, verdict := r.sendPut(ctx, p)
	if result.Unregistered != "" && ctx.Err() == nil {
		if verdict = r.registerProvider(ctx, p, result.Unregistered); verdict.Stops() || ctx.Err() != nil || r.state.Forget != nil {
			return verdict
		}
		r.logDecision(ctx, p, "RegisterProvider", verdict)
		result, verdict = r.sendPut(ctx, p)
	}
	if result.Replace && r.mayReplace(ctx, p) {
		p.got.ETag = result.ETag
		return r.replace(ctx, p, verdict)
	}
	if verdict.Stops() || ctx.Err() != nil {
		return verdict
	}
	r.logDecision(ctx, p, "PutResource", verdict)
	if result.Sent {
		r.state.Write.At, r.state.Write.Replaced = workflow.Now(ctx), result.Replaced
		r.state.Write.Note = r.writeNote(ctx, p)
	}
	if result.Done {
		return verdict
	}
	verdict = r.poll(ctx, p, operation{"PUT", result.Token, result.RetryAfter, activities.ExpectPresent})
	if verdict.Stops() && verdict.Reason != resource.ReasonOperationTimeout && ctx.Err() == nil {
		r.state.Write.At = time.Time{} // it failed: nothing is to appear
	}
	return verdict
}

func (r *reconciler) sendPut(ctx workflow.Context, p *pass) (activities.PutResourceResult, resource.Verdict) {
	var a *activities.Activities
	result, err := executeWrite(requestOptions(ctx, putSummary(p)), r, a.PutResource, activities.PutResourceInput{
		Desired: p.desired, PassFacts: r.writeFacts(p), Kind: r.state.putKind(p.pre.Verdict), Newest: r.state.newerThan(p.generation),
		Memory: r.state.Known.Baseline, ObservedAt: p.got.ReadAt, MaySent: r.state.Write.Unknown || wasReset(workflow.GetInfo(ctx)),
		Token: r.state.writeToken(), OperationRefusal: r.state.Write.OperationRefusal,
	})
	if result.Sent || result.Memory != nil {
		r.state.Write.OperationRefusal = result.Refusal // what was refused before is in the memory
	}
	verdict := verdictOf(result.Verdict, err)
	p.put = result
	r.state.Write.Sent = r.state.Write.Sent || result.Sent || result.Unknown || err != nil
	r.state.Requests.Approved.Drops = r.state.Requests.Approved.Drops && !result.Sent
	r.state.Write.Unknown = result.Unknown || err != nil
	if result.Memory != nil {
		r.state.Known.Baseline = result.Memory
	}
	if result.Sent || r.state.Write.Unknown {
		r.state.Write.Accepted = nil
	}
	if r.state.Write.Unknown && p.pre.Verdict.Create {
		r.state.Write.Accepted = &activities.AcceptedPut{Generation: p.generation, At: workflow.Now(ctx), Unanswered: true}
	}
	if result.Sent && !verdict.Stops() {
		p.written = &activities.AcceptedPut{
			Generation: p.generation, At: workflow.Now(ctx),
			Differences: p.pre.Verdict.Differences, Secrets: result.Secrets, Kept: result.Kept,
		}
		r.state.Write.Accepted = p.written
	}
	return result, verdict
}

// putKind returns why the pre-check requested a PUT.
func (s *State) putKind(pre resource.Verdict) activities.PutKind {
	switch {
	case !pre.Create && len(pre.Differences) == 0:
		return activities.PutUncompared
	case !pre.Create:
		return activities.PutChange
	case s.existed():
		return activities.PutRecreation
	case s.Write.Sent:
		return activities.PutCreationAgain
	}
	return activities.PutCreation
}

// registerProvider registers the provider namespace that the PUT was refused for. It is
// one request for the whole subscription.
func (r *reconciler) registerProvider(ctx workflow.Context, p *pass, namespace string) resource.Verdict {
	var a *activities.Activities
	result, err := execute(requestOptions(ctx, "register "+namespace+" in the subscription"), a.RegisterProvider, activities.RegisterProviderInput{
		ID: p.desired.ID, Namespace: namespace, Credential: p.desired.Credential, PassFacts: r.writeFacts(p),
	})
	return verdictOf(result.Verdict, err)
}

// wasReset reports whether the run continues from the middle of another one: a reset run
// keeps the run ID of its first start as the original one.
func wasReset(info *workflow.Info) bool {
	return info.OriginalRunID != "" && info.OriginalRunID != info.WorkflowExecution.RunID
}

// operation is a long-running operation that ARM accepted, or that was found in flight;
// without a token the resource itself is read.
type operation struct {
	method     string
	token      string
	retryAfter time.Duration
	// expect requests a read at the end of the operation.
	expect activities.Expectation
}

// poll waits for a long-running operation, for at most the manifest's timeout.
func (r *reconciler) poll(ctx workflow.Context, p *pass, o operation) resource.Verdict {
	r.startOperation(ctx, p, o)
	var a *activities.Activities
	cancelable, cancel := workflow.WithCancel(ctx)
	r.cancelPoll = cancel
	polling := pollOptions(cancelable, "wait for the "+o.method+" of "+p.desired.ID.Short(), p.desired.Timeout)
	in := activities.PollOperationInput{
		Target: p.target(), Token: o.token, RetryAfter: o.retryAfter, Replaced: r.state.Write.replaced(workflow.Now(ctx)),
		Delete: o.method == "DELETE", Expect: o.expect, Repeated: r.state.Retry.Repeated,
		Waiters: o.method == "PUT" && !r.state.Once,
	}
	if r.state.Deletion == nil && o.retryAfter < shortOperation {
		in.Short = shortOperation
	}
	result, err := execute(polling, a.PollOperation, in)
	if err == nil && result.Progress != nil {
		r.showOperation(ctx)
		in.Short, in.Progress = 0, result.Progress
		result, err = execute(polling, a.PollOperation, in)
	}
	p.polled = result
	r.state.Operation.Method, r.cancelPoll = "", nil
	verdict := pollVerdict(result.Verdict, err, p.desired)
	r.state.Write.endOperation(err == nil && verdict.Stops(), workflow.Now(ctx))
	if o.method == "PUT" && err == nil {
		r.state.Write.OperationRefusal = result.Refusal
	}
	if cancelable.Err() == nil {
		r.logDecision(ctx, p, "PollOperation", verdict)
	}
	return verdict
}

// shortOperation is how long an operation may take that lists do not show: most take seconds, and
// each write to the search attributes costs the server more than the polls.
const shortOperation = 5 * time.Second

// startOperation records that a long-running operation is in progress. Lists show it if it is
// not a short one.
func (r *reconciler) startOperation(ctx workflow.Context, p *pass, o operation) {
	now := workflow.Now(ctx)
	r.state.Operation.Method, r.state.Operation.Since = o.method, now
	r.state.Wait.For, r.state.Retry.NextTry = nil, time.Time{}
	if r.state.Deletion != nil {
		return
	}
	if !r.state.Condition.Ready {
		r.state.Condition.Set(resource.Condition{
			Severity: resource.SeverityInfo, Reason: resource.ReasonReconciling, ObservedGeneration: p.generation,
			Message: "ARM accepted the " + o.method + "; the operation is in progress",
		}, now)
	}
	r.state.Phase = PhaseOperating
	if o.retryAfter >= shortOperation {
		r.showOperation(ctx)
	}
}

// showOperation lets lists show the operation.
func (r *reconciler) showOperation(ctx workflow.Context) {
	r.setPhase(ctx, PhaseOperating, resource.ReasonReconciling)
}

// putSummary returns the decision behind the PUT, as the Web UI's timeline shows it.
func putSummary(p *pass) string {
	summary := "PUT " + nameAndVersion(p.desired)
	if p.pre.Verdict.Create {
		return summary + ": create"
	}
	var changes []string
	for _, difference := range p.pre.Verdict.Differences {
		changes = append(changes, difference.Path+" "+difference.Observed+" -> "+difference.Desired)
	}
	if len(changes) == 0 {
		return summary
	}
	return summary + ": " + strings.Join(changes, ", ")
}
