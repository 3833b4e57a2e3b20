package activities

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/armature-io/armature/activities/contents"
	"github.com/armature-io/armature/activities/exporting"
	"github.com/armature-io/armature/activities/lookup"
	"github.com/armature-io/armature/activities/writing"
	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/resource"
)

// PlanAction is what a pass would do to a resource.
type PlanAction string

// The actions of a plan. None covers a resource in sync and one that a policy
// leaves alone. Replace is an update that Azure refuses: only a new resource has the values.
// Delete and Configure are for the CLI: it knows the resources that no
// manifest names any more, and reports a resource of None as Configure where an apply
// changes the spec.
const (
	PlanCreate  PlanAction = "create"
	PlanUpdate  PlanAction = "update"
	PlanReplace PlanAction = "replace"
	PlanDelete  PlanAction = "delete"
	PlanNone    PlanAction = "none"
	PlanBlocked PlanAction = "blocked"
	PlanError   PlanAction = "error"

	PlanConfigure PlanAction = "configure"
)

// PlanResourceInput is the spec to plan.
type PlanResourceInput struct {
	// Desired without an API version is an ID alone: the spec is that of the resource's workflow.
	Desired resource.Desired `json:"desired"`
	// Together are the resources it needs that the same plan contains: one of them
	// that does not exist is created first and does not block.
	Together []resource.ID `json:"together,omitempty"`
	Depth    PlanDepth     `json:"depth,omitempty"`
}

// PlanResourceResult is the plan of one resource; nothing in it is secret.
type PlanResourceResult struct {
	Action     PlanAction        `json:"action"`
	Reason     resource.Reason   `json:"reason,omitempty"`
	Severity   resource.Severity `json:"severity,omitempty"`
	Message    string            `json:"message,omitempty"`
	APIVersion string            `json:"apiVersion"`
	// Recorded is the spec of the resource's workflow, if a resource that was named by its ID
	// would be created or replaced.
	Recorded *resource.Desired `json:"recorded,omitempty"`
	// Managed is set when a workflow manages the resource already, with the spec of
	// Generation.
	Managed    bool  `json:"managed,omitempty"`
	Generation int64 `json:"generation,omitempty"`
	// Differences and More are as in resource.Verdict.
	Differences []resource.Difference `json:"differences,omitempty"`
	More        int                   `json:"more,omitempty"`
	// Authorship is as in resource.Verdict.
	resource.Authorship
	// Drops and MoreDrops are as in resource.Verdict.
	Drops     []string `json:"drops,omitempty"`
	MoreDrops int      `json:"moreDrops,omitempty"`
	// Replacement is set with PlanReplace.
	Replacement *Replacement `json:"replacement,omitempty"`
	Findings
	// Settings are what an apply changes in the applied spec. Its body is among them only
	// where nothing in Azure differs from it.
	Settings []resource.SpecChange `json:"settings,omitempty"`
	// After are the resources that the same plan creates first.
	After []resource.ID `json:"after,omitempty"`
	// Warnings are what Azure may refuse, for people.
	Warnings []string `json:"warnings,omitempty"`
	// Exports are what the pass would do to the secrets that the manifest exports to.
	Exports []exporting.Planned `json:"exports,omitempty"`
	// WaitingFor are the resources that block.
	WaitingFor []resource.ID `json:"waitingFor,omitempty"`
	RequestID  string        `json:"requestID,omitempty"`
	// Observed is why what differs is only reported, "" if it would be corrected.
	Observed string `json:"observed,omitempty"`
	// Held is why nothing is written for now although something is due: a pause or a
	// freeze.
	Held string `json:"held,omitempty"`
	// Preflight is ARM's judgement of the PUT, nil without a PUT or without PlanPreflight.
	Preflight *Preflight `json:"preflight,omitempty"`
	// Fingerprint is a keyed hash of the decision, of the generation and of what was
	// observed where the spec states something; it changes when one of them does.
	Fingerprint string `json:"fingerprint,omitempty"`
}

// maxPlanWait is how long a plan waits for ARM's budget.
const maxPlanWait = 2 * time.Minute

