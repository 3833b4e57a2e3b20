package workflows

import (
	"fmt"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"go.temporal.io/sdk/workflow"
)

// pass is what the steps of one pass hand to each other. The spec is that of
// the start: a new generation waits for the next pass.
type pass struct {
	number     int64
	generation int64
	desired    resource.Desired
	force      *ReconcileInput
	got        activities.GetResourceResult
	pre        resource.Verdict
	put        bool
	// secrets are hashes of the secrets that the PUT sent.
	secrets map[string]string
	// adopt is set when the differences are to stay.
	adopt bool
	// after is what the end of an operation read, nil where nothing did.
	after *activities.GetResourceResult
	// read is set once the resource was read in this pass.
	read bool
	// turn is the parent whose turn a change needs.
	turn resource.ID
	// overdueAfter is the limit of CheckOwnerResult; 0 until the worker reported it.
	overdueAfter time.Duration
}

// forced reports whether a person asked to pass the guards in this pass.
func (p *pass) forced() bool { return p.force != nil && p.force.Force }

// step is one of the five: it returns its verdict, and the pass ends early when
// the verdict says so.
type step struct {
	name string
	run  func(workflow.Context, *pass) resource.Verdict
}

// fiveSteps are the steps of a pass. Conditions are set in conclude, nowhere
// else.
func (r *reconciler) fiveSteps() []step {
	return []step{
		{"CheckOwner", r.checkOwner},
		{"GetResource", r.getResource},
		{"PreCheck", r.preCheck},
		{"PutResource", r.putResource},
		{"PostCheck", r.postCheck},
	}
}

// newPass takes the spec, and the force that a reconcile asked for, once.
func (r *reconciler) newPass() *pass {
	p := &pass{
		number: r.state.Pass + 1, generation: r.state.Generation,
		desired: *r.state.Desired, force: r.state.Force,
	}
	r.state.Force = nil
	return p
}

// runSteps runs steps in order until one stops the pass or somebody paused,
// deleted or canceled meanwhile: an operation ends, no further step starts.
func (r *reconciler) runSteps(ctx workflow.Context, p *pass, steps []step) {
	deleting := r.state.Delete != nil
	var verdict resource.Verdict
	for i, step := range steps {
		r.takeWakes(ctx)
		verdict = step.run(ctx, p)
		if ctx.Err() != nil {
			return
		}
		r.decided(ctx, p, step.name, verdict)
		last := i == len(steps)-1
		if last || verdict.Stops() || r.state.gone() {
			break
		}
		if !deleting && (r.state.Paused || r.state.Delete != nil) {
			r.cutShort(ctx, p, step.name)
			return
		}
	}
	r.conclude(ctx, p, verdict)
}

// checkOwner makes no request to the resource itself.
func (r *reconciler) checkOwner(ctx workflow.Context, p *pass) resource.Verdict {
	var a *activities.Activities
	var result activities.CheckOwnerResult
	checking := checkOptions(ctx, fmt.Sprintf("owner of %s, pass %d", p.desired.ID.Short(), p.number))
	err := workflow.ExecuteLocalActivity(checking, a.CheckOwner, activities.CheckOwnerInput{
		Desired: p.desired, Force: p.forced(), Held: r.state.Held,
		Changes: r.state.Changes,
	}).Get(checking, &result)
	p.overdueAfter = result.OverdueAfter
	verdict := verdictOf(result.Verdict, err)
	switch {
	case !verdict.Stops():
		r.tellFreed(ctx, result.Freed)
	case len(verdict.WaitingFor) > 0:
		r.state.Held = verdict.WaitingFor
	}
	return verdict
}

// getResource reads the resource.
func (r *reconciler) getResource(ctx workflow.Context, p *pass) resource.Verdict {
	return r.read(ctx, p, activities.ExpectAny)
}

// read reads the resource into the pass.
func (r *reconciler) read(ctx workflow.Context, p *pass, expect activities.Expectation) resource.Verdict {
	var a *activities.Activities
	p.got = activities.GetResourceResult{}
	ctx = requestOptions(ctx, "GET "+named(p.desired))
	err := workflow.ExecuteActivity(ctx, a.GetResource, activities.GetResourceInput{
		ID: p.desired.ID, APIVersion: p.desired.APIVersion, Credential: p.desired.Credential,
		Plain: p.desired.Plain, Secret: p.desired.Secret, SecretRefs: p.desired.SecretRefs, Expect: expect, Repeated: r.state.Ended,
	}).Get(ctx, &p.got)
	verdict := verdictOf(p.got.Verdict, err)
	p.read = p.read || !verdict.Stops()
	return verdict
}

// preCheck decides whether a PUT is due.
func (r *reconciler) preCheck(ctx workflow.Context, p *pass) resource.Verdict {
	var a *activities.Activities
	var result activities.PreCheckResult
	ctx = checkOptions(ctx, fmt.Sprintf("compare %s, pass %d", p.desired.ID.Short(), p.number))
	err := workflow.ExecuteLocalActivity(ctx, a.PreCheck, activities.PreCheckInput{
		Desired: p.desired, Observed: p.got.Observed, Memory: r.state.Memory,
		Applied: r.state.applied(),
		Force:   p.forced(), BlockedFor: r.blockedFor(ctx),
		Changes: r.state.Changes,
	}).Get(ctx, &result)
	p.turn, p.adopt = result.Turn, result.Adopt
	p.pre = verdictOf(result.Verdict, err)
	return p.pre
}

// blockedFor is how long an operation in flight has blocked the resource.
func (r *reconciler) blockedFor(ctx workflow.Context) time.Duration {
	if r.state.Condition.Reason != resource.ReasonOperationInProgress {
		return 0
	}
	return workflow.Now(ctx).Sub(r.state.Condition.LastTransitionTime)
}

// postCheck decides whether the resource is Ready; after a skip too.
func (r *reconciler) postCheck(ctx workflow.Context, p *pass) resource.Verdict {
	var a *activities.Activities
	var result activities.PostCheckResult
	ctx = checkOptions(ctx, fmt.Sprintf("readiness of %s, pass %d", p.desired.ID.Short(), p.number))
	err := workflow.ExecuteLocalActivity(ctx, a.PostCheck, activities.PostCheckInput{
		Desired: p.desired, Observed: p.got.Observed, Memory: r.state.Memory,
		Put: p.put || p.adopt, Differences: differencesPut(p), Secrets: p.secrets,
		Changes: r.state.Changes,
	}).Get(ctx, &result)
	if err == nil {
		r.state.Kept = result.Kept
	}
	if result.Memory != nil {
		r.state.Memory = result.Memory
	}
	return verdictOf(result.Verdict, err)
}

// differencesPut are the reasons of the PUT, none when the pass adopted: nothing
// was asked of Azure that it did not take.
func differencesPut(p *pass) []resource.Difference {
	if p.adopt {
		return nil
	}
	return p.pre.Differences
}

// named is how a summary calls the resource.
func named(desired resource.Desired) string {
	return desired.ID.Short() + " " + desired.APIVersion
}

// applied reports whether this workflow wrote the resource or found it Ready.
func (s *State) applied() bool { return s.Wrote || s.Settled > 0 }
