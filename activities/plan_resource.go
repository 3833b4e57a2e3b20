package activities

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/armature-io/armature/resource"
)

// planPatience is how long a plan waits for ARM's budget before it says so.
const planPatience = 2 * time.Minute

// absenceMaxAge is how old a cached absence may be in a plan: the owner may have
// been created since by another worker. It is read again at most this often.
const absenceMaxAge = 2 * time.Second

// planning is one attempt of PlanResource.
type planning struct {
	*Activities
	in    PlanResourceInput
	heart *heart[readProgress]
	// memory is what the resource's workflow remembers; managed says that there
	// is one.
	memory  Recollection
	managed bool
	// after are the resources that the same plan creates first.
	after []resource.ID
}

// PlanResource tells what a pass would do to a resource, by the same steps:
// owner check, GET and pre-check. It never writes, whatever they say.
func (a *Activities) PlanResource(ctx context.Context, in PlanResourceInput) (PlanResourceResult, error) {
	ctx = as(ctx, in.Desired.Credential, in.Desired.ID)
	heart := startHeart[readProgress](ctx)
	defer heart.stop()
	p := &planning{Activities: a, in: in, heart: heart}
	requests, cancel := forARM(ctx)
	defer cancel()
	var err error
	if p.memory, p.managed, err = a.Recaller.Recall(requests, in.Desired.ID); err != nil {
		return p.notRecalled(requests, err)
	}
	if p.memory.Deleting {
		return p.end(requests, nil, resource.Block(resource.ReasonDeleting, "it is being deleted; plan again when it is gone"))
	}
	verdict, ownerComes := p.checkOwner(requests)
	switch {
	case verdict.Stops():
		return p.end(requests, nil, verdict)
	case ownerComes:
		// Nothing exists in what does not exist: no request tells more.
		return p.end(requests, nil, resource.Verdict{Action: resource.ActionProceed, Reason: resource.ReasonNotFound, Create: true})
	}
	return p.compare(ctx, requests)
}

// notRecalled asks once more for what the workflow remembers: without it, what
// Azure keeps by its own will would look like a change.
func (p *planning) notRecalled(requests context.Context, err error) (PlanResourceResult, error) {
	progress := p.heart.progress()
	progress.Faults++
	p.heart.record(progress)
	if again, retry := fault(err, progress.Faults); retry {
		return PlanResourceResult{}, again
	}
	return p.end(requests, nil, resource.Fail(resource.ReasonCheckFailed, resource.RetrySlow,
		"the workflow of the resource does not say what it remembers: "+err.Error()))
}

// compare reads the resource and asks whether a PUT is due.
func (p *planning) compare(ctx, requests context.Context) (PlanResourceResult, error) {
	desired := p.in.Desired
	got, err := p.getResource(ctx, GetResourceInput{
		ID: desired.ID, APIVersion: desired.APIVersion, Plain: desired.Plain, Secret: desired.Secret, SecretRefs: desired.SecretRefs,
	}, p.heart)
	if err != nil {
		return PlanResourceResult{}, err
	}
	if got.Verdict.Stops() {
		if again := p.heldBack(p.heart, got.Verdict); again != nil {
			return PlanResourceResult{}, again
		}
		return p.end(requests, nil, got.Verdict)
	}
	checks, cancel := context.WithTimeout(requests, readBudget)
	defer cancel()
	defer p.bodies.forget(desired.Body, got.Observed)
	observed, err := p.bodies.decode("observed", got.Observed)
	if err != nil {
		return p.end(requests, nil, resource.Fail(resource.ReasonFailed, resource.RetrySlow, err.Error()))
	}
	pre := p.preCheck(checks, PreCheckInput{
		Desired: desired, Observed: got.Observed, Memory: p.memory.Memory, Applied: p.memory.Applied,
	}).Verdict
	if pre.Action == resource.ActionBlock && pre.Reason == resource.ReasonReferenceNotReady && len(p.after) > 0 {
		// The value of a $ref comes with what is created first.
		pre = resource.Proceed("what it takes from " + names(listed(p.after)) + " is not known before that is created")
		pre.Create = !got.Exists
	}
	return p.end(requests, observed, pre)
}