// maxAbsenceAge is how old a cached absence may be in a plan: another worker may
// have created the owner since. It is read again at most this often.
const maxAbsenceAge = 2 * time.Second

// planning is one attempt of PlanResource.
type planning struct {
	*resourceReader
	comparer *comparer
	checks   writing.Checks
	vaults   map[string][]resource.VaultPattern

	in        PlanResourceInput
	heartbeat *heartbeater[readProgress]
	// stated is the spec as the client sent it.
	stated resource.Desired
	// memory comes from the resource's workflow; managed is set when there is one.
	memory  WorkflowMemory
	managed bool
	// recorded is set if the spec is that of the workflow: what differs has changed in Azure.
	recorded bool
	// after are the resources that the same plan creates first.
	after []resource.ID
	// immutable are the differences that Azure refuses to correct.
	immutable []resource.Difference
	// askDeletion returns the facts on which a DELETE of the resource depends.
	askDeletion func(ctx context.Context, desired *resource.Desired) PlanDeletionResult
	// findings are those of the comparison with Azure, and ignored the paths that it left out:
	// those of the manifest, and those of other owners.
	findings Findings
	ignored  []string
}

// PlanResource returns what a pass would do to a resource, by the same steps: owner
// check, GET and pre-check. It never writes.
func (a *Activities) PlanResource(ctx context.Context, in PlanResourceInput) (PlanResourceResult, error) {
	heartbeat := startHeartbeat[readProgress](ctx)
	defer heartbeat.stop()
	memory, managed, unread := a.readMemory(ctx, in.Desired.ID)
	byID := in.Desired.APIVersion == ""
	switch {
	case byID && unread == nil && memory.Desired == nil:
		return PlanResourceResult{Action: PlanNone}, nil
	case byID && unread == nil:
		in.Desired = *memory.Desired
	}
	stated := in.Desired
	in.Desired = in.Desired.WithSecrets()
	ctx = withCredential(ctx, in.Desired.Credential, in.Desired.ID)
	reader := a.resourceReader.startedAt(a.options.StartTime(ctx))
	p := &planning{
		resourceReader: reader, comparer: &comparer{reader.requestMaker, a.options.SettleTime}, checks: a.checks(), vaults: a.options.Exports,
		in: in, stated: stated, heartbeat: heartbeat, memory: memory, managed: managed, recorded: byID, askDeletion: a.deletionFacts,
	}
	requests, cancel := requestContext(ctx)
	defer cancel()
	result, err := p.plan(ctx, requests, unread)
	if err == nil && in.Depth == PlanPreflight {
		err = a.preflight(requests, p, &result)
	}
	if err != nil {
		return PlanResourceResult{}, err
	}
	if byID && (result.Action == PlanCreate || result.Action == PlanReplace) {
		result.Recorded = &stated
	}
	return result, nil
}

// readMemory reads the memory of a resource as a request of the activity.
func (a *Activities) readMemory(ctx context.Context, id resource.ID) (WorkflowMemory, bool, error) {
	ctx, cancel := requestContext(ctx)
	defer cancel()
	return a.Memory.ReadMemory(ctx, id)
}

// plan compares the resource with its manifest. unread is why its workflow has not returned
// its memory.
func (p *planning) plan(ctx, requests context.Context, unread error) (PlanResourceResult, error) {
	if unread != nil {
		// Without its baseline, the values that Azure keeps would look like changes.
		if retry := countTransient(p.heartbeat, unread); retry != nil {
			return PlanResourceResult{}, retry
		}
		return p.finish(requests, nil, resource.Fail(resource.ReasonCheckFailed, resource.RetrySlow,
			"cannot query the workflow of the resource: "+unread.Error()))
	}
	if p.memory.Deleting {
		return p.finish(requests, nil, resource.Block(resource.ReasonDeleting, "it is being deleted; plan again once it is deleted"))
	}
	verdict, ownerPlanned := p.checkOwner(requests)
	switch {
	case verdict.Stops():
		return p.finish(requests, nil, verdict)
	case ownerPlanned:
		// Without its owner the resource does not exist: no request is needed.
		return p.finish(requests, nil, resource.Verdict{Action: resource.ActionProceed, Reason: resource.ReasonNotFound, Create: true})
	}
	return p.compare(ctx, requests)
}

