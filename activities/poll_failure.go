package activities

import (
	"context"
	"errors"
	"net/http"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/secrets"
)

// faulted never ends the operation: a poll that fails says nothing about it.
// What stays unreadable makes way for the other source, resource or operation
// URL. A used-up budget is the same for both, so it is only waited for.
func (p *poll) faulted(ctx context.Context, err error) (PollOperationResult, error) {
	verdict := p.judged(ctx, err)
	p.progress.Faults += weight(err, p.progress.Reading)
	if p.progress.Faults >= pollFaultsMax && p.progress.Token != "" {
		p.progress.Reading, p.progress.Faults = !p.progress.Reading, 0
	}
	delay := min(pollFaultDelay<<min(max(p.progress.Faults, 1), 8)/2, pollFaultDelayMax)
	return p.again("the poll failed, the operation goes on: "+verdict.Message, max(verdict.RetryAfter, delay))
}

// weight is for how many faults an error counts.
func weight(err error, reading bool) int {
	var failure *arm.Error
	switch {
	case !errors.As(err, &failure):
		return 1
	case failure.Class == arm.ClassThrottled:
		return 0
	case failure.Status == http.StatusNotFound && !reading:
		return pollUnknown
	}
	return 1
}

// unreadable says why the resource is read instead, and keeps what a failed
// Location said: the resource may tell less.
func (p *poll) unreadable(ctx context.Context, answer arm.Poll) string {
	message := "the operation cannot be read any more; the resource is read instead"
	if answer.Err == nil {
		return message
	}
	p.progress.Refused = refusal(answer.Err.Status)
	return message + ": " + p.judged(ctx, answer.Err).Message
}

// refusal reports whether a status is what an operation may end with whose
// Location answers as the request itself would have; others (403, 405) are about
// the reader.
func refusal(status int) bool {
	switch status {
	case http.StatusBadRequest, http.StatusConflict, http.StatusPreconditionFailed, http.StatusUnprocessableEntity:
		return true
	}
	return false
}

// judged is the verdict of an error, kept for later; it shows no secrets.
func (p *poll) judged(ctx context.Context, err error) resource.Verdict {
	before := p.progress.Answer
	verdict := p.judge(ctx, attempted{id: p.in.ID, apiVersion: p.in.APIVersion, before: p.in.Repeated}, err, &p.progress.seen)
	if isAnswer(err) {
		verdict.Message = p.withoutSecrets(ctx, verdict.Message, p.in.SecretRefs)
		p.progress.Answer = &verdict
	}
	if arm.IsSelfThrottled(err) {
		p.progress.Answer = before // nothing that ARM said
	}
	return verdict
}

// failed is the verdict of an operation that ended badly.
func (p *poll) failed(ctx context.Context, answer arm.Poll) resource.Verdict {
	if answer.Err == nil {
		return resource.Fail(resource.ReasonOperationFailed, resource.RetrySlow, "the operation ended as "+answer.Outcome+" and ARM gave no reason")
	}
	verdict := p.judged(ctx, answer.Err)
	if answer.Err.Code == "" {
		verdict.Reason = resource.ReasonOperationFailed
	}
	verdict.Message = "the operation ended as " + answer.Outcome + ": " + verdict.Message
	if p.in.Delete {
		return p.keptByARM(ctx, verdict, answer.Err)
	}
	return verdict
}

// keptByARM is the verdict of a DELETE that was refused inside its own operation:
// what ARM does not let go by itself is left to its owner, as it is where the
// request is refused at once. The status of such an error is that of the poll.
func (p *poll) keptByARM(ctx context.Context, verdict resource.Verdict, failure *arm.Error) resource.Verdict {
	switch {
	case failure.NotDeletable():
		return p.leftToOwner(ctx, p.in.ID, notDeletable(verdict))
	case isLock(failure):
		return p.explainLocks(ctx, p.in.ID, verdict)
	case failure.Code == "" || failure.Transient():
		return verdict
	}
	switch failure.Class {
	case arm.ClassConflict, arm.ClassThrottled, arm.ClassFast, arm.ClassAbsent:
		return verdict
	}
	return p.leftToOwner(ctx, p.in.ID, verdict)
}

// broken is the verdict of an operation of which only the resource tells, with
// what ARM said of it last.
func (p *poll) broken(what string) resource.Verdict {
	verdict := resource.Fail(resource.ReasonOperationFailed, resource.RetrySlow, what)
	if said := p.progress.Answer; said != nil {
		verdict.Message += "; the last that ARM said of the operation: " + said.Message
		verdict.RequestID = said.RequestID
		if p.progress.Refused {
			verdict.Reason, verdict.Class, verdict.Severity = said.Reason, said.Class, said.Severity
		}
	}
	return verdict
}

// withoutSecrets scrubs what ARM says: it may repeat a value of the PUT, which
// this activity otherwise does not know. A message whose secrets cannot be found
// out is not shown.
func (a *Activities) withoutSecrets(ctx context.Context, message string, refs []string) string {
	values, all := a.values(ctx, refs)
	if !all {
		return "its message may hold a secret and is not shown; look into Azure's activity log"
	}
	return secrets.Scrub(message, values)
}
