package activities

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/armature-io/armature/activities/writing"
	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/resource"
)

// MaxObservationAge is how old the read may be that a PUT is based on.
const MaxObservationAge = 30 * time.Second

// PutResourceInput is what to write.
type PutResourceInput struct {
	Desired resource.Desired `json:"desired"`
	PassFacts
	// Kind is why the pass writes.
	Kind PutKind `json:"kind,omitempty"`
	// Newest is a newer generation that is applied already, else 0.
	Newest int64 `json:"newest,omitempty"`
	// Memory is the baseline that PostCheck returned; a re-read compares with it.
	Memory json.RawMessage `json:"baseline,omitempty"`
	// ObservedAt is the time of the read that the decision is based on.
	ObservedAt time.Time `json:"observedAt"`
	// MaySent is set if this very PUT may have been sent before, by a run that was reset or
	// with an unknown outcome.
	MaySent bool `json:"maySent,omitempty"`
	// OperationRefusal is set after a PUT that failed in its operation, until another one
	// is sent.
	OperationRefusal *OperationRefusal `json:"operationRefusal,omitempty"`
	// Token is the same in all passes that try to make one write, and another one after ARM
	// accepted it.
	Token string `json:"token,omitempty"`
}

// PutKind is why a pass writes a resource, as far as its reads and its workflow know.
type PutKind string

// The kinds of PUTs. The zero value changes a resource that differs from the manifest.
const (
	PutChange PutKind = ""
	// PutUncompared is a PUT that an extension requested without a comparison: it is also
	// sent if the resource is in sync.
	PutUncompared PutKind = "uncompared"
	// PutCreation creates a resource that this workflow never read and never sent a PUT of.
	PutCreation PutKind = "creation"
	// PutCreationAgain creates a resource that no earlier PUT of this workflow made visible.
	PutCreationAgain PutKind = "creationAgain"
	// PutRecreation creates a resource again that this workflow read before: it was deleted.
	PutRecreation PutKind = "recreation"
)

// creates reports whether the pass read the resource as absent.
func (k PutKind) creates() bool {
	return k == PutCreation || k == PutCreationAgain || k == PutRecreation
}

// PutResourceResult is the outcome of the PUT.
type PutResourceResult struct {
	// Verdict stops the pass when ARM refused.
	Verdict resource.Verdict `json:"verdict"`
	// Done is set when there is nothing to wait for.
	Done bool `json:"done,omitempty"`
	// Token resumes the long-running operation. "" with Done unset means that the
	// resource is read until it has settled.
	Token string `json:"token,omitempty"`
	// RetryAfter is the wait before the first poll.
	RetryAfter time.Duration `json:"retryAfter,omitempty"`
	// Sent is false when the PUT turned out to be needless or in flight.
	Sent bool `json:"sent,omitempty"`
	// Secrets are keyed hashes of the secrets that were sent, by reference: one may
	// be rotated before PostCheck. Nil without a secret key.
	Secrets map[string]string `json:"secrets,omitempty"`
	// Kept are hashes of the paths of the values in the body that other tools set.
	Kept string `json:"kept,omitempty"`
	// Content is a keyed hash of what was refused, or may still fail (Refusal.Sent).
	Content string `json:"content,omitempty"`
	// Replace is set when the resource is to be deleted and created again.
	Replace bool `json:"replace,omitempty"`
	// ETag is set with Replace: the ETag of the resource to delete, if ARM shows one.
	ETag string `json:"etag,omitempty"`
	// Replaced are the values that the PUT was to change, nil without any.
	Replaced *Replaced `json:"replaced,omitempty"`
	// Refusal is set if the operation failed at once because of what the body says.
	Refusal *OperationRefusal `json:"refusal,omitempty"`
	// Memory replaces the baseline, if it is set: it has the values that ARM refused.
	Memory json.RawMessage `json:"baseline,omitempty"`
	// Unknown is set if the activity gave up on a PUT that ARM may have accepted: the next
	// PutResource needs MaySent.
	Unknown bool `json:"unknown,omitempty"`
	// Unregistered is the provider that the subscription is not registered for,
	// when ARM refused because of that: RegisterProvider is next.
	Unregistered string `json:"unregistered,omitempty"`
}

