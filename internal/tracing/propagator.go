package tracing

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/trace"
	"go.temporal.io/sdk/workflow"
)

// Pass is a pass that has ended.
type Pass struct {
	Span Span
	// Links are the other traces that caused the pass.
	Links []Parent
	// WorkflowID, RunID and Resource are IDs, Type is the resource type.
	WorkflowID, RunID, Resource, Type string
	Number, Generation                int64
	// Cause is the message that requested the pass, or "timer".
	Cause string
	// Phase and Reason are the state after the pass.
	Phase, Reason string
	Ready         bool
	// Begun and Ended are times of the server.
	Begun, Ended time.Time
}

// Recorder takes the passes that have ended. It must not block: workflows call it.
type Recorder interface{ RecordPass(pass Pass) }

// keys of values in contexts of workflows and activities.
type (
	recorderKey struct{}
	requestKey  struct{}
	spanKey     struct{}
	passKey     struct{}
)

// passTrace is the value of passHeader.
type passTrace struct {
	Parent
	// Root is set for the root of a trace, about which nothing has decided whether it is
	// sampled.
	Root bool `json:"root,omitempty"`
}

// propagator hands trace contexts through workflows, without an interceptor: each link of a
// chain costs stack in every idle workflow, and the SDK's tracing interceptor multiplies it.
type propagator struct {
	tracer   *Tracer
	recorder Recorder
}

// NewPropagator returns the propagator of a worker. It reads the trace context of updates and
// reports passes; it writes headers for activities only where tracer is on.
func NewPropagator(tracer *Tracer, recorder Recorder) workflow.ContextPropagator {
	return &propagator{tracer: tracer, recorder: recorder}
}

// Inject writes nothing: NewClientInterceptor has what clients send.
func (p *propagator) Inject(context.Context, workflow.HeaderWriter) error { return nil }

// Extract returns the context of an activity with the pass as its remote span.
func (p *propagator) Extract(ctx context.Context, reader workflow.HeaderReader) (context.Context, error) {
	if !p.tracer.isOn() {
		return ctx, nil
	}
	if payload, sent := reader.Get(passHeader); sent {
		header := decode[passTrace](payload)
		pass := header.SpanContext()
		if header.Root {
			pass = p.tracer.sampled(pass)
		}
		return withPass(ctx, pass), nil
	}
	// The activity of a dry run has no workflow.
	if payload, sent := reader.Get(requestHeader); sent {
		return decode[Parent](payload).Into(ctx), nil
	}
	return ctx, nil
}

// withPass returns a context with the span of a pass, in which spans begin as its children.
func withPass(ctx context.Context, pass trace.SpanContext) context.Context {
	return context.WithValue(trace.ContextWithRemoteSpanContext(ctx, pass), passKey{}, pass)
}

// InjectFromWorkflow writes the span of the pass for its activities.
func (p *propagator) InjectFromWorkflow(ctx workflow.Context, writer workflow.HeaderWriter) error {
	span, inPass := ctx.Value(spanKey{}).(Span)
	if !inPass || !p.tracer.isOn() {
		return nil
	}
	payload, err := encode(passTrace{Parent: span.Context, Root: span.Request.IsZero()})
	if err == nil {
		writer.Set(passHeader, payload)
	}
	return nil
}

// ExtractToWorkflow returns the context of a workflow, or of a message to it, with the trace
// context of the caller.
func (p *propagator) ExtractToWorkflow(ctx workflow.Context, reader workflow.HeaderReader) (workflow.Context, error) {
	payload, _ := reader.Get(requestHeader)
	ctx = workflow.WithValue(ctx, requestKey{}, decode[Parent](payload))
	return workflow.WithValue(ctx, recorderKey{}, p.recorder), nil
}

// Requested returns the trace context that came with the message of a handler, zero for none.
func Requested(ctx workflow.Context) Parent {
	request, _ := ctx.Value(requestKey{}).(Parent)
	return request
}

// WithSpan returns the context of a pass, in which activities belong to its span.
func WithSpan(ctx workflow.Context, span Span) workflow.Context {
	return workflow.WithValue(ctx, spanKey{}, span)
}

// Record reports a pass that has ended, unless the workflow replays. After a workflow task
// that failed it may report the same pass again, with the same IDs.
func Record(ctx workflow.Context, pass Pass) {
	if recorder, has := ctx.Value(recorderKey{}).(Recorder); has && recorder != nil && !workflow.IsReplaying(ctx) {
		recorder.RecordPass(pass)
	}
}
