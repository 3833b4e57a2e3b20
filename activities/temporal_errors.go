package activities

import (
	"context"
	"errors"
	"fmt"

	"github.com/armature-io/armature/activities/writing"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
)

// TemporalError adds to the error of a request to Temporal whether it was slow or away. Other
// errors stay as they are.
func TemporalError(err error) error {
	_, deadline := errors.AsType[*serviceerror.DeadlineExceeded](err)
	_, update := errors.AsType[*client.WorkflowUpdateServiceTimeoutOrCanceledError](err)
	_, busy := errors.AsType[*serviceerror.ResourceExhausted](err)
	_, away := errors.AsType[*serviceerror.Unavailable](err)
	_, known := writing.TemporalReason(err)
	switch {
	case known || err == nil || errors.Is(err, context.Canceled):
		return err
	case away:
		return fmt.Errorf("%w: %w", writing.ErrTemporalUnavailable, err)
	case deadline || update || busy || errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w: %w", writing.ErrTemporalSlow, err)
	}
	return err
}