// checkOwner is the owner check. What the same plan creates is taken as there;
// ownerComes says that the owner is among it.
func (p *planning) checkOwner(ctx context.Context) (verdict resource.Verdict, ownerComes bool) {
	ctx, cancel := context.WithTimeout(ctx, readBudget)
	defer cancel()
	in := CheckOwnerInput{Desired: p.in.Desired}
	request := p.bare(in.Desired)
	if stop := p.readOwner(ctx, &request, in); stop != nil {
		return *stop, false
	}
	if owner := request.Owner; owner != nil && !owner.Exists() {
		request.Owner = p.again(ctx, resource.Reference{ID: in.Desired.Owner, APIVersion: in.Desired.OwnerAPIVersion}, owner)
	}
	if owner := request.Owner; owner != nil && !owner.Exists() && p.together(owner.ID) {
		p.after = append(p.after, owner.ID)
		return resource.Proceed(""), true
	}
	for _, reference := range p.readReferences(ctx, in) {
		absent := reference.Err == nil && !reference.Resolution.Found
		if absent && p.together(reference.Reference.ID) && !p.again(ctx, reference.Reference, nil).Exists() {
			p.after = append(p.after, reference.Reference.ID)
			continue
		}
		request.References = append(request.References, reference)
	}
	return p.Registry.CheckOwner(ctx, request), false
}

// again reads what a cached reading calls absent, unless that was just now. A
// read that fails changes nothing.
func (p *planning) again(ctx context.Context, reference resource.Reference, before *resource.Object) *resource.Object {
	got := p.owners.read(ctx, reference.ID, reference.APIVersion, p.now().Add(-absenceMaxAge))
	if got.err != nil {
		return before
	}
	return got.object
}

func (p *planning) together(id resource.ID) bool {
	return slices.ContainsFunc(p.in.Together, func(other resource.ID) bool { return other.Equal(id) })
}

// heldBack asks for another attempt while ARM wants it later, for a while.
func (a *Activities) heldBack(heart *heart[readProgress], verdict resource.Verdict) error {
	if verdict.RetryAfter <= 0 || verdict.RetryAfter > planPatience || verdict.Action != resource.ActionBlock {
		return nil
	}
	progress := heart.progress()
	if progress.Since.IsZero() {
		progress.Since = a.now()
		heart.record(progress)
	}
	if a.now().Sub(progress.Since) >= planPatience {
		return nil
	}
	return notYet("ARM wants the read later: "+verdict.Message, verdict.RetryAfter)
}

// end turns the verdict with which a pass would go on, or stop, into the plan.
func (p *planning) end(ctx context.Context, observed map[string]any, verdict resource.Verdict) (PlanResourceResult, error) {
	result := PlanResourceResult{
		Action: planned(verdict), Reason: verdict.Reason, Severity: verdict.Severity, Message: verdict.Text(),
		APIVersion: p.in.Desired.APIVersion, Managed: p.managed, Generation: p.memory.Generation,
		Differences: verdict.Differences, More: verdict.More, Drops: verdict.Drops,
		After: p.after, WaitingFor: verdict.WaitingFor, RequestID: verdict.RequestID,
	}
	if result.Action == PlanCreate || result.Action == PlanUpdate {
		result.Held = p.held(ctx)
	}
	var err error
	if result.Fingerprint, err = p.fingerprint(result, p.in.Desired, observed); err != nil {
		result.Action, result.Message = PlanError, fmt.Sprintf("the plan has no fingerprint: %v", err)
	}
	p.observed("PlanResource", verdict)
	return result, nil
}

// held says what keeps a write back for now.
func (p *planning) held(ctx context.Context) string {
	if p.memory.Paused {
		return "it is paused: nothing starts until armature resume"
	}
	if stop := p.frozen(ctx, p.in.Desired); stop != nil {
		return stop.Message
	}
	return ""
}

// planned is the action that follows from a verdict of owner check, GET or
// pre-check. Drift that a policy only reports changes nothing.
func planned(verdict resource.Verdict) PlanAction {
	switch {
	case verdict.Reason == resource.ReasonDriftDetected:
		return PlanNone
	case verdict.Action == resource.ActionBlock:
		return PlanBlocked
	case verdict.Stops():
		return PlanError
	case verdict.Action == resource.ActionSkip:
		return PlanNone
	case verdict.Create:
		return PlanCreate
	}
	return PlanUpdate
}