// compare reads the resource and decides whether a PUT is due.
func (p *planning) compare(ctx, requests context.Context) (PlanResourceResult, error) {
	desired := p.in.Desired
	got, err := p.getResource(ctx, GetResourceInput{Target: p.target(desired), Identity: p.memory.Identity}, p.heartbeat)
	if err != nil {
		return PlanResourceResult{}, err
	}
	if got.Verdict.Stops() {
		if retry := p.awaitBudget(p.heartbeat, got.Verdict); retry != nil {
			return PlanResourceResult{}, retry
		}
		return p.finish(requests, nil, got.Verdict)
	}
	checks, cancel := context.WithTimeout(requests, lookup.Timeout)
	defer cancel()
	defer p.bodies.Drop(desired.Body, got.Observed)
	observed, err := p.bodies.Decode("observed", got.Observed)
	if err != nil {
		return p.finish(requests, nil, resource.Fail(resource.ReasonFailed, resource.RetrySlow, err.Error()))
	}
	in := PreCheckInput{
		Desired: desired, Observed: got.Observed, Memory: p.memory.Memory, Applied: p.memory.Applied, Existed: p.memory.Existed,
		ExistenceOnly: got.ExistenceOnly, Completed: got.Completed,
		Moved: got.Moved, Identity: p.memory.Identity, Reported: p.memory.Reported,
	}
	request, stop := p.comparer.requestWithOwner(checks, in.Desired, in.PassFacts, in.Observed, in.Memory)
	var verdict resource.Verdict
	if stop != nil {
		verdict = *stop
	} else {
		verdict = p.comparer.withAuthor(p.comparer.decide(checks, in, request).Verdict, in, p.recorded)
		options := request.Comparison()
		options.Answer = in.Observed
		found := drift.Compare(request.Object.Desired, request.Object.Observed, options)
		p.immutable = drift.Immutable(found.Differences, options)
		p.findings, p.ignored = findingsOf(request.Object, found, options), options.Ignore
	}
	if verdict.Action == resource.ActionBlock && verdict.Reason == resource.ReasonReferenceNotReady && len(p.after) > 0 {
		// The value of a $ref is known once its resource is created.
		verdict = resource.Proceed("values from " + contents.NameAll(contents.DisplayNames(p.after)) + " are not known before that is created")
		verdict.Create = !got.Exists
	}
	return p.finish(requests, observed, verdict)
}

// checkOwner is the owner check. It treats resources that the same plan creates as
// present; ownerPlanned is set when the owner is one of them.
func (p *planning) checkOwner(ctx context.Context) (verdict resource.Verdict, ownerPlanned bool) {
	ctx, cancel := context.WithTimeout(ctx, lookup.Timeout)
	defer cancel()
	in := CheckOwnerInput{Desired: p.in.Desired}
	request := p.requestWithoutBody(in.Desired, PassFacts{})
	if stop := p.readOwner(ctx, &request, in); stop != nil {
		if stop.Reason == resource.ReasonWaitingForOwner && p.isPlanned(in.Desired.Owner) {
			p.after = append(p.after, in.Desired.Owner)
			return resource.Proceed(""), true
		}
		return *stop, false
	}
	if owner := request.Owner; owner != nil && !owner.Exists() {
		request.Owner = p.reread(ctx, p.ownerToRead(in.Desired), owner)
	}
	if owner := request.Owner; owner != nil && !owner.Exists() && p.isPlanned(owner.ID) {
		p.after = append(p.after, owner.ID)
		return resource.Proceed(""), true
	}
	for _, reference := range p.readReferences(ctx, in) {
		absent := reference.Err == nil && !reference.Resolution.Found
		if absent && p.isPlanned(reference.Reference.ID) && !p.reread(ctx, reference.Reference, nil).Exists() {
			p.after = append(p.after, reference.Reference.ID)
			continue
		}
		request.References = append(request.References, reference)
	}
	return p.states.waitForReadyOwner(ctx, p.registry.CheckOwner(ctx, request), in.Desired, in.RequestedAt), false
}

