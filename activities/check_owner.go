package activities

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/armature-io/armature/activities/lookup"
	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/resource"
)

// CheckOwnerInput is the resource to check: its owner and its references.
type CheckOwnerInput struct {
	Desired resource.Desired `json:"desired"`
	// Deleting skips the references and reads the owner afresh.
	Deleting bool `json:"deleting,omitempty"`
	// PassFacts.Force skips the check of the owner, not the check of the references.
	PassFacts
	// BlockedBy are the resources that blocked the last check, without those that the
	// workflow was notified of since.
	BlockedBy []resource.ID `json:"blockedBy,omitempty"`
	// WaitedFor is how long the resource has been waiting for the same resources.
	WaitedFor time.Duration `json:"waitedFor,omitempty"`
}

// CheckOwnerResult is the verdict of the owner check.
type CheckOwnerResult struct {
	Verdict resource.Verdict `json:"verdict"`
	// Freed are the resources of BlockedBy that block nothing any more, unless their own
	// workflow announces that.
	Freed []resource.ID `json:"freed,omitempty"`
	// OwnerAbsent is set when ARM reported that the owner does not exist.
	OwnerAbsent bool `json:"ownerAbsent,omitempty"`
	// OverdueAfter is how long the resource may be not Ready before it is overdue:
	// the worker's setting, negative for never, also while the owner is in an
	// exempt state.
	OverdueAfter time.Duration `json:"overdueAfter,omitempty"`
	// Parts are the parts that the spec states something of, for the reads of the pass.
	Parts []string `json:"parts,omitempty"`
	// Audits is set by a worker with an audit trail, which gets requests of users and causes.
	Audits bool `json:"audits,omitempty"`
}

// CheckOwner is step 1, a local activity: it checks that owner and references let
// the pass continue. It makes no request to the resource itself, and reads the
// others through the cache within lookup.Timeout.
func (a *Activities) CheckOwner(ctx context.Context, in CheckOwnerInput) (CheckOwnerResult, error) {
	ctx = withCredential(ctx, in.Desired.Credential, in.Desired.ID)
	ctx, cancel := context.WithTimeout(withRunID(ctx), lookup.Timeout)
	defer cancel()
	a.noteChanges(in.Changes)
	facts := in.PassFacts
	in.PassFacts = facts.shared()
	result := a.checkOwner(ctx, in)
	if result.Verdict.Stops() && facts.Requested() && !in.Deleting {
		// It may rest on a reading from just before the request.
		in.PassFacts = facts
		result = a.checkOwner(ctx, in)
	}
	if !in.Deleting && !result.Verdict.Stops() {
		result.Parts = a.statedParts(in.Desired)
	}
	a.report("CheckOwner", result.Verdict)
	return result, nil
}

// checkOwner is CheckOwner as part of an activity.
func (a *Activities) checkOwner(ctx context.Context, in CheckOwnerInput) CheckOwnerResult {
	request := a.requestWithoutBody(in.Desired, in.PassFacts)
	request.Force = in.Force
	if stop := a.readOwner(ctx, &request, in); stop != nil {
		return CheckOwnerResult{Verdict: *stop, OverdueAfter: a.options.OverdueAfter, Audits: a.Audit.IsOn()}
	}
	if !in.Deleting {
		request.References = a.readReferences(ctx, in)
	}
	verdict := a.Registry.CheckOwner(ctx, request)
	if !verdict.Stops() && !in.Deleting {
		verdict = a.waitForOwnerOperation(ctx, verdict, request)
	}
	if !in.Deleting && !in.Force {
		verdict = a.states.waitForReadyOwner(ctx, verdict, in.Desired, in.RequestedAt)
	}
	if text := defaultedVersions(in, request); text != "" {
		verdict.Message = strings.TrimPrefix(verdict.Message+"; "+text, "; ")
	}
	if in.Deleting {
		verdict = a.leaveToOwnerDelete(ctx, verdict, request)
	}
	verdict.WaitingFor = verdict.WaitingFor[:min(len(verdict.WaitingFor), maxWaitingFor)]
	if verdict.Stops() {
		verdict.RetryWithin = a.lookup.UntilExpiry(verdict.WaitingFor)
		verdict = a.leaveToWake(ctx, readerOf(request).withAge(verdict, nil), in.WaitedFor)
	}
	return CheckOwnerResult{
		Verdict:      verdict,
		Freed:        a.freed(ctx, in.BlockedBy, request, verdict),
		OwnerAbsent:  request.Owner != nil && !request.Owner.Exists(),
		OverdueAfter: a.overdueAfter(request.Owner),
		Audits:       a.Audit.IsOn(),
	}
}

// minWoken is how long a block is retried at the pace of its reason although a wake ends it.
const minWoken = time.Hour

