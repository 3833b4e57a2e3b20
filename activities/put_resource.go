package activities

import (
	"context"
	"fmt"
	"time"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

// observationMaxAge is how old the read may be on which a PUT stands.
const observationMaxAge = 30 * time.Second

// putProgress is what an attempt of a PUT leaves to the next. What an attempt
// that ended with an error recorded arrives for sure; what one recorded whose
// worker died may be lost.
type putProgress struct {
	seen
	Faults int `json:"faults,omitempty"`
	// Unsent counts the attempts, from the first, that for sure sent nothing:
	// the one that follows them need not fear a PUT of unknown outcome.
	Unsent int `json:"unsent,omitempty"`
	// AbsentSince is when a read that followed a PUT of unknown outcome first
	// found nothing, AbsentAttempt the attempt that last did: if a later one
	// died, it may have sent another PUT, and the wait starts over.
	AbsentSince   time.Time `json:"absentSince,omitzero"`
	AbsentAttempt int       `json:"absentAttempt,omitempty"`
}

// put is one attempt of PutResource.
type put struct {
	*Activities
	in      PutResourceInput
	heart   *heart[putProgress]
	attempt int
	// lost is set when an attempt before this one may have sent a PUT, repeated
	// also in a run that was reset, sending when one is sent now.
	lost, repeated, sending bool
	// keptTags is set when the payload carries tags that others set.
	keptTags bool
	// overtaken counts the PUTs of this attempt that ARM refused because the
	// resource had changed since the read.
	overtaken int
	// secrets are keyed hashes of the secrets in the payload, by reference.
	secrets map[string]string
	request extensions.Request
	etag    string
}

// PutResource is step 4. It is safe to lose the worker at any line: an attempt
// that follows another reads first, joins what is in flight, and writes again
// only what is still different.
func (a *Activities) PutResource(ctx context.Context, in PutResourceInput) (PutResourceResult, error) {
	ctx = as(ctx, in.Desired.Credential, in.Desired.ID)
	heart := startHeart[putProgress](ctx)
	defer heart.stop()
	a.owners.heard(in.Changes)
	p := &put{Activities: a, in: in, heart: heart, attempt: attempt(ctx)}
	if stop := forbidden(in.Desired, "PUT"); stop != nil {
		return p.refused(*stop), nil
	}
	p.lost = p.attempt-1 > heart.progress().Unsent
	p.repeated = in.Reset || p.lost
	requests, cancel := forARM(ctx)
	defer cancel()
	var stop *resource.Verdict
	if p.request, stop = a.knownRequest(requests, drift.Decode, in.Desired, nil, in.Memory); stop != nil {
		return p.refused(*stop), nil
	}
	if p.mustRead() {
		if result, err := p.reread(requests); result != nil || err != nil {
			return deref(result), err
		}
	}
	if err := stopping(ctx); err != nil {
		p.unsent()
		return PutResourceResult{}, err
	}
	return p.send(requests)
}

func deref(result *PutResourceResult) PutResourceResult {
	if result == nil {
		return PutResourceResult{}
	}
	return *result
}

// mustRead reports whether the read of the pass is not good enough. A PUT of what
// exists keeps the tags that others set.
func (p *put) mustRead() bool {
	return !p.in.Create || p.repeated || p.mustMake() || p.now().Sub(p.in.ObservedAt) > observationMaxAge || p.takesFromObserved()
}

// mustMake reports whether the PUT has to be the one that makes the resource: the
// manifest leaves alone what somebody else made.
func (p *put) mustMake() bool {
	adopt := p.in.Desired.Adopt
	return p.in.Create && !p.repeated && (adopt == resource.AdoptNever || adopt == resource.AdoptAsIs)
}

// takesFromObserved reports whether the payload holds values that only a fresh,
// unmasked read can give.
func (p *put) takesFromObserved() bool {
	return p.in.Desired.Put == resource.PutMerge || len(p.in.Desired.Ignore) > 0 || p.Registry.Modifies(p.in.Desired.ID.Type())
}

// reread reads the resource, unmasked, into the request. It ends the activity
// when nothing is left to write, when an operation is in flight, or, after a PUT
// of unknown outcome, until an absent resource may be believed to be absent.
func (p *put) reread(ctx context.Context) (*PutResourceResult, error) {
	response, err := p.Client.Get(ctx, p.in.Desired.ID, p.in.Desired.APIVersion)
	switch {
	case arm.IsAbsent(err) && !p.in.Create && makesNothing(p.in.Desired):
		result := p.refused(vanished(p.in.Desired))
		result.Unknown = p.lost
		p.unsent()
		return &result, nil
	case arm.IsAbsent(err) && p.repeated:
		return nil, p.believeAbsent()
	case arm.IsAbsent(err):
		return nil, nil
	case err != nil:
		p.unsent()
		result, err := p.failed(ctx, err, nil)
		return &result, err
	}
	if p.request.Object.Observed, err = resource.DecodeBody(response.Body); err != nil {
		result := p.refused(resource.Fail(resource.ReasonFailed, resource.RetrySlow, err.Error()))
		return &result, nil
	}
	p.etag = response.ETag
	if p.mustMake() {
		result := p.refused(appeared(p.in.Desired))
		p.unsent()
		return &result, nil
	}
	return p.settled(ctx), nil
}

// believeAbsent waits until reads over a while agree that a PUT of unknown
// outcome left nothing behind.
func (p *put) believeAbsent() error {
	progress := p.heart.progress()
	if progress.AbsentSince.IsZero() || progress.AbsentAttempt != p.attempt-1 {
		progress.AbsentSince = p.now()
	}
	if p.now().Sub(progress.AbsentSince) >= p.options.RereadWindow {
		return nil
	}
	progress.AbsentAttempt = p.attempt
	p.heart.record(progress)
	return notYet("a PUT may have been sent before and the resource does not exist; it is read again for "+
		p.options.RereadWindow.String()+" before another PUT", p.options.RereadInterval)
}

// settled is the result when a read shows that no PUT is due; nil when one is.
func (p *put) settled(ctx context.Context) *PutResourceResult {
	state := p.request.Object.ProvisioningState()
	if p.Registry.InFlight(p.in.Desired.ID.Type(), state) && (p.repeated || !p.in.Force) {
		return &PutResourceResult{
			Sent:    p.repeated,
			Verdict: p.observed("PutResource", resource.Proceed(fmt.Sprintf("joined the operation in flight (%s): no PUT", state))),
		}
	}
	// Not in a run that was reset: all its passes are, and the pre-check asked
	// for a PUT because the resource is broken.
	if p.lost && resource.Broken(state) {
		return p.finished("the operation ended meanwhile: " + state)
	}
	if p.in.Uncompared && !p.repeated || resource.Broken(state) {
		return p.resting()
	}
	compared := p.request
	object := *p.request.Object
	object.Observed = p.mask(ctx, object.Observed, hidden{p.in.Desired.Plain, p.in.Desired.Secret, p.in.Desired.SecretRefs})
	compared.Object = &object
	found := drift.Compare(object.Desired, object.Observed, compared.Comparison())
	if len(found.Differences) > 0 || p.in.Force && !found.InSync {
		return p.resting()
	}
	return p.finished("in sync meanwhile: no PUT")
}

// resting is the result when somebody stopped the resource since the pass read it
// and a PUT is due; nil when it may go.
func (p *put) resting() *PutResourceResult {
	verdict, rests := p.Registry.Stopped(p.request.Object)
	if !rests || p.in.Force {
		return nil
	}
	result := p.refused(verdict)
	result.Unknown = p.lost
	p.unsent()
	return &result
}

func (p *put) finished(message string) *PutResourceResult {
	return &PutResourceResult{Done: true, Sent: p.repeated, Verdict: p.observed("PutResource", resource.Proceed(message))}
}
