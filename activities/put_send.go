package activities

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"reflect"

	"github.com/armature-io/armature/activities/writing"
	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/secrets"
)

// writeHold returns the verdict of a freeze or budget that stops this PUT, nil if none does.
func (p *put) writeHold(ctx context.Context) *resource.Verdict {
	if stop := p.checks.CheckFreeze(ctx, p.in.Desired); stop != nil {
		return stop
	}
	return p.checkBudgets(ctx)
}

// purpose classifies the PUT: creation, recreation, correction or update. If the history is
// unknown, the PUT of an absent resource counts as a recreation.
func (p *put) purpose() extensions.Purpose {
	switch absent := !p.request.Object.Exists(); {
	case absent && p.in.Kind == PutCreation && !p.repeated:
		return extensions.PurposeCreation
	case absent:
		return extensions.PurposeRecreation
	case p.in.Correction:
		return extensions.PurposeCorrection
	}
	return extensions.PurposeUpdate
}

// send builds the payload and makes the request.
func (p *put) send(ctx context.Context) (PutResourceResult, error) {
	// Before the payload: a modifier may write too (a vault that is purged first).
	if stop := p.writeHold(ctx); stop != nil {
		return *p.stopUnsent(*stop, false), nil
	}
	payload, values, result, err := p.prepare(ctx)
	switch {
	case err != nil:
		p.noteUnsent()
		return p.failed(ctx, err, values)
	case result != nil:
		return *result, nil
	}
	p.sending = true
	options := p.conditions()
	write, method := p.client.Put, http.MethodPut
	if p.patch {
		write, method = p.client.Patch, http.MethodPatch
	}
	operation, err := write(ctx, p.in.Desired.ID, p.in.Desired.APIVersion, payload, options)
	if stop, blocked := writing.Blocked(err); blocked {
		return *p.stopUnsent(stop, p.maySent), nil
	}
	if p.hasNoPut(err) {
		return p.send(ctx)
	}
	if options != (arm.PutOptions{}) && hasStatus(err, http.StatusPreconditionFailed) && p.preconditionRetries < maxPreconditionRetries {
		return p.resend(ctx, err, values)
	}
	if err != nil {
		if dial, ok := errors.AsType[*net.OpError](err); ok && dial.Op == "dial" {
			p.noteUnsent()
		}
		if failure, ok := errors.AsType[*arm.Error](err); ok && refusesContent(failure) {
			switch moved, result, readErr := p.ownersMoved(ctx); {
			case readErr != nil:
				return PutResourceResult{}, readErr
			case result != nil:
				return *result, nil
			case moved:
				return p.send(ctx)
			case p.mixesItems():
				if p.remember(p.request.Baseline.WithRefusedMixture()) {
					return p.send(ctx)
				}
			}
		}
		again, stop := p.rememberRefusal(err, p.refusalText(ctx, err, values))
		switch {
		case again:
			return p.send(ctx)
		case stop != nil:
			return *p.stop(*stop), nil
		}
		return p.failed(ctx, err, values)
	}
	if p.unconditional && p.request.Object.Exists() {
		p.etags.noteIgnoredETags(http.MethodPut, p.in.Desired.ID.Type())
	}
	p.lookup.Drop(ctx, p.in.Desired.ID, p.in.Desired.APIVersion)
	verdict := resource.Proceed(fmt.Sprintf("ARM accepted the %s with status %d", method, operation.Status))
	verdict = readerOf(p.request).withWrites(verdict)
	verdict.RequestID = operation.RequestID
	if operation.Err != nil {
		verdict = p.errorVerdict(ctx, p.in.Desired.ID, p.in.Desired.APIVersion, scrubError("put", p.in.Desired.ID, operation.Err, values))
		verdict.Message = "ARM accepted the PUT, which ended as " + operation.Outcome + ": " + verdict.Message
	}
	// No heartbeat: the result arrives at the server as soon as one would.
	accepted := PutResourceResult{
		Verdict: p.report("PutResource", verdict), Sent: true, Done: operation.Done,
		Token: operation.Token, RetryAfter: operation.RetryAfter, Secrets: p.secrets, Kept: string(p.kept), Memory: p.memory,
		Replaced: p.replaced(operation.ETag),
	}
	if operation.Err != nil {
		accepted.Refusal = operationRefusal(operation.Err, verdict.Message, func(target string) string { return secrets.Scrub(target, values) })
	}
	if !accepted.Done || verdict.Stops() {
		accepted.Content = p.content()
	}
	return accepted, nil
}

