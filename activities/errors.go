package activities

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/armature-io/armature/activities/writing"
	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/secrets"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
)

// Transient errors of the transport are retried within an activity after
// transientDelay, doubling; after maxTransientErrors of them they are a verdict.
const (
	maxTransientErrors = 4
	transientDelay     = time.Second
	// maxTransientDelay is the longest Retry-After that is waited for within the
	// activity; a longer one becomes a verdict, which users see.
	maxTransientDelay = 30 * time.Second
)

// Types of the application errors; they are in histories.
const (
	// ErrorNotYet is benign: an operation or a read continues. An operation that
	// outlives its timeout ends with it.
	ErrorNotYet = "NotYet"
	// errorStopping is benign: the worker stops, another one continues.
	errorStopping = "WorkerStopping"
)

// isTransient reports whether an error has its cause outside the resource: the
// connection broke, or the service failed.
func isTransient(err error) bool {
	if failure, ok := errors.AsType[*arm.Error](err); ok {
		return failure.Transient()
	}
	_, blocked := writing.Blocked(err)
	return err != nil && !blocked
}

// isARMError reports whether ARM responded with an error.
func isARMError(err error) bool {
	_, ok := errors.AsType[*arm.Error](err)
	return ok
}

// isForbidden reports whether ARM responded with 403.
func isForbidden(err error) bool { return hasStatus(err, http.StatusForbidden) }

func hasStatus(err error, status int) bool {
	failure, ok := errors.AsType[*arm.Error](err)
	return ok && failure.Status == status
}

// errorVerdict is the only place where an error of ARM becomes a verdict. The
// classifiers of the type decide about a response; any other error is
// ArmUnreachable. Conflict and throttling block, because nothing is wrong with the
// resource.
func (m *requestMaker) errorVerdict(ctx context.Context, id resource.ID, apiVersion string, err error) resource.Verdict {
	if helper, isHelper := errors.AsType[*helperError](err); isHelper {
		verdict := m.errorVerdict(ctx, id, apiVersion, helper.error)
		verdict.Message = helper.decision + ": " + helper.request() + verdict.Message
		return verdict
	}
	if verdict, blocked := writing.Blocked(err); blocked {
		return verdict // nothing was sent: ARM is not to blame
	}
	failure, isResponse := errors.AsType[*arm.Error](err)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return resource.Fail(resource.ReasonArmUnreachable, resource.RetrySlow, "ARM did not answer a request for "+id.Short()+" in time")
	case !isResponse:
		return resource.Fail(resource.ReasonArmUnreachable, resource.RetrySlow, "ARM cannot be reached: "+secrets.Scrub(err.Error(), nil))
	}
	verdict := m.registry.Classify(ctx, m.requestWithoutBody(resource.Desired{ID: id, APIVersion: apiVersion}, PassFacts{}), failure)
	verdict.Message = secrets.Scrub(verdict.Message, nil)
	if failure.Class == arm.ClassConflict || failure.Class == arm.ClassThrottled {
		verdict.Action = resource.ActionBlock
	}
	return verdict
}

// helperError is the error of a request that a decision needs beside those for the resource
// itself. Its verdict begins with the decision and names the request, because the manifest is
// not at fault.
type helperError struct {
	decision string
	error
}

// helper wraps the error of a request that a decision needs; nil stays nil.
func helper(decision string, err error) error {
	if err == nil {
		return nil
	}
	return &helperError{decision, err}
}

func (e *helperError) Unwrap() error { return e.error }

// request returns the name of the request with the status and code of ARM's error. The client
// wraps the error with that name. It returns "" without a response.
func (e *helperError) request() string {
	failure, isResponse := errors.AsType[*arm.Error](e.error)
	if !isResponse {
		return ""
	}
	return secrets.Scrub(strings.TrimSuffix(e.Error(), failure.Error()), nil) + failure.Answer() + ": "
}

// retryTransient returns the error that makes Temporal retry a transient error,
// the count-th of its activity. It returns nil where the error is to be a verdict.
func retryTransient(err error, count int) error {
	if !isTransient(err) || count >= maxTransientErrors {
		return nil
	}
	delay := transientDelay << (count - 1)
	if failure, ok := errors.AsType[*arm.Error](err); ok {
		delay = max(delay, failure.RetryAfter)
	}
	if delay > maxTransientDelay {
		return nil
	}
	text := secrets.Scrub(err.Error(), nil)
	reason, isTemporal := writing.TemporalReason(err)
	if !isTemporal {
		reason = resource.ReasonArmUnreachable
		text = strings.ReplaceAll(text, context.DeadlineExceeded.Error(), "ARM gave no answer in time")
	}
	return temporal.NewApplicationErrorWithOptions(text, string(reason), temporal.ApplicationErrorOptions{NextRetryDelay: delay})
}

// scrubError returns an error of the same kind without the values that were sent.
func scrubError(verb string, id resource.ID, err error, values []string) error {
	failure, isResponse := errors.AsType[*arm.Error](err)
	switch {
	case isResponse:
		clean := *failure
		clean.Message, clean.Target = secrets.Scrub(failure.Message, values), secrets.Scrub(failure.Target, values)
		if secrets.Scrub(failure.Code, values) != failure.Code {
			clean.Code = ""
		}
		clean.Details = nil
		return fmt.Errorf("%s %s: %w", verb, id, &clean)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s %s: %w", verb, id, context.DeadlineExceeded)
	}
	return errors.New(secrets.Scrub(err.Error(), values))
}

// notYet returns the benign error that makes Temporal run the activity again after
// a delay.
func notYet(message string, delay time.Duration) error {
	return temporal.NewApplicationErrorWithOptions(message, ErrorNotYet, temporal.ApplicationErrorOptions{
		NextRetryDelay: max(delay, time.Second), Category: temporal.ApplicationErrorCategoryBenign,
	})
}

// checkWorkerStop returns the error of an activity that must not start a write
// because the worker stops, nil while it does not.
func checkWorkerStop(ctx context.Context) error {
	select {
	case <-activity.GetWorkerStopChannel(ctx):
		return temporal.NewApplicationErrorWithOptions("the worker stops; another one continues", errorStopping,
			temporal.ApplicationErrorOptions{NextRetryDelay: time.Second, Category: temporal.ApplicationErrorCategoryBenign})
	default:
		return nil
	}
}
