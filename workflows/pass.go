package workflows

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"go.temporal.io/sdk/workflow"
)

// pass is what the steps of one pass share: the spec, who requested it, and the results of
// the steps until now.
type pass struct {
	number  int64
	request userRequest
	passSpec
	// overdueAfter is the limit of CheckOwnerResult; 0 until the worker reported it.
	overdueAfter time.Duration
	// parts are those of CheckOwnerResult.
	parts []string
	// got is the last reading, zero until one succeeded.
	got activities.GetResourceResult
	pre activities.PreCheckResult
	passWrite
	// post is the result of the post-check, nil until it ran. A step after it that does not
	// stop leaves its verdict.
	post *activities.PostCheckResult
}

// passSpec is the spec at the start of the pass: a new generation waits for the next one.
type passSpec struct {
	generation int64
	statedAt   time.Time
	desired    resource.Desired
	// specVersion is the api-version of the spec where a deletion replaced it, else "".
	specVersion string
}

// passWrite is what a pass writes, and what became of it.
type passWrite struct {
	// turn is the parent whose turn the write needs, queuedAt the time since when the pass waits
	// for it; granted is set once it has it.
	turn     resource.ID
	queuedAt time.Time
	granted  bool
	put      activities.PutResourceResult
	deleted  activities.DeleteResourceResult
	// polled is the end of the operation of the write. Its reading is used once.
	polled activities.PollOperationResult
	// written is the PUT whose result the post-check compares: of this pass, or of an
	// earlier one that ended before its post-check.
	written *activities.AcceptedPut
}

// target returns what a read of the pass needs.
func (p *pass) target() resource.Target {
	target := p.desired.Target()
	target.Parts = p.parts
	return target
}

// hasRead reports whether the pass has read the resource.
func (p *pass) hasRead() bool { return p.got.Verdict.Action != "" }

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
		RequestedAt: p.request.At, Correction: r.state.Ready.Generation == p.generation, Force: p.request.forced(), Approved: r.state.Requests.Approved,
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

