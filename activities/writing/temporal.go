package writing

import (
	"context"
	"errors"
	"fmt"

	"github.com/armature-io/armature/resource"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
)

// A request to Temporal that a check of a write needs fails with one of these errors, if
// Temporal gave no answer.
var (
	ErrTemporalSlow        = errors.New("the Temporal server did not answer in time")
	ErrTemporalUnavailable = errors.New("the Temporal server cannot be reached")
)

// TemporalError adds to the error of a request to Temporal whether it was slow or away. Other
// errors stay as they are.
func TemporalError(err error) error {
	_, deadline := errors.AsType[*serviceerror.DeadlineExceeded](err)
	_, update := errors.AsType[*client.WorkflowUpdateServiceTimeoutOrCanceledError](err)
	_, busy := errors.AsType[*serviceerror.ResourceExhausted](err)
	_, away := errors.AsType[*serviceerror.Unavailable](err)
	switch {
	case err == nil || errors.Is(err, context.Canceled):
		return err
	case away:
		return fmt.Errorf("%w: %w", ErrTemporalUnavailable, err)
	case deadline || update || busy || errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w: %w", ErrTemporalSlow, err)
	}
	return err
}

// TemporalReason returns the reason of a [TemporalError], and whether err is one.
func TemporalReason(err error) (resource.Reason, bool) {
	switch {
	case errors.Is(err, ErrTemporalSlow):
		return resource.ReasonTemporalSlow, true
	case errors.Is(err, ErrTemporalUnavailable):
		return resource.ReasonTemporalUnavailable, true
	}
	return "", false
}

// Unanswered returns the verdict that stops a write because a question to Temporal has no
// answer. Temporal is seldom away for long, so the next try comes soon.
func Unanswered(question string, err error) resource.Verdict {
	reason, known := TemporalReason(err)
	if !known {
		reason = resource.ReasonCheckFailed
	}
	return resource.Fail(reason, reason.Class(), fmt.Sprintf("%s, so nothing is written: %v", question, err))
}
