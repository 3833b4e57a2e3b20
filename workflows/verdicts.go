package workflows

import (
	"errors"
	"fmt"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"go.temporal.io/sdk/temporal"
)

// verdictOf turns an activity that gave up into a verdict: its error type is
// the reason (activities/errors.go), a timeout of Temporal or a panic is
// CheckFailed. So a pass always ends in words.
func verdictOf(verdict resource.Verdict, err error) resource.Verdict {
	if err == nil {
		return verdict
	}
	var application *temporal.ApplicationError
	if errors.As(err, &application) {
		if application.Type() == string(resource.ReasonArmUnreachable) {
			return resource.Fail(resource.ReasonArmUnreachable, resource.RetrySlow, application.Message())
		}
		return resource.Fail(resource.ReasonCheckFailed, resource.RetrySlow, application.Message())
	}
	var timeout *temporal.TimeoutError
	if errors.As(err, &timeout) {
		return resource.Fail(resource.ReasonCheckFailed, resource.RetrySlow, "the step did not answer in time; it is tried again")
	}
	return resource.Fail(resource.ReasonCheckFailed, resource.RetrySlow, err.Error())
}

// pollVerdict is verdictOf for an operation: one that outlives its timeout is
// not failed. Armature keeps reading, and the in-flight guard of the pre-check
// keeps a PUT away.
func pollVerdict(verdict resource.Verdict, err error, desired resource.Desired) resource.Verdict {
	var application *temporal.ApplicationError
	var timeout *temporal.TimeoutError
	// The server ends the activity early, with its last "not yet", when the next
	// attempt would come too late.
	late := errors.As(err, &application) && application.Type() == activities.ErrorNotYet || errors.As(err, &timeout)
	if !late {
		return verdictOf(verdict, err)
	}
	message := fmt.Sprintf(
		"the operation on %s did not end within %s (reconcile.timeout); Armature keeps reading the resource and sends no PUT while it is in flight",
		desired.ID.Short(), desired.Timeout)
	if application != nil && application.Message() != "" {
		message += ". The last poll said: " + application.Message()
	}
	return resource.Fail(resource.ReasonOperationTimeout, resource.RetrySlow, message)
}

// fatal is the error with which a run of --once fails.
func fatal(status Status) error {
	return temporal.NewApplicationErrorWithOptions(
		string(status.Condition.Reason)+": "+status.Condition.Message, FatalError,
		temporal.ApplicationErrorOptions{NonRetryable: true, Details: []any{status}})
}
