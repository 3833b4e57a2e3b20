package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/secrets"
)

// observationMaxAge is how old the read may be on which a PUT stands.
const observationMaxAge = 30 * time.Second

// putProgress is what an attempt of a PUT leaves to the next.
type putProgress struct {
	Faults int `json:"faults,omitempty"`
	// Accepted is set right after ARM's 2xx, with the token to poll.
	Accepted bool   `json:"accepted,omitempty"`
	Done     bool   `json:"done,omitempty"`
	Token    string `json:"token,omitempty"`
	// RetryAfter is the wait before the first poll.
	RetryAfter time.Duration `json:"retryAfter,omitempty"`
	// AbsentSince is when a read that followed a PUT of unknown outcome first
	// found nothing.
	AbsentSince time.Time `json:"absentSince,omitzero"`
}

// PutResource is step 4. It is safe to lose the worker at any line: an attempt
// that follows another reads first, joins what is in flight, and writes again
// only what is still different.
func (a *Activities) PutResource(ctx context.Context, in PutResourceInput) (PutResourceResult, error) {
	heart := startHeart[putProgress](ctx)
	defer heart.stop()
	if p := heart.progress(); p.Accepted {
		return PutResourceResult{Verdict: resource.Proceed("accepted by ARM before the worker was lost"), Done: p.Done, Token: p.Token, RetryAfter: p.RetryAfter, Sent: true}, nil
	}
	ctx = correlated(ctx)
	request, stop := a.fullRequest(ctx, in.Desired, nil, in.Memory)
	if stop != nil {
		return a.putRefused(*stop), nil
	}
	repeated := attempt(ctx) > 1 || in.Reset
	etag := ""
	if repeated || a.options.Now().Sub(in.ObservedAt) > observationMaxAge || a.takesFromObserved(in.Desired) {
		result, tag, err := a.reread(ctx, in, heart, &request, repeated)
		if err != nil || result != nil {
			return deref(result), err
		}
		etag = tag
	}
	if err := stopping(ctx); err != nil {
		return PutResourceResult{}, err
	}
	return a.send(ctx, in, heart, request, etag)
}

func deref(result *PutResourceResult) PutResourceResult {
	if result == nil {
		return PutResourceResult{}
	}
	return *result
}

// takesFromObserved reports whether the payload holds values that only a fresh,
// unmasked read can give.
func (a *Activities) takesFromObserved(desired resource.Desired) bool {
	return len(desired.Ignore) > 0 || a.Registry.Modifies(desired.ID.Type())
}

// reread reads the resource, unmasked, into the request. It ends the activity
// when nothing is left to write, when an operation is in flight, or, after a PUT
// of unknown outcome, until an absent resource may be believed to be absent.
func (a *Activities) reread(
	ctx context.Context, in PutResourceInput, heart *heart[putProgress], request *extensions.Request, repeated bool,
) (*PutResourceResult, string, error) {
	response, err := a.Client.Get(ctx, in.Desired.ID, in.Desired.APIVersion)
	switch {
	case arm.IsAbsent(err) && repeated:
		return nil, "", a.believeAbsent(heart)
	case arm.IsAbsent(err):
		return nil, "", nil
	case err != nil:
		result, err := a.putFailed(ctx, in, heart, err, nil)
		return &result, "", err
	}
	if request.Object.Observed, err = resource.DecodeBody(response.Body); err != nil {
		result := a.putRefused(resource.Fail(resource.ReasonFailed, resource.RetrySlow, err.Error()))
		return &result, "", nil
	}
	return a.settled(in, *request, repeated), response.ETag, nil
}

// believeAbsent waits until reads over a while agree that a PUT of unknown
// outcome left nothing behind.
func (a *Activities) believeAbsent(heart *heart[putProgress]) error {
	progress := heart.progress()
	if progress.AbsentSince.IsZero() {
		progress.AbsentSince = a.options.Now()
		heart.record(progress)
	}
	if a.options.Now().Sub(progress.AbsentSince) < a.options.RereadWindow {
		return notYet("a PUT may have been sent before; the resource is read again before another one", a.options.RereadInterval)
	}
	return nil
}

// settled is the result when a read shows that no PUT is due; nil when one is.
func (a *Activities) settled(in PutResourceInput, request extensions.Request, repeated bool) *PutResourceResult {
	state := request.Object.ProvisioningState()
	if resource.InFlight(state) && (repeated || !in.Force) {
		return &PutResourceResult{Sent: repeated, Verdict: resource.Proceed(fmt.Sprintf("joined the operation in flight (%s)", state))}
	}
	if repeated && resource.Broken(state) {
		return &PutResourceResult{Done: true, Sent: true, Verdict: resource.Proceed("the operation ended meanwhile: " + state)}
	}
	masked := a.mask(request.Object.Observed, in.Desired.Plain, in.Desired.Secret)
	found := drift.Compare(request.Object.Desired, masked, a.driftOptions(in.Desired, request.Memory))
	if len(found.Differences) == 0 && !resource.Broken(state) {
		return &PutResourceResult{Done: true, Sent: repeated, Verdict: resource.Proceed("in sync meanwhile: no PUT")}
	}
	return nil
}

