package tracing

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"time"

	"go.opentelemetry.io/otel/trace"
)

// IDs generates the IDs of spans: those that the context asks for, else random ones. The
// span of a pass has IDs that its activities know before the span exists.
type IDs struct{}

type idsKey struct{}

// withIDs returns a context in which the next span gets these IDs.
func withIDs(ctx context.Context, ids trace.SpanContext) context.Context {
	return context.WithValue(ctx, idsKey{}, ids)
}

// NewIDs returns the IDs of a span without a parent.
func (g IDs) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	if ids, wanted := ctx.Value(idsKey{}).(trace.SpanContext); wanted {
		return ids.TraceID(), ids.SpanID()
	}
	var id trace.TraceID
	binary.BigEndian.PutUint64(id[:8], rand.Uint64())
	binary.BigEndian.PutUint64(id[8:], rand.Uint64()|1) // never zero, which is invalid
	return id, g.NewSpanID(ctx, id)
}

// NewSpanID returns the ID of a span with a parent.
func (IDs) NewSpanID(ctx context.Context, _ trace.TraceID) (id trace.SpanID) {
	if ids, wanted := ctx.Value(idsKey{}).(trace.SpanContext); wanted {
		return ids.SpanID()
	}
	binary.BigEndian.PutUint64(id[:], rand.Uint64()|1)
	return id
}

// Span is the span of a pass, before it exists.
type Span struct {
	// Context is the trace context of the span. Its flags count in the trace of a request
	// only.
	Context Parent
	// Request is the parent of the span, zero for a pass that is a trace of its own: its
	// worker then decides whether the trace is sampled.
	Request Parent
}

// PassSpan returns the span of a pass: in the trace of a request, or the root of its own
// where request is zero. The IDs depend on the run and the time at which the pass began alone,
// so a replay and an activity on another worker find the same.
func PassSpan(request Parent, runID string, begun time.Time) Span {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%d", runID, begun.UnixNano()))
	root, id := trace.TraceID(sum[:16]), trace.SpanID(sum[16:24])
	config := trace.SpanContextConfig{TraceID: root, SpanID: id}
	if in := request.SpanContext(); in.IsValid() {
		config.TraceID, config.TraceFlags = in.TraceID(), in.TraceFlags()
	} else {
		request = Parent{}
	}
	made := ParentOf(trace.ContextWithSpanContext(context.Background(), trace.NewSpanContext(config)))
	made.Tracestate = request.Tracestate
	return Span{Context: made, Request: request}
}
