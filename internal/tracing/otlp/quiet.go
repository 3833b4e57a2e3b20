package otlp

import (
	"context"
	"errors"
	"net/url"
	"sync/atomic"

	"go.opentelemetry.io/otel/sdk/trace"
)

// quietExporter reports the first of several failed exports in a row. The SDK would print
// each one to stderr.
type quietExporter struct {
	trace.SpanExporter
	failed  func(error)
	failing atomic.Bool
}

// ExportSpans exports spans. Those of a failed export are lost.
func (e *quietExporter) ExportSpans(ctx context.Context, spans []trace.ReadOnlySpan) error {
	err := e.SpanExporter.ExportSpans(ctx, spans)
	if err == nil {
		e.failing.Store(false)
		return nil
	}
	if !e.failing.Swap(true) && e.failed != nil {
		e.failed(withoutQuery(err))
	}
	return nil
}

// withoutQuery returns the cause of a failed request, without its URL: an address of a
// collector may hold a key.
func withoutQuery(err error) error {
	if request, ok := errors.AsType[*url.Error](err); ok {
		return request.Err
	}
	return err
}