// send builds the payload and makes the request.
func (a *Activities) send(
	ctx context.Context, in PutResourceInput, heart *heart[putProgress], request extensions.Request, etag string,
) (PutResourceResult, error) {
	payload, values, stop := a.payload(ctx, in.Desired, request)
	if stop != nil {
		return a.putRefused(*stop), nil
	}
	if !a.takesFromObserved(in.Desired) {
		etag = ""
	}
	operation, err := a.Client.Put(ctx, in.Desired.ID, in.Desired.APIVersion, payload, arm.PutOptions{IfMatch: etag})
	if err != nil {
		return a.putFailed(ctx, in, heart, err, values)
	}
	heart.record(putProgress{Accepted: true, Done: operation.Done, Token: operation.Token, RetryAfter: operation.RetryAfter})
	verdict := resource.Proceed(fmt.Sprintf("ARM accepted the PUT with status %d", operation.Status))
	verdict.RequestID = operation.RequestID
	if operation.Err != nil {
		verdict = a.verdict(ctx, in.Desired.ID, in.Desired.APIVersion, operation.Err)
		verdict.Message = secrets.Text(verdict.Message, values)
	}
	a.observed("PutResource", verdict)
	return PutResourceResult{
		Verdict: verdict, Done: operation.Done, Token: operation.Token, RetryAfter: operation.RetryAfter, Sent: true,
	}, nil
}

// payload is body + ignored paths as observed + secrets, then the modifiers. It
// returns the secret values too, so that they can be scrubbed from answers.
func (a *Activities) payload(ctx context.Context, desired resource.Desired, request extensions.Request) ([]byte, []string, *resource.Verdict) {
	body := drift.Payload(request.Object.Desired, request.Object.Observed, desired.Ignore)
	body, values, err := a.Secrets.Resolve(ctx, body)
	if err != nil {
		verdict := resource.Block(resource.ReasonSecretNotFound, err.Error())
		return nil, nil, &verdict
	}
	a.cachedOwner(ctx, &request, desired)
	body, stop := a.Registry.Modify(ctx, request, body)
	if stop != nil {
		stop.Message = secrets.Text(stop.Message, values)
		return nil, nil, stop
	}
	if holdsMask(body) {
		verdict := resource.Fail(resource.ReasonFailed, resource.RetryVerySlow, "the payload holds a masked value, and such a payload is never sent")
		return nil, nil, &verdict
	}
	raw, err := json.Marshal(body)
	if err != nil {
		verdict := resource.Fail(resource.ReasonFailed, resource.RetryVerySlow, "the payload cannot be encoded as JSON")
		return nil, nil, &verdict
	}
	return raw, values, nil
}

// holdsMask reports whether a mask is anywhere in a value.
func holdsMask(value any) bool {
	switch at := value.(type) {
	case map[string]any:
		for _, child := range at {
			if holdsMask(child) {
				return true
			}
		}
	case []any:
		for _, child := range at {
			if holdsMask(child) {
				return true
			}
		}
	}
	return resource.Masked(value)
}

// putFailed gives faults another attempt, which reads first; any other answer
// is a verdict, scrubbed of the values that were sent.
func (a *Activities) putFailed(
	ctx context.Context, in PutResourceInput, heart *heart[putProgress], err error, values []string,
) (PutResourceResult, error) {
	progress := heart.progress()
	progress.Faults++
	heart.record(progress)
	if again, retry := fault(a.scrubbed(err, values), progress.Faults); retry {
		return PutResourceResult{}, again
	}
	verdict := a.verdict(ctx, in.Desired.ID, in.Desired.APIVersion, err)
	verdict.Message = secrets.Text(verdict.Message, values)
	return a.putRefused(verdict), nil
}

// scrubbed is the error without the values that were sent; what it is stays.
func (a *Activities) scrubbed(err error, values []string) error {
	var failure *arm.Error
	if errors.As(err, &failure) {
		clean := *failure
		clean.Message, clean.Details = secrets.Text(failure.Message, values), nil
		return &clean
	}
	return errors.New(secrets.Text(err.Error(), values))
}

func (a *Activities) putRefused(verdict resource.Verdict) PutResourceResult {
	return PutResourceResult{Verdict: a.observed("PutResource", verdict)}
}
