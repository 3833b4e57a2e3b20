package workflows

import (
	"errors"
	"fmt"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
)

// verdictOf returns the verdict of an activity, or one made from its error: the error
// type is the reason (activities/errors.go, activities/interceptor.go); a timeout of
// Temporal is CheckFailed. So every pass ends with a message.
func verdictOf(verdict resource.Verdict, err error) resource.Verdict {
	if err == nil {
		return verdict
	}
	if application, ok := errors.AsType[*temporal.ApplicationError](err); ok {
		switch reason := resource.Reason(application.Type()); reason {
		case resource.ReasonArmUnreachable, resource.ReasonObservedTooLarge:
			return resource.Fail(reason, reason.Class(), application.Message())
		}
		return resource.Fail(resource.ReasonCheckFailed, resource.RetrySlow, application.Message())
	}
	if timeout, ok := errors.AsType[*temporal.TimeoutError](err); ok {
		return resource.Fail(resource.ReasonCheckFailed, resource.RetrySlow, timeoutText(timeout.TimeoutType()))
	}
	return resource.Fail(resource.ReasonCheckFailed, resource.RetrySlow, err.Error())
}

// timeoutText describes the timeout of a step.
func timeoutText(kind enumspb.TimeoutType) string {
	switch kind {
	case enumspb.TIMEOUT_TYPE_HEARTBEAT:
		return "the step timed out: its worker stopped responding; it is retried"
	case enumspb.TIMEOUT_TYPE_START_TO_CLOSE:
		return "the step timed out: it gave no result in time; it is retried"
	}
	return "the step timed out: no worker completed it in time; it is retried"
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
