package workflows

import (
	"errors"
	"fmt"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"go.temporal.io/sdk/temporal"
)

// verdictOf returns the verdict of an activity, or one made from its error: the error
// type is the reason (activities/errors.go); a timeout of Temporal and a panic are
// CheckFailed. So every pass ends with a message.
func verdictOf(verdict resource.Verdict, err error) resource.Verdict {
	if err == nil {
		return verdict
	}
	if application, ok := errors.AsType[*temporal.ApplicationError](err); ok {
		if application.Type() == string(resource.ReasonArmUnreachable) {
			return resource.Fail(resource.ReasonArmUnreachable, resource.RetrySlow, application.Message())
		}
		return resource.Fail(resource.ReasonCheckFailed, resource.RetrySlow, application.Message())
	}
	if _, ok := errors.AsType[*temporal.TimeoutError](err); ok {
		return resource.Fail(resource.ReasonCheckFailed, resource.RetrySlow, "the step timed out; it is retried")
	}
	return resource.Fail(resource.ReasonCheckFailed, resource.RetrySlow, err.Error())
}

// pollVerdict is verdictOf for the poll of an operation. An operation that outlives its
// timeout has not failed: Armature keeps reading, and the in-flight guard of the
// pre-check prevents a PUT.
func pollVerdict(verdict resource.Verdict, err error, desired resource.Desired) resource.Verdict {
	application, ok := errors.AsType[*temporal.ApplicationError](err)
	_, timedOut := errors.AsType[*temporal.TimeoutError](err)
	// The server ends the activity early, with its last "not yet", when the next
	// attempt would come too late.
	if !timedOut && (!ok || application.Type() != activities.ErrorNotYet) {
		return verdictOf(verdict, err)
	}
	message := fmt.Sprintf(
		"the operation on %s did not finish within %s (reconcile.timeout); Armature keeps reading the resource and sends no PUT while the operation is in progress",
		desired.ID.Short(), desired.Timeout)
	if ok && application.Message() != "" {
		message += ". Last poll: " + application.Message()
	}
	return resource.Fail(resource.ReasonOperationTimeout, resource.RetrySlow, message)
}

// fatal returns the error with which a run of --once fails.
func fatal(status *Status) error {
	return temporal.NewApplicationErrorWithOptions(
		string(status.Condition.Reason)+": "+status.Condition.Message, FatalError,
		temporal.ApplicationErrorOptions{NonRetryable: true, Details: []any{status}})
}
