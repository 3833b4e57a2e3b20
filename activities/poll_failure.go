package activities

import (
	"context"
	"errors"
	"net/http"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/secrets"
)

// pollFailed never ends the operation: a poll that fails does not show its state.
// After maxPollErrors it changes to the other source, resource or operation URL. A
// throttled poll is only waited for, because both sources share the budget.
func (p *poll) pollFailed(ctx context.Context, err error) (PollOperationResult, error) {
	verdict := p.noteError(ctx, err)
	p.progress.TransientErrors += errorWeight(err, p.progress.Reading)
	if p.progress.TransientErrors >= maxPollErrors && p.progress.Token != "" {
		p.progress.Reading, p.progress.TransientErrors = !p.progress.Reading, 0
	}
	delay := min(pollErrorDelay<<min(max(p.progress.TransientErrors, 1), 8)/2, maxPollErrorDelay)
	return p.pollLater("the poll failed, the operation continues: "+verdict.Message, max(verdict.RetryAfter, delay))
}

// errorWeight returns the number of errors that an error counts for.
func errorWeight(err error, reading bool) int {
	failure, ok := errors.AsType[*arm.Error](err)
	switch {
	case !ok:
		return 1
	case failure.Class == arm.ClassThrottled:
		return 0
	case failure.Status == http.StatusNotFound && !reading:
		return notFoundWeight
	}
	return 1
}

// fallBackToResource returns why the resource is read instead of the operation. It
// keeps the error of a failed Location: the resource may show less.
func (p *poll) fallBackToResource(ctx context.Context, answer arm.Poll) string {
	message := "the operation can no longer be read; the resource is read instead"
	if answer.Err == nil {
		return message
	}
	p.progress.Refused = isOperationResult(answer.Err.Status)
	return message + ": " + p.noteError(ctx, answer.Err).Message
}

// isOperationResult reports whether an operation may end with this status, where its
// Location returns the response of the request. Other statuses (403, 405) are
// about the reader.
func isOperationResult(status int) bool {
	switch status {
	case http.StatusBadRequest, http.StatusConflict, http.StatusPreconditionFailed, http.StatusUnprocessableEntity:
		return true
	}
	return false
}

// noteError returns the verdict of an error, without secrets, and keeps it as
// ARM's last response if it is one.
func (p *poll) noteError(ctx context.Context, err error) resource.Verdict {
	before := p.progress.Answer
	verdict := p.failureVerdict(ctx, failedRequest{id: p.in.ID, apiVersion: p.in.APIVersion, repeated: p.in.Repeated, refs: p.in.SecretRefs}, err, &p.progress.lastAnswer)
	if isARMError(err) {
		verdict.Message = p.scrubSecrets(ctx, verdict.Message, p.in.SecretRefs)
		p.progress.Answer = &verdict
	}
	if arm.IsSelfThrottled(err) {
		p.progress.Answer = before // the client's own error, not ARM's
	}
	return verdict
}

// failedVerdict returns the verdict of an operation that failed.
func (p *poll) failedVerdict(ctx context.Context, answer arm.Poll) resource.Verdict {
	if answer.Err == nil {
		return resource.Fail(resource.ReasonOperationFailed, resource.RetrySlow, "the operation ended as "+answer.Outcome+" and ARM gave no reason")
	}
	verdict := p.noteError(ctx, answer.Err)
	if answer.Err.Code == "" {
		verdict.Reason = resource.ReasonOperationFailed
	}
	verdict.Message = "the operation ended as " + answer.Outcome + ": " + verdict.Message
	if p.in.Delete {
		return p.deleteVerdict(ctx, verdict, answer.Err)
	}
	return verdict
}

// deleteVerdict returns the verdict of a DELETE that failed in its operation: a
// resource that ARM does not delete by itself is left to its owner, as where the
// request is refused at once. Such an error has the status of the poll.
func (p *poll) deleteVerdict(ctx context.Context, verdict resource.Verdict, failure *arm.Error) resource.Verdict {
	switch {
	case failure.NotDeletable():
		return leaveToOwner(ctx, p.fleet, p.in.ID, notDeletableVerdict(verdict))
	case isLock(failure):
		return explainLocks(ctx, p.client, p.in.ID, verdict)
	case failure.Code == "" || failure.Transient():
		return verdict
	}
	switch failure.Class {
	case arm.ClassConflict, arm.ClassThrottled, arm.ClassFast, arm.ClassAbsent:
		return verdict
	}
	return leaveToOwner(ctx, p.fleet, p.in.ID, verdict)
}

// brokenVerdict returns the verdict of an operation with a result that only the
// resource shows, and ARM's last response.
func (p *poll) brokenVerdict(what string) resource.Verdict {
	verdict := resource.Fail(resource.ReasonOperationFailed, resource.RetrySlow, what)
	if last := p.progress.Answer; last != nil {
		verdict.Message += "; last response of ARM about the operation: " + last.Message
		verdict.RequestID = last.RequestID
		if p.progress.Refused {
			verdict.Reason, verdict.Class, verdict.Severity = last.Reason, last.Class, last.Severity
		}
	}
	return verdict
}

// scrubSecrets removes the values of $secret references from a message of ARM, which
// may repeat a value of the PUT. A message is not shown when one of the secrets
// cannot be read.
func (s *secretReader) scrubSecrets(ctx context.Context, message string, refs []string) string {
	values, all := s.secretValues(ctx, refs)
	if !all {
		return "its message may contain a secret and is not shown; see Azure's activity log"
	}
	return secrets.Scrub(message, values)
}