// leaveToWake lets a block that has lasted long be retried rarely if its end is a wake: each
// resource that it waits for is managed, and its workflow runs passes. The workflow of an
// idle one notices a change by another tool too late.
func (a *Activities) leaveToWake(ctx context.Context, verdict resource.Verdict, waited time.Duration) resource.Verdict {
	if !lastsLong(verdict, waited) {
		return verdict
	}
	for _, id := range verdict.WaitingFor {
		if managed, known, err := a.states.of(ctx, id, time.Time{}); err != nil || !known || managed.Idle {
			return verdict
		}
	}
	verdict.Class = resource.RetryWoken
	return verdict
}

// lastsLong reports whether a block by other resources has lasted so long that it is retried
// rarely if its end is a wake.
func lastsLong(verdict resource.Verdict, waited time.Duration) bool {
	return waited >= minWoken && len(verdict.WaitingFor) > 0 && verdict.Class == resource.RetrySlow
}

// overdueAfter returns the configured limit, and a negative one for never while
// the owner is in an exempt state.
func (a *Activities) overdueAfter(owner *resource.Object) time.Duration {
	if a.overdueExempt(owner) {
		return -1
	}
	return a.options.OverdueAfter
}

// overdueExempt reports whether an object is in one of the states in which it, and
// what it owns, is never overdue.
func (r *resourceReader) overdueExempt(object *resource.Object) bool {
	return slices.ContainsFunc(states(object), func(state string) bool {
		return slices.ContainsFunc(r.overdueStates, func(exempt string) bool { return strings.EqualFold(exempt, state) })
	})
}

// freed returns the resources of held that the check read, found free, and should
// announce. The workflow of a managed resource announces changes itself unless it
// is idle. What a check of this worker announced a moment ago is left out.
func (a *Activities) freed(ctx context.Context, held []resource.ID, request extensionhost.Request, verdict resource.Verdict) []resource.ID {
	if verdict.Stops() {
		return nil
	}
	var found []resource.ID
	for _, id := range held {
		if !wasRead(request, id) {
			continue
		}
		if managed, known, err := a.Fleet.Managed(ctx, id); err == nil && (!known || managed.Idle) && a.lookup.ShouldAnnounceFree(id) {
			found = append(found, id)
		}
	}
	return found
}

// wasRead reports whether the request contains a reading of a resource that exists.
func wasRead(request extensionhost.Request, id resource.ID) bool {
	if request.Owner.Exists() && request.Owner.ID.Equal(id) {
		return true
	}
	return slices.ContainsFunc(request.References, func(r extensionhost.ResolvedReference) bool {
		return r.Resolution.Found && r.Reference.ID.Equal(id)
	})
}

// leaveToOwnerDelete waits for the DELETE of an owner that blocks all access and is
// being deleted itself: it removes the resource too. While the owner is in another
// operation, the verdict stays.
func (a *Activities) leaveToOwnerDelete(ctx context.Context, verdict resource.Verdict, request extensionhost.Request) resource.Verdict {
	owner := request.Owner
	if !verdict.Stops() || !owner.Exists() || a.Registry.InFlight(owner.ID.Type(), owner.ProvisioningState()) {
		return verdict
	}
	managedOwner, deleting, err := deletingOwner(ctx, a.Fleet, request.Object.ID)
	if err != nil || !deleting {
		return verdict
	}
	return waitForOwnerDelete(managedOwner, verdict.Message)
}

// request returns what the extension points know of a resource before any read.
func (m *requestMaker) request(desired resource.Desired) extensionhost.Request {
	request := m.requestWithoutBody(desired, PassFacts{})
	request.Object.Desired, _ = resource.DecodeBody(desired.Body)
	return request
}

// bodyMode returns how a PUT handles values that the manifest does not state. By default it
// keeps those that other tools set since the last one, as far as the published shape of the
// type defines what may be sent back, and merges the body if there is no shape.
func bodyMode(desired resource.Desired) (keepOthers, merge bool) {
	published := drift.KeepsOthers(desired.ID.Type())
	byDefault := desired.Put == ""
	return byDefault && published, byDefault && !published || desired.Put == resource.PutMerge
}

func (m *requestMaker) requestWithoutBody(desired resource.Desired, facts PassFacts) extensionhost.Request {
	reader := &stepReader{
		id: desired.ID, client: m.client, lookup: m.lookup, managed: m.states, etags: m.etags, log: m.log, readSince: facts.RequestedAt,
	}
	keepOthers, merge := bodyMode(desired)
	return extensionhost.Request{
		Object: &resource.Object{
			ID: desired.ID, APIVersion: desired.APIVersion,
			Labels: desired.Labels, Policy: m.policyOf(desired), Generation: facts.Generation,
		},
		Resolver: reader, Client: &linkClient{reader: reader, desired: desired}, Masker: m.masker, Now: m.now(), Log: m.log, HashKey: m.key, FormerHashKey: m.formerKey,
		Ignore: desired.Ignore, Initial: desired.Initial, Enforce: desired.Enforce, ChildLists: m.registry.ChildLists(desired.ID.Type()),
		Merge: merge, KeepOthers: keepOthers,
		StatedOnly: desired.Put == resource.PutPatch, Facts: m.registry.Facts(desired.ID.Type()).Comparison,
	}
}