// putProgress is what an attempt of a PUT records for the next one. The
// record of an attempt that ended with an error always arrives; if the worker died,
// it may be lost.
type putProgress struct {
	lastAnswer
	TransientErrors int `json:"transientErrors,omitempty"`
	// Unsent counts the attempts, from the first, that certainly sent nothing: after
	// them no PUT of unknown outcome is possible.
	Unsent int `json:"unsent,omitempty"`
	// AbsentSince is when a read after a PUT of unknown outcome first found nothing,
	// AbsentAttempt the attempt that last did: if a later one died, it may have sent
	// another PUT, and the wait starts over.
	AbsentSince   time.Time `json:"absentSince,omitzero"`
	AbsentAttempt int       `json:"absentAttempt,omitempty"`
}

// put is one attempt of PutResource.
type put struct {
	*requestMaker
	checks writing.Checks
	newer  *newerVersions
	// patchOnly are the types, in lower case, that have no PUT.
	patchOnly                    *sync.Map
	report                       reporter
	rereadWindow, rereadInterval time.Duration
	disappearanceBudget          int

	in      PutResourceInput
	request extensionhost.Request
	putAttempt
	putReading
	putBody
}

// putAttempt is the place of an attempt among the attempts of one PUT.
type putAttempt struct {
	heartbeat *heartbeater[putProgress]
	attempt   int
	// maySent is set if an attempt before this one may have sent the PUT, repeated also in a
	// run that was reset, sending if this attempt sends one.
	maySent, repeated, sending bool
}

// noteUnsent records that this attempt sends no PUT.
func (a *putAttempt) noteUnsent() {
	if progress := a.heartbeat.progress(); progress.Unsent == a.attempt-1 {
		progress.Unsent = a.attempt
		a.heartbeat.send(progress)
	}
}

// outcomeUnknown reports whether ARM may have accepted a PUT although the attempt failed.
func (a *putAttempt) outcomeUnknown(err error) bool {
	return a.heartbeat.progress().Unsent < a.attempt && (isTransient(err) || a.repeated && !a.sending)
}

// putReading is the last read of the resource, on which the PUT rests.
type putReading struct {
	etag string
	// unconditional is set if the PUT is sent without a condition, because ARM refused one that
	// holds.
	unconditional bool
	// preconditionRetries counts the PUTs of this attempt that ARM refused because the
	// resource had changed, or was created, since the read.
	preconditionRetries int
	// ownersRead is set once a refused PUT made this attempt read the owners' values again.
	ownersRead bool
	// masked is the body without secrets, changed the paths of the values in it that the PUT
	// is to change.
	masked  map[string]any
	changed []string
}

// putBody describes the payload.
type putBody struct {
	// kept are the paths of the values that other tools set.
	kept drift.PathSet
	// secrets are keyed hashes of the secrets, by reference.
	secrets map[string]string
	// unstated are the values that the manifest does not state, stated the paths of the
	// values that it states.
	unstated []drift.Leaf
	stated   []resource.Path
	// withoutRefused is set if the PUT is sent without the values that ARM refused; memory is
	// the memory with them.
	withoutRefused bool
	memory         json.RawMessage
	// patch is set if the payload is sent as a PATCH.
	patch bool
}

// PutResource is step 4. The worker may be lost at any line: an attempt that
// follows another reads first, joins what is in flight, and writes again only what
// still differs.
func (a *Activities) PutResource(ctx context.Context, in PutResourceInput) (PutResourceResult, error) {
	in.Desired = in.Desired.WithSecrets()
	ctx = withCredential(ctx, in.Desired.Credential, in.Desired.ID)
	heartbeat := startHeartbeat[putProgress](ctx)
	defer heartbeat.stop()
	a.noteChanges(in.Changes)
	p := &put{
		requestMaker: a.requestMaker.startedAt(a.options.StartTime(ctx)), checks: a.checks(), newer: a.newer, patchOnly: &a.patchOnly, report: a.report,
		rereadWindow: a.options.RereadWindow, rereadInterval: a.options.RereadInterval, disappearanceBudget: a.options.DisappearanceBudget,
		in: in, putAttempt: putAttempt{heartbeat: heartbeat, attempt: attemptNumber(ctx)},
	}
	if stop := p.checks.CheckPolicy(in.Desired, "PUT"); stop != nil {
		return *p.stop(*stop), nil
	}
	if stop := p.checks.CheckSigned(ctx, in.Desired); stop != nil {
		return *p.stop(*stop), nil
	}
	p.maySent = p.attempt-1 > heartbeat.progress().Unsent
	p.repeated = in.MaySent || p.maySent
	if in.Newest > in.Generation {
		return *p.stopUnsent(writing.Superseded(in.Newest, in.Generation), p.repeated), nil
	}
	requests, cancel := requestContext(ctx)
	defer cancel()
	requests = a.forWrites(requests, in.Desired, in.PassFacts, writing.Step{Progress: heartbeat.content})
	var stop *resource.Verdict
	if p.request, stop = p.requestWithBodies(requests, drift.Decode, in.Desired, in.shared(), nil, in.Memory); stop != nil {
		return *p.stop(*stop), nil
	}
	p.request.Hold = in.Hold()
	if slices.ContainsFunc(p.request.Facts.Switches, func(sw drift.Switch) bool { return sw.Owner }) {
		a.addOwner(requests, &p.request, in.Desired)
	}
	if p.needsRead() {
		switch result, err := p.reread(requests); {
		case err != nil:
			return PutResourceResult{}, err
		case result != nil:
			return *result, nil
		}
	}
	if err := checkWorkerStop(ctx); err != nil {
		p.noteUnsent()
		return PutResourceResult{}, err
	}
	return p.send(requests)
}

