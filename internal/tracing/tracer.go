package tracing

import (
	"context"
	"errors"

	"github.com/armature-io/armature/internal/text"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"go.temporal.io/sdk/temporal"
)

// scope names the instrumentation in spans.
const scope = "github.com/armature-io/armature"

// Names of attributes. The first three are those of the SDK's tracing interceptor.
const (
	workflowIDKey = attribute.Key("temporalWorkflowID")
	runIDKey      = attribute.Key("temporalRunID")
	activityIDKey = attribute.Key("temporalActivityID")

	resourceIDKey   = attribute.Key("armature.resource.id")
	resourceTypeKey = attribute.Key("armature.resource.type")
	passKeyName     = attribute.Key("armature.pass")
	generationKey   = attribute.Key("armature.generation")
	causeKey        = attribute.Key("armature.cause")
	phaseKey        = attribute.Key("armature.phase")
	readyKey        = attribute.Key("armature.ready")
	actionKey       = attribute.Key("armature.action")
	reasonKey       = attribute.Key("armature.reason")
	attemptKey      = attribute.Key("armature.attempt")
	errorTypeKey    = attribute.Key("error.type")
)

// Tracer makes the spans of a program. A nil Tracer is off.
type Tracer struct{ tracer trace.Tracer }

// New returns the tracer of a provider that uses IDs; a nil provider is off.
func New(provider trace.TracerProvider) *Tracer {
	if provider == nil {
		return nil
	}
	return &Tracer{tracer: provider.Tracer(scope)}
}

func (t *Tracer) isOn() bool { return t != nil }

// Start begins a span in the context. The caller ends it.
func (t *Tracer) Start(ctx context.Context, name string, options ...trace.SpanStartOption) (context.Context, trace.Span) {
	if !t.isOn() {
		return ctx, trace.SpanFromContext(context.Background())
	}
	return t.tracer.Start(ctx, name, options...)
}

// sampled returns the span of a root with the decision of the sampler about its trace. The
// decision depends on the trace ID, so that all workers with the same sampler agree. The
// span that asks the sampler never ends and is never exported.
func (t *Tracer) sampled(root trace.SpanContext) trace.SpanContext {
	_, span := t.tracer.Start(withIDs(context.Background(), root), "pass", trace.WithNewRoot())
	return root.WithTraceFlags(root.TraceFlags().WithSampled(span.SpanContext().IsSampled()))
}

// Pass makes the span of a pass that has ended, and returns its context: invalid where
// traces are off.
func (t *Tracer) Pass(pass Pass) trace.SpanContext {
	if !t.isOn() {
		return trace.SpanContext{}
	}
	ctx := withIDs(pass.Span.Request.Into(context.Background()), pass.Span.Context.SpanContext())
	links := make([]trace.Link, 0, len(pass.Links))
	for _, parent := range pass.Links {
		links = append(links, trace.Link{SpanContext: parent.SpanContext()})
	}
	_, span := t.tracer.Start(ctx, "pass", trace.WithSpanKind(trace.SpanKindConsumer), trace.WithTimestamp(pass.Begun), trace.WithLinks(links...),
		trace.WithAttributes(
			workflowIDKey.String(pass.WorkflowID), runIDKey.String(pass.RunID),
			resourceIDKey.String(pass.Resource), resourceTypeKey.String(pass.Type),
			passKeyName.Int64(pass.Number), generationKey.Int64(pass.Generation), causeKey.String(pass.Cause),
			phaseKey.String(pass.Phase), reasonKey.String(pass.Reason), readyKey.Bool(pass.Ready)))
	span.End(trace.WithTimestamp(pass.Ended))
	return span.SpanContext()
}

// end ends a span with the result of what it covers. The text of an error is left out: only
// its type is known to hold no value of a resource.
func end(span trace.Span, err error) {
	if err != nil {
		kind := errorType(err)
		span.SetAttributes(errorTypeKey.String(kind))
		span.SetStatus(codes.Error, kind)
	}
	span.End()
}

// maxErrorType bounds the type of an error: another program may have chosen it.
const maxErrorType = 100

// errorType returns the type of an application error, else the kind of the failure.
func errorType(err error) string {
	if application, ok := errors.AsType[*temporal.ApplicationError](err); ok && application.Type() != "" {
		return text.CutBytes(application.Type(), maxErrorType)
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	case errors.Is(err, context.Canceled):
		return "canceled"
	}
	return "error"
}