// prepare returns the payload as it is sent, with the secret values in it, or the result
// of a PUT that must not be sent. The error is one of the transport.
func (p *put) prepare(ctx context.Context) (payload []byte, values []string, result *PutResourceResult, err error) {
	p.patch = p.patches()
	body, values, stop := p.payload(ctx)
	if stop == nil && !p.patch {
		var completed []string
		completed, stop, err = p.completeSecrets(ctx, body)
		values = append(values, completed...)
	}
	if stop == nil && err == nil {
		stop = p.checkUnmanaged(body)
	}
	if stop == nil && err == nil && !p.patch {
		drift.AddETag(body, p.request.Object.Observed, p.request.Comparison())
	}
	if stop == nil && err == nil {
		payload, stop = encodePayload(body)
	}
	if stop != nil {
		result = p.stop(*stop)
	}
	return payload, values, result, err
}

// checkUnmanaged returns the verdict for a body that makes ARM delete resources outside of all
// manifests. It repeats a check of the CLI, because other tools send manifests too.
func (p *put) checkUnmanaged(body map[string]any) *resource.Verdict {
	member := p.registry.Facts(p.in.Desired.ID.Type()).DeletingMember(body)
	if member == "" || p.in.Desired.Deletion.Unmanaged {
		return nil
	}
	verdict := resource.Fail(resource.ReasonContainsUnmanaged, resource.RetryVerySlow, fmt.Sprintf(
		"%s makes ARM delete resources that no manifest names; nothing is sent. State reconcile.delete.unmanaged: true to allow it", member))
	verdict.Actor = "the owner of the manifest"
	return &verdict
}

// refusalText returns the message of an error of ARM, without secrets.
func (p *put) refusalText(ctx context.Context, err error, values []string) string {
	return p.errorVerdict(ctx, p.in.Desired.ID, p.in.Desired.APIVersion, scrubError("put", p.in.Desired.ID, err, values)).Message
}

// conditions returns the conditions of the PUT: the resource is as it was read, or still absent.
// After a PUT of unknown outcome it may exist by that.
func (p *put) conditions() (options arm.PutOptions) {
	switch exists := p.request.Object.Exists(); {
	case p.unconditional || exists && p.etags.ignoresETags(http.MethodPut, p.in.Desired.ID.Type()):
	case exists:
		options.IfMatch = p.etag
	case p.in.Kind.creates() && !p.repeated:
		options.IfNoneMatch = "*"
	}
	return options
}

// maxPreconditionRetries bounds the PUTs that one attempt sends again because another tool writes
// at the same time. The next 412 is a verdict, with a growing wait.
const maxPreconditionRetries = 3

// resend reads, merges and sends again after a 412: nothing was written, because the resource had
// changed, or was created, since the read. A resource that disappeared is left to the next pass.
// If ETag or content are unchanged, or neither a read nor a list shows the resource that would
// prevent a creation, the service refuses conditions that hold: the PUT goes once more without one.
func (p *put) resend(ctx context.Context, refusal error, values []string) (PutResourceResult, error) {
	p.preconditionRetries++
	refused, before := p.etag, withoutETags(p.request.Object.Observed)
	p.request.Object.Observed, p.etag = nil, ""
	result, err := p.reread(ctx)
	switch {
	case err != nil:
		return PutResourceResult{}, err
	case result != nil:
		return *result, nil
	case p.request.Object.Exists():
		p.unconditional = refused != "" && p.etag == refused || reflect.DeepEqual(before, withoutETags(p.request.Object.Observed))
	case refused == "" && !p.mustCreate() && !p.isListed(ctx):
		p.unconditional = true
	default:
		return p.failed(ctx, refusal, values)
	}
	return p.send(ctx)
}

// failed returns the error that makes Temporal retry a transient failure, in an attempt that reads
// first. Any other failure is a verdict, without the sent values.
func (p *put) failed(ctx context.Context, err error, values []string) (PutResourceResult, error) {
	clean := scrubError("put", p.in.Desired.ID, err, values)
	request := failedRequest{id: p.in.Desired.ID, apiVersion: p.in.Desired.APIVersion, repeated: p.in.Repeated, values: values, write: true}
	progress := p.heartbeat.progress()
	progress.TransientErrors++
	verdict := p.failureVerdict(ctx, request, clean, &progress.lastAnswer)
	p.heartbeat.send(progress)
	if retry := retryTransient(clean, progress.TransientErrors); retry != nil {
		return PutResourceResult{}, retry
	}
	failure, refused := errors.AsType[*arm.Error](err)
	if refused {
		p.rememberImmutable(failure)
	}
	replace := refused && p.replaces(failure, &verdict)
	result := p.stop(verdict)
	if result.Replace = replace; replace {
		result.ETag = p.etag
	}
	if refused && p.in.Desired.ID.Subscription() != "" {
		result.Unregistered = failure.UnregisteredProvider(p.in.Desired.ID.Provider())
	}
	result.Unknown = p.outcomeUnknown(err)
	return *result, nil
}
