package workflows

import (
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"go.temporal.io/sdk/workflow"
)

// putResource writes the resource when the pre-check said so and it is its turn,
// waits for the operation, and reads the resource again.
func (r *reconciler) putResource(ctx workflow.Context, p *pass) resource.Verdict {
	if p.pre.Action == resource.ActionSkip {
		r.leaveQueue(ctx)
		return resource.Verdict{Action: resource.ActionSkip, Reason: resource.ReasonInSync}
	}
	if verdict := r.takeTurn(ctx, p, p.turn); verdict.Stops() || ctx.Err() != nil {
		return verdict
	}
	verdict := r.write(ctx, p)
	r.endTurn(ctx, p.turn)
	if verdict.Stops() || ctx.Err() != nil {
		return verdict
	}
	return r.readAfter(ctx, p, activities.ExpectPresent)
}

// readAfter takes the reading that the end of the operation brought, or makes one:
// an activity less is three transactions of the server less.
func (r *reconciler) readAfter(ctx workflow.Context, p *pass, expect activities.Expectation) resource.Verdict {
	if p.after == nil {
		return r.read(ctx, p, expect)
	}
	p.got, p.after = *p.after, nil
	return p.got.Verdict
}

// write sends the PUT and waits for its operation. A provider that the
// subscription is not registered for is registered first; then the PUT is sent
// again.
func (r *reconciler) write(ctx workflow.Context, p *pass) resource.Verdict {
	result, verdict := r.sendPut(ctx, p)
	if result.Unregistered != "" && ctx.Err() == nil {
		if verdict = r.registerProvider(ctx, p, result.Unregistered); verdict.Stops() || ctx.Err() != nil {
			return verdict
		}
		r.decided(ctx, p, "RegisterProvider", verdict)
		result, verdict = r.sendPut(ctx, p)
	}
	if verdict.Stops() || ctx.Err() != nil {
		return verdict
	}
	r.decided(ctx, p, "PutResource", verdict)
	if result.Done {
		return verdict
	}
	return r.poll(ctx, p, operation{"PUT", result.Token, result.RetryAfter, activities.ExpectPresent})
}

func (r *reconciler) sendPut(ctx workflow.Context, p *pass) (activities.PutResourceResult, resource.Verdict) {
	var a *activities.Activities
	var result activities.PutResourceResult
	put := requestOptions(ctx, putSummary(p))
	err := workflow.ExecuteActivity(put, a.PutResource, activities.PutResourceInput{
		Desired: p.desired, Memory: r.state.Memory, ObservedAt: p.got.ReadAt,
		Reset:      r.state.PutUnknown || wasReset(workflow.GetInfo(ctx)),
		Uncompared: !p.pre.Create && len(p.pre.Differences) == 0,
		Force:      p.forced(), Changes: r.state.Changes,
		Create: p.pre.Create, Correction: r.state.Settled == p.generation,
		Repeated: r.state.Ended,
	}).Get(ctx, &result)
	p.put, p.secrets = result.Sent, result.Secrets
	r.state.Wrote = r.state.Wrote || result.Sent || result.Unknown || err != nil
	r.state.PutUnknown = result.Unknown || err != nil
	return result, verdictOf(result.Verdict, err)
}

// registerProvider registers the provider whose absence refused the PUT; it is
// one request for the whole subscription.
func (r *reconciler) registerProvider(ctx workflow.Context, p *pass, namespace string) resource.Verdict {
	var a *activities.Activities
	var result activities.RegisterProviderResult
	options := requestOptions(ctx, "register "+namespace+" in the subscription")
	err := workflow.ExecuteActivity(options, a.RegisterProvider, activities.RegisterProviderInput{
		ID: p.desired.ID, Namespace: namespace, Credential: p.desired.Credential, Repeated: r.state.Ended,
	}).Get(ctx, &result)
	return verdictOf(result.Verdict, err)
}

// wasReset reports whether the run goes on from the middle of another one: a
// reset run keeps the run ID of its start as the original one.
func wasReset(info *workflow.Info) bool {
	return info.OriginalRunID != "" && info.OriginalRunID != info.WorkflowExecution.RunID
}

// operation is a long-running operation that ARM accepted, or that was found in
// flight; without a token the resource itself is read.
type operation struct {
	method     string
	token      string
	retryAfter time.Duration
	// expect asks for a read when it ended.
	expect activities.Expectation
}

// poll waits for a long-running operation, however long it takes.
func (r *reconciler) poll(ctx workflow.Context, p *pass, o operation) resource.Verdict {
	r.operate(ctx, p, o.method)
	var a *activities.Activities
	var result activities.PollOperationResult
	poll := pollOptions(ctx, "wait for the "+o.method+" of "+p.desired.ID.Short(), p.desired.Timeout)
	err := workflow.ExecuteActivity(poll, a.PollOperation, activities.PollOperationInput{
		ID: p.desired.ID, APIVersion: p.desired.APIVersion, Credential: p.desired.Credential, Token: o.token, RetryAfter: o.retryAfter,
		Plain: p.desired.Plain, Secret: p.desired.Secret, SecretRefs: p.desired.SecretRefs,
		Delete: o.method == "DELETE", Expect: o.expect, Repeated: r.state.Ended,
	}).Get(ctx, &result)
	r.state.Operation, p.after = "", result.Got
	verdict := pollVerdict(result.Verdict, err, p.desired)
	if ctx.Err() == nil {
		r.decided(ctx, p, "PollOperation", verdict)
	}
	return verdict
}

// putSummary is the decision behind the PUT, as the Web UI's timeline shows it.
func putSummary(p *pass) string {
	if p.pre.Create {
		return "PUT " + named(p.desired) + ": create"
	}
	summary := "PUT " + named(p.desired)
	for i, difference := range p.pre.Differences {
		separator := ", "
		if i == 0 {
			separator = ": "
		}
		summary += separator + difference.Path + " " + difference.Observed + " -> " + difference.Desired
	}
	return summary
}
