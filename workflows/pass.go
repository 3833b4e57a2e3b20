package workflows

import (
	"fmt"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// pass is the data that the steps of one pass share. The spec is the one at the start:
// a new generation waits for the next pass.
type pass struct {
	number     int64
	generation int64
	statedAt   time.Time
	desired    resource.Desired
	// specVersion is the api-version of the spec where a deletion replaced it, else "".
	specVersion string
	force       *ReconcileInput
	got         activities.GetResourceResult
	pre         resource.Verdict
	put         bool
	// written is the PUT whose result the post-check compares: of this pass, or of an
	// earlier one that ended before its post-check.
	written *activities.AcceptedPut
	// adopt is set when the differences are to stay.
	adopt bool
	// deleted is set once a DELETE of this pass ended well.
	deleted bool
	// after is the reading at the end of an operation; nil without one.
	after *activities.GetResourceResult
	// read is set once the resource was read in this pass.
	read bool
	// turn is the parent whose turn a change needs.
	turn resource.ID
	// overdueAfter is the limit of CheckOwnerResult; 0 until the worker reported it.
	overdueAfter time.Duration
	// content is as in PutResourceResult.
	content string
	// requestedAt is when a user last requested the pass, zero in other passes.
	requestedAt time.Time
	// replaceApproved is set when a user approved to delete the resource and to create it
	// again.
	replaceApproved bool
	// checked is set once the post-check ran.
	checked bool
	// unawaited is as in PollOperationResult.
	unawaited bool
	// keysDisabled is as in PostCheckResult.
	keysDisabled string
	// ready is the verdict of the post-check: a step after it that does not stop leaves it.
	ready resource.Verdict
}

// forced reports whether a user asked to skip the guards in this pass.
func (p *pass) forced() bool { return p.force != nil && p.force.Force }

// facts returns what the steps of a pass know of it.
func (r *reconciler) facts(p *pass) activities.PassFacts {
	return activities.PassFacts{
		Generation: p.generation, StatedAt: p.statedAt, Changes: r.state.Changes, Repeated: r.state.Retry.Repeated, Mandate: r.mandate(p),
	}
}

// writeFacts returns what the steps that write know of their pass.
func (r *reconciler) writeFacts(p *pass) activities.PassFacts {
	facts := r.facts(p)
	facts.Cause = r.writeCause(p)
	return facts
}

// mandate returns who wants the pass to write, and what users approved until now.
func (r *reconciler) mandate(p *pass) activities.Mandate {
	return activities.Mandate{
		RequestedAt: p.requestedAt, Correction: r.state.Ready.Generation == p.generation, Force: p.forced(),
		Approved: activities.Approvals{Recreation: r.state.Requests.Approved.Recreation, Replacement: p.replaceApproved, Drops: r.state.Requests.Approved.Drops},
	}
}

// step is one of the five: it returns its verdict, and a verdict that stops ends the
// pass.
type step struct {
	name string
	run  func(workflow.Context, *pass) resource.Verdict
}

// fiveSteps returns the steps of a pass. conclude turns the verdict that ends the pass into
// the condition.
func (r *reconciler) fiveSteps() []step {
	return []step{
		{"CheckOwner", r.checkOwner},
		{"GetResource", r.getResource},
		{"PreCheck", r.preCheck},
		{"PutResource", r.putResource},
		{"PostCheck", r.postCheck},
	}
}

// newPass copies the spec and takes the force of a reconcile message, which counts for
// one pass. What is masked comes from the body alone: the lists of the client stay in the
// state, where they are compared with those of the next apply, and are not used.
func (r *reconciler) newPass() *pass {
	p := &pass{
		number: r.state.Pass + 1, generation: r.state.Generation, statedAt: r.state.StatedAt,
		desired: r.masked(), force: r.state.Requests.Force,
	}
	r.state.Requests.Force = nil
	p.replaceApproved = r.state.Requests.Approved.Recreation
	if p.requestedAt = r.state.Requests.takeUserRequest(); !p.requestedAt.IsZero() {
		r.state.Write.Refusal = nil
	}
	if r.state.Deletion != nil && r.state.Deletion.APIVersion != "" {
		p.specVersion, p.desired.APIVersion = p.desired.APIVersion, r.state.Deletion.APIVersion
	}
	return p
}

// masked returns the spec with what its body states about secrets, computed once for each
// spec.
func (r *reconciler) masked() resource.Desired {
	if r.maskedFrom != r.state.Desired {
		r.maskedFrom, r.maskedSpec = r.state.Desired, r.state.Desired.WithSecrets()
	}
	return r.maskedSpec
}

// runSteps runs steps in order until one stops the pass, or a pause, a deletion, the end
// of one, a forget or a cancellation came meanwhile: a running operation finishes, no
// further step starts. A step that only reads is canceled then, also by a new spec.
func (r *reconciler) runSteps(ctx workflow.Context, p *pass, steps []step) {
	deleting := r.state.Deletion != nil
	var verdict resource.Verdict
	for i, step := range steps {
		r.receiveWakes(ctx)
		verdict = step.run(ctx, p)
		if ctx.Err() != nil || r.state.Forget != nil {
			return
		}
		if deleting && r.state.Deletion == nil {
			r.state.Pass = p.number
			r.announce(ctx, p)
			return
		}
		if r.interrupted {
			r.interrupt(ctx, p, step.name)
			return
		}
		r.logDecision(ctx, p, step.name, verdict)
		if i == len(steps)-1 || verdict.Stops() || r.state.deleted() {
			break
		}
		if !deleting && (r.state.Paused || r.state.Deletion != nil) {
			r.interrupt(ctx, p, step.name)
			return
		}
	}
	if p.checked && !verdict.Stops() {
		verdict = p.ready
	}
	r.conclude(ctx, p, verdict)
}

// checkOwner checks owner and references. It sends no request for the resource itself.
func (r *reconciler) checkOwner(ctx workflow.Context, p *pass) resource.Verdict {
	var a *activities.Activities
	checking := checkOptions(ctx, fmt.Sprintf("owner of %s, pass %d", p.desired.ID.Short(), p.number))
	result, err := executeLocal(checking, a.CheckOwner, activities.CheckOwnerInput{
		Desired: p.desired, PassFacts: r.facts(p), BlockedBy: r.state.Wait.BlockedBy,
	})
	p.overdueAfter = result.OverdueAfter
	if err == nil {
		r.followAudit(ctx, result.Audits)
	}
	verdict := verdictOf(result.Verdict, err)
	switch {
	case !verdict.Stops():
		r.announceFreed(ctx, result.Freed)
	case len(verdict.WaitingFor) > 0:
		r.state.Wait.BlockedBy = verdict.WaitingFor
	}
	return verdict
}

func (r *reconciler) getResource(ctx workflow.Context, p *pass) resource.Verdict {
	return r.read(ctx, p, activities.GetResourceInput{Identity: r.state.Known.Identity})
}

// readResource reads the resource into the pass.
func (r *reconciler) readResource(ctx workflow.Context, p *pass, expect activities.Expectation) resource.Verdict {
	return r.read(ctx, p, activities.GetResourceInput{Expect: expect})
}

func (r *reconciler) read(ctx workflow.Context, p *pass, in activities.GetResourceInput) resource.Verdict {
	var a *activities.Activities
	in.Target, in.Repeated, in.WithoutBody = p.desired.Target(), r.state.Retry.Repeated, r.inDeletion
	in.Deleted, in.PutAt = p.deleted, r.state.Write.acceptedAt(r.state.Deletion == nil)
	got, err := activities.GetResourceResult{}, error(nil)
	summary, first := "GET "+nameAndVersion(p.desired), r.isFirstRead()
	if first {
		got, err = executeLocal(firstReadOptions(ctx, summary), a.GetResource, in)
	}
	if !first || err != nil && ctx.Err() == nil {
		got, err = executeRead(requestOptions(ctx, summary), r, a.GetResource, in)
	}
	if !temporal.IsCanceledError(err) { // one that a message canceled showed nothing
		p.got = got
	}
	verdict := verdictOf(got.Verdict, err)
	p.read = p.read || !verdict.Stops()
	r.noteRead(p)
	return verdict
}

// isFirstRead reports whether nothing is known of the resource yet: it is then read within
// the workflow task. Of all passes, that of a creation has the most tasks.
func (r *reconciler) isFirstRead() bool {
	s := r.state
	return s.Deletion == nil && !s.Known.Seen && !s.Write.Sent && !s.existed() && len(s.Known.Identity) == 0
}

// noteRead records that the resource exists. An approval to recreate it is then used up.
func (r *reconciler) noteRead(p *pass) {
	if p.got.Exists {
		r.state.Known.Seen, r.state.Requests.Approved.Recreation = true, false
		r.state.Write.Shown = true
	}
}

// preCheck decides whether a PUT is due.
func (r *reconciler) preCheck(ctx workflow.Context, p *pass) resource.Verdict {
	var a *activities.Activities
	accepted := r.state.Write.acceptedFor(p.generation)
	if accepted != nil && p.got.InFlight != "" {
		accepted.At = workflow.Now(ctx)
	}
	checking := checkOptions(ctx, fmt.Sprintf("compare %s, pass %d", p.desired.ID.Short(), p.number))
	in := activities.PreCheckInput{
		Desired: p.desired, PassFacts: r.facts(p), Observed: p.got.Observed, Memory: r.state.Known.Baseline,
		Applied: r.state.applied(), Existed: r.state.existed(), PutAt: r.state.Write.acceptedAt(false), ExistenceOnly: p.got.ExistenceOnly,
		BlockedFor: r.blockedFor(ctx), Refusal: r.state.Write.Refusal,
		Moved: p.got.Moved, Identity: r.state.Known.Identity, Now: workflow.Now(ctx),
	}
	if accepted != nil {
		in.AcceptedAt = accepted.At
	}
	result, err := executeLocal(checking, a.PreCheck, in)
	p.turn, p.adopt = result.Turn, result.Adopt
	if result.Verify {
		p.written = accepted
	}
	p.pre = verdictOf(result.Verdict, err)
	return p.pre
}

// blockedFor returns how long an operation in flight has blocked the resource.
func (r *reconciler) blockedFor(ctx workflow.Context) time.Duration {
	if r.state.Condition.Reason != resource.ReasonOperationInProgress {
		return 0
	}
	return workflow.Now(ctx).Sub(r.state.Condition.LastTransitionTime)
}

// postCheck decides whether the resource is Ready, also when no PUT was due.
func (r *reconciler) postCheck(ctx workflow.Context, p *pass) resource.Verdict {
	var a *activities.Activities
	p.checked = true
	in := activities.PostCheckInput{
		Desired: p.desired, PassFacts: r.facts(p), Observed: p.got.Observed, Memory: r.state.Known.Baseline,
		Put: p.adopt, Adopted: p.adopt, Identity: r.state.Known.Identity, Now: workflow.Now(ctx),
	}
	if written := p.written; written != nil {
		in.Put, in.Adopted, in.Sent = true, false, true
		in.Differences, in.Secrets, in.Kept = written.Differences, written.Secrets, written.Kept
	}
	checking := checkOptions(ctx, fmt.Sprintf("readiness of %s, pass %d", p.desired.ID.Short(), p.number))
	result, err := executeLocal(checking, a.PostCheck, in)
	if err == nil {
		r.state.Known.Kept = result.Kept
	}
	if result.Memory != nil {
		r.state.Known.Baseline, r.state.Write.Accepted = result.Memory, nil
	}
	if result.Identity != nil {
		r.state.Known.Identity = result.Identity
	}
	p.keysDisabled = result.KeysDisabled
	p.ready = verdictOf(result.Verdict, err)
	return p.ready
}

// nameAndVersion returns how a summary names the resource.
func nameAndVersion(desired resource.Desired) string {
	return desired.ID.Short() + " " + desired.APIVersion
}
