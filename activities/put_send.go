package activities

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/resource"
)

// held is the verdict that keeps this PUT from being sent, nil when none does.
func (p *put) held(ctx context.Context) *resource.Verdict {
	if stop := p.frozen(ctx, p.in.Desired); stop != nil {
		return stop
	}
	return p.overBudget(p.in.Correction && !p.repeated && p.overtaken == 0)
}

// send builds the payload and makes the request.
func (p *put) send(ctx context.Context) (PutResourceResult, error) {
	// Before the payload: a modifier may write, too (a vault that is purged first).
	if stop := p.frozen(ctx, p.in.Desired); stop != nil {
		p.unsent()
		return p.refused(*stop), nil
	}
	payload, values, stop := p.payload(ctx)
	if stop != nil {
		return p.refused(*stop), nil
	}
	if stop := p.held(ctx); stop != nil {
		p.unsent()
		return p.refused(*stop), nil
	}
	p.sending = true
	options := arm.PutOptions{}
	if p.mustMake() {
		options.IfNoneMatch = "*"
	}
	if p.takesFromObserved() || p.keptTags {
		options.IfMatch = p.etag
	}
	operation, err := p.Client.Put(ctx, p.in.Desired.ID, p.in.Desired.APIVersion, payload, options)
	if options.IfMatch != "" && isPrecondition(err) && p.overtaken < overtakenMax {
		return p.again(ctx, err, values)
	}
	if err != nil {
		var dial *net.OpError
		if errors.As(err, &dial) && dial.Op == "dial" {
			p.unsent()
		}
		return p.failed(ctx, err, values)
	}
	p.owners.readings.forget(p.in.Desired.ID, readAs{p.in.Desired.APIVersion, arm.CredentialName(ctx)})
	verdict := resource.Proceed(fmt.Sprintf("ARM accepted the PUT with status %d", operation.Status))
	verdict.RequestID = operation.RequestID
	if operation.Err != nil {
		verdict = p.verdict(ctx, p.in.Desired.ID, p.in.Desired.APIVersion, scrubbed("put", p.in.Desired.ID, operation.Err, values))
		verdict.Message = "ARM accepted the PUT, which ended as " + operation.Outcome + ": " + verdict.Message
	}
	// No heartbeat: the result is as soon with the server as that would be.
	return PutResourceResult{
		Verdict: p.observed("PutResource", verdict), Sent: true, Done: operation.Done,
		Token: operation.Token, RetryAfter: operation.RetryAfter, Secrets: p.secrets,
	}, nil
}

// overtakenMax bounds the PUTs that one attempt sends anew because somebody else
// writes at the same time; then it is a verdict, and the wait grows.
const overtakenMax = 3

// again reads and merges once more after a PUT that ARM refused because the
// resource had changed since the read: nothing was written. One that vanished is
// for the next pass to judge.
func (p *put) again(ctx context.Context, refusal error, values []string) (PutResourceResult, error) {
	p.overtaken++
	p.request.Object.Observed, p.etag = nil, ""
	result, err := p.reread(ctx)
	switch {
	case result != nil || err != nil:
		return deref(result), err
	case !p.request.Object.Exists():
		return p.failed(ctx, refusal, values)
	}
	return p.send(ctx)
}

// unsent notes that this attempt sends no PUT.
func (p *put) unsent() {
	if progress := p.heart.progress(); progress.Unsent == p.attempt-1 {
		progress.Unsent = p.attempt
		p.heart.record(progress)
	}
}

// failed gives faults another attempt, which reads first; any other answer is a
// verdict, scrubbed of the values that were sent.
func (p *put) failed(ctx context.Context, err error, values []string) (PutResourceResult, error) {
	progress := p.heart.progress()
	progress.Faults++
	clean := scrubbed("put", p.in.Desired.ID, err, values)
	of := attempted{id: p.in.Desired.ID, apiVersion: p.in.Desired.APIVersion, before: p.in.Repeated, values: values}
	verdict := p.judge(ctx, of, clean, &progress.seen)
	p.heart.record(progress)
	if again, retry := fault(clean, progress.Faults); retry {
		return PutResourceResult{}, again
	}
	result := p.refused(verdict)
	var failure *arm.Error
	if errors.As(err, &failure) && p.in.Desired.ID.Subscription() != "" {
		result.Unregistered = failure.UnregisteredProvider(p.in.Desired.ID.Provider())
	}
	result.Unknown = progress.Unsent < p.attempt && (isFault(err) || p.repeated && !p.sending)
	return result, nil
}

func (p *put) refused(verdict resource.Verdict) PutResourceResult {
	return PutResourceResult{Verdict: p.observed("PutResource", verdict)}
}
