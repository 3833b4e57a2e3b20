package tracing

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"
)

// NewClientInterceptor returns the interceptor that makes a span for each update, start of a
// workflow and start of an activity whose context has a span, and sends it along. Reads have
// no spans: a command that waits sends thousands.
func NewClientInterceptor(tracer *Tracer) interceptor.ClientInterceptor {
	return &clients{tracer: tracer}
}

type clients struct {
	interceptor.ClientInterceptorBase
	tracer *Tracer
}

// InterceptClient returns the link of a client.
func (c *clients) InterceptClient(next interceptor.ClientOutboundInterceptor) interceptor.ClientOutboundInterceptor {
	link := &clientLink{tracer: c.tracer}
	link.Next = next
	return link
}

type clientLink struct {
	interceptor.ClientOutboundInterceptorBase
	tracer *Tracer
}

// UpdateWorkflow sends an update.
func (l *clientLink) UpdateWorkflow(ctx context.Context, in *interceptor.ClientUpdateWorkflowInput) (client.WorkflowUpdateHandle, error) {
	ctx, span := l.start(ctx, "update "+in.UpdateName, in.WorkflowID)
	handle, err := l.Next.UpdateWorkflow(ctx, in)
	return traced(span, handle, err)
}

// UpdateWithStartWorkflow sends an update and starts the workflow if there is none.
func (l *clientLink) UpdateWithStartWorkflow(ctx context.Context, in *interceptor.ClientUpdateWithStartWorkflowInput) (client.WorkflowUpdateHandle, error) {
	ctx, span := l.start(ctx, "update "+in.UpdateOptions.UpdateName, in.UpdateOptions.WorkflowID)
	handle, err := l.Next.UpdateWithStartWorkflow(ctx, in)
	return traced(span, handle, err)
}

// ExecuteWorkflow starts a workflow.
func (l *clientLink) ExecuteWorkflow(ctx context.Context, in *interceptor.ClientExecuteWorkflowInput) (client.WorkflowRun, error) {
	ctx, span := l.start(ctx, "start "+in.WorkflowType, in.Options.ID)
	run, err := l.Next.ExecuteWorkflow(ctx, in)
	end(span, err)
	return run, err //nolint:wrapcheck // callers act on its type
}

// ExecuteActivity starts an activity without a workflow.
func (l *clientLink) ExecuteActivity(ctx context.Context, in *interceptor.ClientExecuteActivityInput) (client.ActivityHandle, error) {
	ctx, span := l.start(ctx, "start "+in.ActivityType, "", activityIDKey.String(in.Options.ID))
	handle, err := l.Next.ExecuteActivity(ctx, in)
	end(span, err)
	return handle, err //nolint:wrapcheck // callers act on its type
}

// start begins a span and writes it into the header of the request. Where another
// interceptor has begun one for the same request and written the header, there is none.
func (l *clientLink) start(ctx context.Context, name, workflowID string, attributes ...attribute.KeyValue) (context.Context, trace.Span) {
	none := trace.SpanFromContext(context.Background())
	header := interceptor.Header(ctx)
	if _, sent := header[requestHeader]; sent || header == nil || !l.tracer.isOn() || !trace.SpanContextFromContext(ctx).IsValid() {
		return ctx, none
	}
	if workflowID != "" {
		attributes = append(attributes, workflowIDKey.String(workflowID))
	}
	ctx, span := l.tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKindProducer), trace.WithAttributes(attributes...))
	if payload, err := encode(ParentOf(ctx)); err == nil {
		header[requestHeader] = payload
	}
	return ctx, span
}

// tracedHandle ends the span of an update when its outcome is known: a refusal comes with it.
type tracedHandle struct {
	client.WorkflowUpdateHandle
	span trace.Span
}

func traced(span trace.Span, handle client.WorkflowUpdateHandle, err error) (client.WorkflowUpdateHandle, error) {
	if err != nil || !span.IsRecording() {
		end(span, err)
		return handle, err //nolint:wrapcheck // callers act on its type
	}
	return tracedHandle{handle, span}, nil
}

// Get waits for the outcome.
func (h tracedHandle) Get(ctx context.Context, value any) error {
	err := h.WorkflowUpdateHandle.Get(ctx, value)
	end(h.span, err)
	return err //nolint:wrapcheck // callers act on its type
}