// needsRead reports whether the read of the pass is not sufficient. A PUT of an
// existing resource keeps the tags that others set.
func (p *put) needsRead() bool {
	return !p.in.Kind.creates() || p.repeated || p.mustCreate() || p.now().Sub(p.in.ObservedAt) > MaxObservationAge || p.usesObserved()
}

// mustCreate reports whether the PUT has to create the resource: the manifest does
// not allow changing one that another tool or user created.
func (p *put) mustCreate() bool {
	adopt := p.in.Desired.Adopt
	return p.in.Kind.creates() && !p.repeated && (adopt == resource.AdoptNever || adopt == resource.AdoptAsIs)
}

// usesObserved reports whether the payload contains values that only a fresh,
// unmasked read provides.
func (p *put) usesObserved() bool {
	return p.in.Desired.Put == resource.PutMerge || p.kept != "" || len(p.in.Desired.Ignore) > 0 || p.registry.Modifies(p.in.Desired.ID.Type())
}

// reread reads the resource, unmasked, into the request. It returns a result when
// nothing is left to write or an operation is in flight, and after a PUT of unknown
// outcome an error until an absent resource may be believed to be absent.
func (p *put) reread(ctx context.Context) (*PutResourceResult, error) {
	response, err := p.client.Get(ctx, p.in.Desired.ID, p.in.Desired.APIVersion)
	// The pass has proven the absence: the same response again agrees with it.
	absent := arm.IsAbsent(err) || p.in.Kind.creates() && arm.DoubtOf(err) == arm.DoubtRepeatable
	switch {
	case arm.IsAbsent(err) && !p.in.Kind.creates():
		return p.stopUnsent(disappearedSinceRead(p.in.Desired), p.maySent), nil
	case absent && p.repeated:
		return nil, p.awaitAbsence()
	case absent && p.mustCreate() && p.isListed(ctx):
		return p.stopUnsent(createdSinceRead(p.in.Desired), false), nil
	case absent:
		return nil, nil
	case err != nil:
		p.noteUnsent()
		result, err := p.failed(ctx, err, nil)
		return &result, err
	}
	if p.request.Object.Observed, err = resource.DecodeBody(response.Body); err != nil {
		return p.stop(resource.Fail(resource.ReasonFailed, resource.RetrySlow, err.Error())), nil
	}
	if p.request.Object.Completed, err = p.complete(ctx, p.target(p.in.Desired), p.request.Object.Observed); err != nil {
		p.noteUnsent()
		result, err := p.failed(ctx, err, nil)
		return &result, err
	}
	p.etag = response.ETag
	p.addOwners(ctx, &p.request)
	if p.mustCreate() {
		return p.stopUnsent(createdSinceRead(p.in.Desired), false), nil
	}
	return p.checkDue(ctx), nil
}

// isListed reports whether the list of the owner contains the resource. A list that cannot be read
// proves nothing: If-None-Match remains.
func (p *put) isListed(ctx context.Context) bool {
	return arm.DoubtOf(p.client.ConfirmAbsence(ctx, p.in.Desired.ID, p.in.Desired.APIVersion)) == arm.DoubtOpen
}

// awaitAbsence returns an error until reads over RereadWindow agree that a PUT of
// unknown outcome created nothing.
func (p *put) awaitAbsence() error {
	progress := p.heartbeat.progress()
	if progress.AbsentSince.IsZero() || progress.AbsentAttempt != p.attempt-1 {
		progress.AbsentSince = p.now()
	}
	if p.now().Sub(progress.AbsentSince) >= p.rereadWindow {
		return nil
	}
	progress.AbsentAttempt = p.attempt
	p.heartbeat.send(progress)
	return notYet("a PUT may have been sent before and the resource does not exist; it is read again for "+
		p.rereadWindow.String()+" before another PUT", p.rereadInterval)
}
