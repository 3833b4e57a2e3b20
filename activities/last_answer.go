package activities

import (
	"context"
	"errors"
	"fmt"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/secrets"
)

// Repeated is the reason with which the passes before ended, so that retries of a
// persistent denial slow down. The zero value is the first pass.
type Repeated struct {
	Reason resource.Reason `json:"reason,omitempty"`
	// Times is the number of passes in a row that ended with Reason.
	Times int `json:"times,omitempty"`
}

// maxFastDenials is how often the same denial is retried at the pace of its class:
// the slow class has reached its longest wait by then.
const maxFastDenials = 10

// slowDown moves a repeated denial to the next slower class, because a person has
// to lift it.
func (r Repeated) slowDown(verdict resource.Verdict, failure *arm.Error) resource.Verdict {
	if !failure.Denial || r.Times < maxFastDenials || r.Reason != verdict.Reason {
		return verdict
	}
	switch verdict.Class {
	case resource.RetryFast:
		verdict.Class = resource.RetrySlow
	case resource.RetrySlow:
		verdict.Class = resource.RetryVerySlow
	default:
		return verdict
	}
	verdict.Message += fmt.Sprintf(" (%d times in a row: retries are less frequent now; armature reconcile retries at once)", r.Times+1)
	return verdict
}

// lastAnswer keeps ARM's last error in the heartbeats of an activity: a request
// that hangs must not hide the error that ARM returned before it.
type lastAnswer struct {
	// Answer is the verdict of the last error that ARM returned.
	Answer *resource.Verdict `json:"answer,omitempty"`
}

// failedRequest is a request that failed.
type failedRequest struct {
	id         resource.ID
	apiVersion string
	repeated   Repeated
	// values are the secrets that the verdict must not show.
	values []string
}

// failureVerdict returns the verdict of a failed request. Where the error is no
// response of ARM, it adds ARM's last one.
func (a *Activities) failureVerdict(ctx context.Context, request failedRequest, err error, last *lastAnswer) resource.Verdict {
	verdict := a.errorVerdict(ctx, request.id, request.apiVersion, err)
	verdict.Message = secrets.Scrub(verdict.Message, request.values)
	if failure, ok := errors.AsType[*arm.Error](err); ok {
		verdict = request.repeated.slowDown(verdict, failure)
		last.Answer = &verdict
	} else if last.Answer != nil {
		verdict.Message += "; before that it answered: " + last.Answer.Message
		verdict.Reason, verdict.RequestID = last.Answer.Reason, last.Answer.RequestID
	}
	return verdict
}
