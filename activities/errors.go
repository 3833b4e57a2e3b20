package activities

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/secrets"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
)

// Faults of the transport are tried again within an activity, faultDelay apart,
// doubling; after faultsMax of them they are a verdict.
const (
	faultsMax  = 4
	faultDelay = time.Second
)

// Types of the application errors; they live in histories.
const (
	// ErrorNotYet is benign: an operation or a read goes on. An operation that
	// outlives its timeout ends with it.
	ErrorNotYet = "NotYet"
	// errorStopping is benign: the worker stops, another one goes on.
	errorStopping = "WorkerStopping"
)

// isFault reports whether an error says nothing about the resource: the
// connection broke, or the service failed.
func isFault(err error) bool {
	var failure *arm.Error
	if errors.As(err, &failure) {
		return failure.Transient()
	}
	return err != nil
}

// patience is the longest wait that a fault may ask for and still be tried again
// within its activity; a longer one is a verdict, for people to see.
const patience = 30 * time.Second

// isAnswer reports whether ARM answered.
func isAnswer(err error) bool {
	var failure *arm.Error
	return errors.As(err, &failure)
}

// isForbidden reports a 403.
func isForbidden(err error) bool {
	var failure *arm.Error
	return errors.As(err, &failure) && failure.Status == http.StatusForbidden
}

// isPrecondition reports that the resource had changed since it was read.
func isPrecondition(err error) bool {
	var failure *arm.Error
	return errors.As(err, &failure) && failure.Status == http.StatusPreconditionFailed
}

// verdict is the one place where an error of ARM becomes a verdict: the
// classifiers of the type decide about an answer; a fault is ArmUnreachable.
// Conflict and throttling are blocks, for nothing is wrong with the resource.
func (a *Activities) verdict(ctx context.Context, id resource.ID, apiVersion string, err error) resource.Verdict {
	var failure *arm.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return resource.Fail(resource.ReasonArmUnreachable, resource.RetrySlow, "ARM did not answer a request for "+id.Short()+" in time")
	case !errors.As(err, &failure):
		return resource.Fail(resource.ReasonArmUnreachable, resource.RetrySlow, "ARM cannot be reached: "+secrets.Scrub(err.Error(), nil))
	}
	verdict := a.Registry.Classify(ctx, id.Type(), apiVersion, failure, a.Log)
	verdict.Message = secrets.Scrub(verdict.Message, nil)
	if failure.Class == arm.ClassConflict || failure.Class == arm.ClassThrottled {
		verdict.Action = resource.ActionBlock
	}
	return verdict
}

// fault gives a fault another attempt, or, after faults of them, says false:
// the caller makes it a verdict.
func fault(err error, faults int) (error, bool) {
	if !isFault(err) || faults >= faultsMax {
		return nil, false
	}
	delay := faultDelay << (faults - 1)
	var failure *arm.Error
	if errors.As(err, &failure) {
		delay = max(delay, failure.RetryAfter)
	}
	if delay > patience {
		return nil, false
	}
	text := strings.ReplaceAll(secrets.Scrub(err.Error(), nil), context.DeadlineExceeded.Error(), "ARM gave no answer in time")
	return temporal.NewApplicationErrorWithOptions(text, string(resource.ReasonArmUnreachable),
		temporal.ApplicationErrorOptions{NextRetryDelay: delay}), true
}

// scrubbed is the error without the values that were sent; what it is stays.
func scrubbed(verb string, id resource.ID, err error, values []string) error {
	var failure *arm.Error
	switch {
	case errors.As(err, &failure):
		clean := *failure
		clean.Message, clean.Target = secrets.Scrub(failure.Message, values), secrets.Scrub(failure.Target, values)
		clean.Details = nil
		return fmt.Errorf("%s %s: %w", verb, id, &clean)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s %s: %w", verb, id, context.DeadlineExceeded)
	}
	return errors.New(secrets.Scrub(err.Error(), values))
}

// notYet makes Temporal call the activity again after a delay, without noise.
func notYet(message string, delay time.Duration) error {
	return temporal.NewApplicationErrorWithOptions(message, ErrorNotYet, temporal.ApplicationErrorOptions{
		NextRetryDelay: max(delay, time.Second), Category: temporal.ApplicationErrorCategoryBenign,
	})
}

// stopping is the error of an activity that must not begin a write, because the
// worker stops; nil while it does not.
func stopping(ctx context.Context) error {
	select {
	case <-activity.GetWorkerStopChannel(ctx):
		return temporal.NewApplicationErrorWithOptions("the worker stops; another one goes on", errorStopping,
			temporal.ApplicationErrorOptions{NextRetryDelay: time.Second, Category: temporal.ApplicationErrorCategoryBenign})
	default:
		return nil
	}
}