// ownerToRead returns the owner to read with its api-version, the zero reference for
// none. The manifest states the version of the direct owner only.
func (m *requestMaker) ownerToRead(desired resource.Desired) resource.Reference {
	id := m.registry.OwnerToRead(desired.ID)
	if id.Equal(desired.Owner) {
		return resource.Reference{ID: id, APIVersion: desired.OwnerAPIVersion}
	}
	return resource.Reference{ID: id, APIVersion: cmp.Or(resource.ContainerAPIVersion(id), desired.OwnerAPIVersion)}
}

// readOwner reads the owner into the request where a check needs it. A 403 is
// noted in the request; any other refusal is the verdict.
func (m *requestMaker) readOwner(ctx context.Context, request *extensionhost.Request, in CheckOwnerInput) *resource.Verdict {
	owner := m.ownerToRead(in.Desired)
	if owner.ID.IsZero() || in.Force {
		return nil
	}
	var notBefore time.Time
	if in.Deleting {
		notBefore = m.clock.Now()
	}
	m.lookup.NoteRequest(owner.ID, in.RequestedAt)
	got := m.lookup.Read(ctx, owner.ID, owner.APIVersion, notBefore)
	unknown, isUnknown := errors.AsType[*lookup.UnknownVersionError](got.Err)
	switch {
	case isUnknown:
		return new(resource.Fail(resource.ReasonCheckFailed, resource.RetryVerySlow, "the owner cannot be read: "+unknown.Error()))
	case isForbidden(got.Err):
		request.OwnerNote = "not readable, not checked"
	case arm.DoubtOf(got.Err) == arm.DoubtRepeatable && in.Deleting:
		request.OwnerNote = "it seems not to exist"
	case arm.DoubtOf(got.Err) == arm.DoubtRepeatable:
		// Its own workflow creates it and then wakes this one.
		verdict := resource.Block(resource.ReasonWaitingForOwner, fmt.Sprintf("Owner %q (%s) seems not to exist in Azure: %v",
			in.Desired.Owner.Short(), in.Desired.Owner.Type(), got.Err))
		verdict.WaitingFor = []resource.ID{in.Desired.Owner}
		return &verdict
	case got.Err != nil:
		verdict := m.errorVerdict(ctx, owner.ID, owner.APIVersion, got.Err)
		verdict.Message = "the owner " + owner.ID.Short() + " cannot be read: " + verdict.Message
		if verdict.Class == resource.RetryNone {
			verdict.Class, verdict.Severity = resource.RetryVerySlow, resource.SeverityWarning
		}
		return &verdict
	default:
		request.Owner = got.Object
		if m.registry.SeesOwner(in.Desired.ID.Type()) {
			m.states.addTo(ctx, request.Owner, in.RequestedAt)
		}
	}
	return nil
}

// maxNamedVersions bounds the resources in the text of defaultedVersions.
const maxNamedVersions = 3

// defaultedVersions returns a text that names the api-versions of owner and
// references for which the manifest states none, "" where it states all.
func defaultedVersions(in CheckOwnerInput, request extensionhost.Request) string {
	var read []string
	if owner := request.Owner; owner != nil && in.Desired.OwnerAPIVersion == "" {
		read = append(read, owner.ID.Short()+" with "+owner.APIVersion)
	}
	stated := slices.Concat(in.Desired.References, in.Desired.DependsOn)
	for i, reference := range request.References {
		if object := reference.Resolution.Object; stated[i].APIVersion == "" && object != nil {
			read = append(read, reference.Reference.ID.Short()+" with "+object.APIVersion)
		}
	}
	if len(read) == 0 {
		return ""
	}
	if more := len(read) - maxNamedVersions; more > 0 {
		read = append(read[:maxNamedVersions], fmt.Sprintf("%d more", more))
	}
	return "read " + strings.Join(read, ", ") + ", the newest api-version of the type"
}

// addOwner adds the owner for the later checks of a pass: the reading of
// CheckOwner, unless it has expired.
func (m *requestMaker) addOwner(ctx context.Context, request *extensionhost.Request, desired resource.Desired) {
	owner := m.ownerToRead(desired)
	if owner.ID.IsZero() {
		return
	}
	since := readerOf(*request).readSince
	m.lookup.NoteRequest(owner.ID, since)
	got := m.lookup.Read(ctx, owner.ID, owner.APIVersion, time.Time{})
	if got.Err != nil {
		request.OwnerNote = "not readable, not checked"
		return
	}
	request.Owner = got.Object
	if m.registry.SeesOwner(desired.ID.Type()) {
		m.states.addTo(ctx, request.Owner, since)
	}
}
