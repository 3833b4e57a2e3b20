package activities

import (
	"context"
	"errors"
	"fmt"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/secrets"
)

// Repeated says what the passes before ended with, so that a denial is not
// asked for ever at the pace of its beginning. The zero value is the first time.
type Repeated struct {
	Reason resource.Reason `json:"reason,omitempty"`
	// Times is the number of passes in a row that ended with Reason.
	Times int `json:"times,omitempty"`
}

// denialsMax is how often the same denial is believed to pass soon: the slow
// class has reached its longest wait by then.
const denialsMax = 10

// stepDown makes the same denial rarer, for what would lift it is somebody's
// work.
func (r Repeated) stepDown(verdict resource.Verdict, failure *arm.Error) resource.Verdict {
	if !failure.Denial || r.Times < denialsMax || r.Reason != verdict.Reason {
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
	verdict.Message += fmt.Sprintf(" (%d times in a row: it is asked less often now; reconcile asks at once)", r.Times+1)
	return verdict
}

// seen is what an activity keeps of ARM's answers: a request that hangs must not
// hide the error that ARM gave before it. It lives in heartbeats.
type seen struct {
	// Answer is the verdict of the last error that was an answer.
	Answer *resource.Verdict `json:"answer,omitempty"`
}

// attempted is a request that failed.
type attempted struct {
	id         resource.ID
	apiVersion string
	before     Repeated
	// values are the secrets that ARM's words must not show.
	values []string
}

// judge is the verdict of an error, with what ARM said before when this one is
// no answer of ARM.
func (a *Activities) judge(ctx context.Context, of attempted, err error, s *seen) resource.Verdict {
	verdict := a.verdict(ctx, of.id, of.apiVersion, err)
	verdict.Message = secrets.Scrub(verdict.Message, of.values)
	var failure *arm.Error
	switch {
	case errors.As(err, &failure):
		verdict = of.before.stepDown(verdict, failure)
		s.Answer = &verdict
	case s.Answer != nil:
		verdict.Message += "; before that it answered: " + s.Answer.Message
		verdict.Reason, verdict.RequestID = s.Answer.Reason, s.Answer.RequestID
	}
	return verdict
}