// reread reads a resource that a cached reading shows as absent, unless that is
// younger than maxAbsenceAge. It returns before where the read fails.
func (p *planning) reread(ctx context.Context, reference resource.Reference, before *resource.Object) *resource.Object {
	got := p.lookup.Read(ctx, reference.ID, reference.APIVersion, p.clock.Now().Add(-maxAbsenceAge))
	if got.Err != nil {
		return before
	}
	return got.Object
}

func (p *planning) isPlanned(id resource.ID) bool {
	return slices.ContainsFunc(p.in.Together, id.Equal)
}

// awaitBudget returns the error that makes Temporal retry a throttled read after
// ARM's Retry-After, for up to maxPlanWait.
func (r *resourceReader) awaitBudget(heartbeat *heartbeater[readProgress], verdict resource.Verdict) error {
	if verdict.RetryAfter <= 0 || verdict.RetryAfter > maxPlanWait || verdict.Action != resource.ActionBlock {
		return nil
	}
	if r.sinceFirst(heartbeat) >= maxPlanWait {
		return nil
	}
	return notYet("ARM requested a later read: "+verdict.Message, verdict.RetryAfter)
}

// finish turns the verdict with which a pass would continue, or stop, into the
// plan.
func (p *planning) finish(ctx context.Context, observed map[string]any, verdict resource.Verdict) (PlanResourceResult, error) {
	result := PlanResourceResult{
		Action: planAction(verdict), Reason: verdict.Reason, Severity: verdict.Severity, Message: verdict.Text(),
		APIVersion: p.in.Desired.APIVersion, Managed: p.managed, Generation: p.memory.Generation,
		Differences: verdict.Differences, More: verdict.More, Drops: verdict.Drops, MoreDrops: verdict.MoreDrops,
		Authorship: verdict.Authorship,
		Findings:   p.findings, After: p.after, WaitingFor: verdict.WaitingFor, RequestID: verdict.RequestID,
		Observed: p.observing(p.in.Desired),
	}
	p.checkOffer(ctx, &result)
	p.checkReplacement(ctx, observed, &result)
	result.Settings = p.settings(result)
	if result.Action == PlanCreate || result.Action == PlanUpdate || result.Action == PlanReplace {
		result.Held = p.writeHold(ctx)
	}
	if result.Action != PlanError && result.Action != PlanBlocked && result.Observed == "" {
		result.Exports = p.planExports(ctx, observed)
	}
	var err error
	if result.Fingerprint, err = p.fingerprint(result, p.in.Desired, observed, p.ignored); err != nil {
		result.Action, result.Message = PlanError, fmt.Sprintf("the plan has no fingerprint: %v", err)
	}
	p.report("PlanResource", verdict)
	return result, nil
}

// settings returns what an apply changes in the applied spec.
func (p *planning) settings(result PlanResourceResult) []resource.SpecChange {
	if !p.managed || p.memory.Desired == nil || p.memory.Deleting {
		return nil
	}
	changes := resource.SpecChanges(*p.memory.Desired, p.stated)
	return slices.DeleteFunc(changes, func(c resource.SpecChange) bool {
		return c.Path == "body" && (result.Action != PlanNone || len(result.Differences) > 0)
	})
}

// writeHold returns what stops a write for now, "" where nothing does.
func (p *planning) writeHold(ctx context.Context) string {
	if observing := p.observing(p.in.Desired); observing != "" {
		return observing + ": it is reported only"
	}
	if p.memory.Paused {
		return "it is paused: no pass starts until armature resume"
	}
	if stop := p.checks.CheckFreeze(ctx, p.in.Desired); stop != nil {
		return stop.Message
	}
	return ""
}

// planAction returns the action that follows from a verdict of owner check, GET or
// pre-check. Drift that a policy only reports changes nothing.
func planAction(verdict resource.Verdict) PlanAction {
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
