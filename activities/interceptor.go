package activities

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/armature-io/armature/activities/writing"
	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/secrets"
)

const (
	// maxSilenceMargin is how much earlier than its timeout an activity without a result
	// is given up; its requests to ARM end before (maxRequestMargin).
	maxSilenceMargin = 2 * time.Second
	// cancelGrace is how long a canceled activity may take to return.
	cancelGrace = 5 * time.Second
	// maxPanicRunes bounds the text of a panic in a verdict.
	maxPanicRunes = 200
)

// NewInterceptor returns the interceptor that ends every activity in words. Temporal would
// repeat an activity that panics, gives no result, or has a result that is too large, for
// as long as it may, and the pass would wait for it without a verdict: each becomes an
// error that is not repeated and whose type is the reason. encoder is the data converter
// of the worker.
func NewInterceptor(a *Activities, encoder converter.DataConverter) interceptor.WorkerInterceptor {
	return &ending{activities: a, encoder: encoder}
}

// ending is the interceptor of a worker.
type ending struct {
	interceptor.WorkerInterceptorBase
	activities *Activities
	encoder    converter.DataConverter
}

// InterceptWorkflow adds nothing: each link costs stack in every idle workflow.
func (e *ending) InterceptWorkflow(_ workflow.Context, next interceptor.WorkflowInboundInterceptor) interceptor.WorkflowInboundInterceptor {
	return next
}

// InterceptActivity returns the link that runs an activity.
func (e *ending) InterceptActivity(_ context.Context, next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	link := &endingActivity{activities: e.activities, encoder: e.encoder}
	link.Next = next
	return link
}

type endingActivity struct {
	interceptor.ActivityInboundInterceptorBase
	activities *Activities
	encoder    converter.DataConverter
}

// outcome is what an activity returned.
type outcome struct {
	result any
	err    error
}

// ExecuteActivity runs the activity beside this call, which returns before the timeout
// whatever the activity does.
func (e *endingActivity) ExecuteActivity(ctx context.Context, in *interceptor.ExecuteActivityInput) (any, error) {
	begun := time.Now()
	if activity.IsActivity(ctx) && !activity.GetInfo(ctx).IsLocalActivity {
		e.activities.clock.Compare(activity.GetInfo(ctx).StartedTime)
	}
	ended := make(chan outcome, 1)
	go func() { ended <- e.run(ctx, in) }()
	var silence <-chan time.Time
	if deadline, bounded := ctx.Deadline(); bounded {
		remaining := time.Until(deadline)
		timer := time.NewTimer(remaining - min(maxSilenceMargin, remaining/8))
		defer timer.Stop()
		silence = timer.C
	}
	select {
	case o := <-ended:
		if o.err != nil && errors.Is(ctx.Err(), context.Canceled) {
			return o.result, withoutHeartbeat(ctx, o.err)
		}
		return e.checkSize(ctx, o)
	case <-silence:
		return nil, e.fail(ctx, resource.ReasonCheckFailed, fmt.Sprintf(
			"%s gave no result within %s; it is tried again", activityName(ctx), text.Duration(time.Since(begun))))
	case <-ctx.Done():
	}
	timer := time.NewTimer(cancelGrace)
	defer timer.Stop()
	select {
	case o := <-ended:
		return o.result, withoutHeartbeat(ctx, o.err)
	case <-timer.C:
		return nil, withoutHeartbeat(ctx, ctx.Err())
	}
}

// withoutHeartbeat returns the error of an activity whose context the SDK ended because Temporal
// took no heartbeat in time. The error of a request that this ended would blame Azure.
func withoutHeartbeat(ctx context.Context, err error) error {
	cause := TemporalError(context.Cause(ctx))
	reason, known := writing.TemporalReason(cause)
	if err == nil || !known {
		return err
	}
	return temporal.NewApplicationError(fmt.Sprintf("Temporal took no heartbeat, so this attempt ended: %v", cause), string(reason))
}

// run runs the activity and turns a panic into an error.
func (e *endingActivity) run(ctx context.Context, in *interceptor.ExecuteActivityInput) (o outcome) {
	defer func() {
		if value := recover(); value != nil {
			found := text.Cut(secrets.Scrub(fmt.Sprint(value), nil), maxPanicRunes)
			e.activities.Log.Error("activity panicked", "activity", activityName(ctx), "panic", found, "stack", string(debug.Stack()))
			o = outcome{err: e.fail(ctx, resource.ReasonCheckFailed, fmt.Sprintf(
				"%s panicked: %s; this is a defect of Armature or of an extension: the worker's log has the stack", activityName(ctx), found))}
		}
	}()
	result, err := e.Next.ExecuteActivity(ctx, in)
	if err == nil {
		e.activities.noteDenial(ctx, in.Args, result)
	}
	return outcome{result, err}
}

// checkSize replaces a result that Temporal would refuse.
func (e *endingActivity) checkSize(ctx context.Context, o outcome) (any, error) {
	if o.err != nil {
		e.countStuck(ctx, o.err)
		return o.result, o.err
	}
	size, err := encodedSize(e.encoder, o.result)
	switch {
	case err != nil:
		return nil, e.fail(ctx, resource.ReasonObservedTooLarge, fmt.Sprintf(
			"the result of %s cannot be stored in Temporal: %s", activityName(ctx), secrets.Scrub(err.Error(), nil)))
	case size > maxResultBytes:
		return nil, e.fail(ctx, resource.ReasonObservedTooLarge, fmt.Sprintf(
			"the result of %s has %.1f MB after compression, and Temporal stores at most %.1f MB, so the resource cannot be compared; "+
				"make it smaller in Azure, or leave out what grows with an extension (ObservationTrimmer)",
			activityName(ctx), megabytes(size), megabytes(maxResultBytes)))
	}
	return o.result, nil
}

// countStuck counts an attempt that failed although an activity gives up before: the
// step is stuck until its timeout.
func (e *endingActivity) countStuck(ctx context.Context, err error) {
	application, ok := errors.AsType[*temporal.ApplicationError](err)
	benign := ok && application.Category() == temporal.ApplicationErrorCategoryBenign
	if attemptNumber(ctx) > maxTransientErrors && !benign {
		e.activities.report(activityName(ctx), resource.Fail(resource.ReasonStuck, resource.RetrySlow, err.Error()))
	}
}

// fail reports the verdict and returns the error that the workflow reads as one. Temporal
// does not retry it.
func (e *endingActivity) fail(ctx context.Context, reason resource.Reason, message string) error {
	e.activities.report(activityName(ctx), resource.Fail(reason, reason.Class(), message))
	return temporal.NewApplicationErrorWithOptions(message, string(reason), temporal.ApplicationErrorOptions{
		NonRetryable: true, Cause: errors.New("ended by the worker"),
	})
}

// activityName returns the name of the running activity.
func activityName(ctx context.Context) string { return activity.GetInfo(ctx).ActivityType.Name }
