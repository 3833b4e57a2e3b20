package tracing

import (
	"context"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
)

// Headers of Temporal.
const (
	// requestHeader is the header in which the SDK's tracing interceptor sends the trace
	// context of an update, as JSON: a client may use either.
	requestHeader = "_tracer-data"
	// passHeader is the header of the activities of a pass. It differs from that of the
	// SDK's interceptor, which a worker may use beside this package.
	passHeader = "armature-trace"
)

// Parent is a W3C trace context: what a span needs to know of its parent. The zero value is
// none. Baggage is left out, because it may hold anything.
type Parent struct {
	Traceparent string `json:"traceparent,omitempty"`
	Tracestate  string `json:"tracestate,omitempty"`
}

// IsZero reports whether there is no parent.
func (p Parent) IsZero() bool { return p.Traceparent == "" }

// ParentOf returns the span of a context as a parent, zero for none.
func ParentOf(ctx context.Context) Parent {
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return Parent{Traceparent: carrier["traceparent"], Tracestate: carrier["tracestate"]}
}

// SpanContext returns the parent for links; it is invalid for none.
func (p Parent) SpanContext() trace.SpanContext {
	return trace.SpanContextFromContext(p.Into(context.Background()))
}

// Into returns the context with the parent as its remote span, and the same context for none.
func (p Parent) Into(ctx context.Context) context.Context {
	if p.IsZero() {
		return ctx
	}
	return propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{"traceparent": p.Traceparent, "tracestate": p.Tracestate})
}

// encode returns a value as a payload that is never encrypted: it is read where there is no
// data converter, and holds IDs only.
func encode(value any) (*commonpb.Payload, error) {
	return converter.GetDefaultDataConverter().ToPayload(value) //nolint:wrapcheck // the SDK names the header
}

// decode reads a payload of another program. One that cannot be read counts as none: a trace
// must not stop an update.
func decode[T any](payload *commonpb.Payload) (value T) {
	if payload == nil || converter.GetDefaultDataConverter().FromPayload(payload, &value) != nil {
		var none T
		return none
	}
	return value
}
