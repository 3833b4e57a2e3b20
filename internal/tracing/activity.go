package tracing

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// Facts are what a span states about an activity: IDs, types and words, never a value of a
// resource.
type Facts struct {
	Resource, Type, Action, Reason string
	// Failed is set where the verdict is a failure.
	Failed bool
}

// NewActivityInterceptor returns the interceptor that makes a span for each attempt of an
// activity, as a child of its pass or of the command that started it. Where another
// interceptor has begun a span for the attempt, such as the SDK's, it completes that one:
// NewActivityInterceptor has to be the inner one of the two. facts reads the arguments and
// the result, which is nil before the activity ran.
func NewActivityInterceptor(tracer *Tracer, facts func(args []any, result any) Facts) interceptor.WorkerInterceptor {
	return &attempts{tracer: tracer, facts: facts}
}

type attempts struct {
	interceptor.WorkerInterceptorBase
	tracer *Tracer
	facts  func(args []any, result any) Facts
}

// InterceptWorkflow adds nothing: each link costs stack in every idle workflow.
func (a *attempts) InterceptWorkflow(_ workflow.Context, next interceptor.WorkflowInboundInterceptor) interceptor.WorkflowInboundInterceptor {
	return next
}

// InterceptActivity returns the link that runs an activity.
func (a *attempts) InterceptActivity(_ context.Context, next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	link := &attempt{attempts: a}
	link.Next = next
	return link
}

type attempt struct {
	interceptor.ActivityInboundInterceptorBase
	attempts *attempts
}

// ExecuteActivity runs the activity within its span.
func (a *attempt) ExecuteActivity(ctx context.Context, in *interceptor.ExecuteActivityInput) (any, error) {
	ctx, span, own := a.span(ctx)
	if !span.IsRecording() {
		return a.Next.ExecuteActivity(ctx, in) //nolint:wrapcheck // the SDK acts on its type
	}
	result, err := a.Next.ExecuteActivity(ctx, in)
	found := a.attempts.facts(in.Args, result)
	for key, value := range map[attribute.Key]string{
		resourceIDKey: found.Resource, resourceTypeKey: found.Type, actionKey: found.Action, reasonKey: found.Reason,
	} {
		if value != "" {
			span.SetAttributes(key.String(value))
		}
	}
	if found.Failed {
		span.SetStatus(codes.Error, found.Reason)
	}
	if own {
		end(span, unexpected(err))
	}
	return result, err //nolint:wrapcheck // the SDK acts on its type
}

// span returns the span of the attempt, and reports whether this interceptor began it.
func (a *attempt) span(ctx context.Context) (context.Context, trace.Span, bool) {
	current := trace.SpanFromContext(ctx)
	if foreign := current.SpanContext(); foreign.IsValid() && !foreign.IsRemote() {
		if pass, known := ctx.Value(passKey{}).(trace.SpanContext); known && pass.IsValid() {
			current.AddLink(trace.Link{SpanContext: pass})
		}
		return ctx, current, false
	}
	if !a.attempts.tracer.isOn() {
		return ctx, trace.SpanFromContext(context.Background()), false
	}
	info := activity.GetInfo(ctx)
	ctx, span := a.attempts.tracer.Start(ctx, info.ActivityType.Name, trace.WithAttributes(
		workflowIDKey.String(info.WorkflowExecution.ID), runIDKey.String(info.WorkflowExecution.RunID),
		activityIDKey.String(info.ActivityID), attemptKey.Int64(int64(info.Attempt))))
	return ctx, span, true
}

// unexpected returns an error, nil for one that only asks for the next attempt.
func unexpected(err error) error {
	application, ok := errors.AsType[*temporal.ApplicationError](err)
	if ok && application.Category() == temporal.ApplicationErrorCategoryBenign || errors.Is(err, activity.ErrResultPending) {
		return nil
	}
	return err
}