// newPass copies the spec and takes the request of the user. What is masked comes from the
// body alone: the lists of the client stay in the state, where they are compared with those
// of the next apply, and are not used.
func (r *reconciler) newPass() *pass {
	p := &pass{
		number: r.state.Pass + 1, request: r.state.Requests.take(),
		passSpec: passSpec{generation: r.state.Generation, statedAt: r.state.StatedAt, desired: r.masked()},
	}
	if !p.request.At.IsZero() {
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
		r.receiveSignals(ctx)
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
	if p.post != nil && !verdict.Stops() {
		verdict = p.post.Verdict
	}
	r.conclude(ctx, p, verdict)
}

// checkOwner checks owner and references. It sends no request for the resource itself.
func (r *reconciler) checkOwner(ctx workflow.Context, p *pass) resource.Verdict {
	var a *activities.Activities
	checking := checkOptions(ctx, fmt.Sprintf("owner of %s, pass %d", p.desired.ID.Short(), p.number))
	result, err := executeLocal(checking, a.CheckOwner, activities.CheckOwnerInput{
		Desired: p.desired, PassFacts: r.facts(p), BlockedBy: r.state.Wait.BlockedBy, WaitedFor: r.state.Wait.lasted(workflow.Now(ctx)),
	})
	p.overdueAfter, p.parts = result.OverdueAfter, result.Parts
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

// getResource reads the resource.
func (r *reconciler) getResource(ctx workflow.Context, p *pass) resource.Verdict {
	return r.read(ctx, p, activities.GetResourceInput{Identity: r.state.Known.Identity})
}

// readResource reads the resource into the pass.
func (r *reconciler) readResource(ctx workflow.Context, p *pass, expect activities.Expectation) resource.Verdict {
	return r.read(ctx, p, activities.GetResourceInput{Expect: expect})
}

// read reads the resource: by a look within the workflow task if that may suffice, else, or if
// the look fails, by an activity.
func (r *reconciler) read(ctx workflow.Context, p *pass, in activities.GetResourceInput) resource.Verdict {
	r.completeRead(ctx, p, &in)
	var a *activities.Activities
	var got activities.GetResourceResult
	var err error
	if r.looks(in.Expect) {
		got, err = look(ctx, r, readSummary(p), a.GetResource, in)
	} else {
		got, err = executeRead(requestOptions(ctx, readSummary(p)), r, a.GetResource, in)
	}
	verdict := verdictOf(got.Verdict, err)
	if !verdict.Stops() {
		r.noteRead(p, got)
		if !got.Exists && !r.inDeletion {
			r.notifyFallen(ctx)
		}
	}
	return verdict
}

func readSummary(p *pass) string { return "GET " + nameAndVersion(p.desired) }

// completeRead completes the input of a read.
func (r *reconciler) completeRead(ctx workflow.Context, p *pass, in *activities.GetResourceInput) {
	in.Target, in.Repeated, in.WithoutBody = p.target(), r.state.Retry.Repeated, r.inDeletion
	in.Deleted, in.Existed = p.deleted.Accepted, r.state.existed() && !r.state.Deletion.sent()
	in.Replaced = r.state.Write.replaced(workflow.Now(ctx))
	if deletion := r.state.Deletion; deletion != nil && r.inDeletion {
		in.Identity = deletion.Identity
	}
}

// looks reports whether a look, within the workflow task, may suffice for a read of a pass. It
// may for a resource of which nothing is known yet and for the read after a PUT, because the pass
// of a creation has the most tasks, and for the pass of a resource that was Ready, because these
// are the most passes.
func (r *reconciler) looks(expect activities.Expectation) bool {
	s := r.state
	unknown := !s.Known.Seen && !s.Write.Sent && !s.existed() && len(s.Known.Identity) == 0
	return s.Deletion == nil && (unknown || s.Phase == PhaseReady || expect == activities.ExpectPresent)
}

// noteRead takes a reading.
func (r *reconciler) noteRead(p *pass, got activities.GetResourceResult) {
	p.got = got
	if got.Exists {
		r.state.Known.Seen = true
		r.state.Requests.noteExisting(got.InFlight)
	}
	if deletion := r.state.Deletion; deletion != nil && r.inDeletion {
		deletion.noteRead(got)
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
		Desired: p.desired, PassFacts: r.facts(p), Observed: p.got.Observed, Completed: p.got.Completed, Memory: r.state.Known.Baseline,
		Applied: r.state.applied(), Existed: r.state.existed(), PutAt: r.state.Write.At, ExistenceOnly: p.got.ExistenceOnly,
		BlockedFor: r.blockedFor(ctx), Refusal: r.state.Write.Refusal,
		Moved: p.got.Moved, Identity: r.state.Known.Identity, Now: workflow.Now(ctx), Reported: r.state.Reported.Changes,
	}
	if accepted != nil {
		in.AcceptedAt, in.Unanswered = accepted.At, accepted.Unanswered
	}
	result, err := executeLocal(checking, a.PreCheck, in)
	if result.Verify {
		p.written = accepted
	}
	p.pre, p.turn = result, result.Turn
	p.pre.Verdict = verdictOf(result.Verdict, err)
	return p.pre.Verdict
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
	in := activities.PostCheckInput{
		Desired: p.desired, PassFacts: r.facts(p), Observed: p.got.Observed, Completed: p.got.Completed, Memory: r.state.Known.Baseline,
		Put: p.pre.Adopt, Adopted: p.pre.Adopt, Identity: r.state.Known.Identity, Now: workflow.Now(ctx),
	}
	if written := p.written; written != nil {
		in.Put, in.Adopted, in.Sent = true, false, true
		in.Differences, in.Secrets, in.Kept = written.Differences, written.Secrets, written.Kept
	}
	checking := checkOptions(ctx, fmt.Sprintf("readiness of %s, pass %d", p.desired.ID.Short(), p.number))
	result, err := executeLocal(checking, a.PostCheck, in)
	if err == nil {
		r.noteFindings(ctx, result.Findings)
	}
	if result.Memory != nil {
		r.state.Known.Baseline, r.state.Write.Accepted = result.Memory, nil
	}
	if result.Identity != nil {
		r.state.Known.Identity = result.Identity
	}
	result.Verdict = verdictOf(result.Verdict, err)
	if result.Verdict.Reason == resource.ReasonChangeNotTaken {
		r.state.Write.Replaced = nil // a later read that shows them again is a change
	}
	p.post = &result
	return result.Verdict
}

// ForeignMetric counts changes of values that no manifest contains, without names.
const ForeignMetric = "armature_foreign_changes_total"

// noteFindings keeps the findings of a post-check, and counts a change of the values that no
// manifest contains. The SDK's metrics handler is silent during a replay.
func (r *reconciler) noteFindings(ctx workflow.Context, found activities.Findings) {
	if len(found.Foreign) > 0 && !slices.Equal(found.Foreign, r.state.Known.Foreign) {
		workflow.GetMetricsHandler(ctx).Counter(ForeignMetric).Inc(1)
	}
	r.state.Known.Findings = found
}

// nameAndVersion returns how a summary names the resource.
func nameAndVersion(desired resource.Desired) string {
	return strings.TrimSpace(desired.ID.Short() + " " + desired.APIVersion)
}
