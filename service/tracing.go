package service

import (
	"context"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/armature-io/armature/internal/tracing"
	"github.com/armature-io/armature/internal/tracing/otlp"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"
	"go.temporal.io/sdk/client"
)

// exportTimeout bounds the export of the last spans of a worker that stops.
const exportTimeout = 5 * time.Second

// newTraces returns the provider of spans, nil where traces are off.
func newTraces(ctx context.Context, options Options, log *slog.Logger) (*otlp.Provider, error) {
	provider, err := otlp.Open(ctx, otlp.Options{
		Service: "armature-worker", Version: options.Version, Lookup: os.LookupEnv, Provider: options.Tracing,
		Failed: func(err error) {
			log.Warn("cannot export traces, these spans are lost; the next failures are not logged until an export succeeds", "error", err)
		},
	})
	if provider != nil {
		log.Info("traces are exported")
	}
	return provider, err //nolint:wrapcheck // it names the variable
}

// withTraces returns client options with which workflows report their passes, and with which
// requests carry their trace. Its interceptor is the inner one: another one that traces comes
// first, and is completed.
func withTraces(connection client.Options, tracer *tracing.Tracer, m *metrics) client.Options {
	connection.Interceptors = append(slices.Clone(connection.Interceptors), tracing.NewClientInterceptor(tracer))
	connection.ContextPropagators = append(slices.Clone(connection.ContextPropagators), tracing.NewPropagator(tracer, passRecorder{tracer, m}))
	return connection
}

// passRecorder takes the passes that have ended.
type passRecorder struct {
	tracer  *tracing.Tracer
	metrics *metrics
}

// RecordPass makes the span of a pass and counts its duration.
func (r passRecorder) RecordPass(pass tracing.Pass) {
	r.metrics.countPass(pass, r.tracer.Pass(pass))
}

// observe adds a value to a histogram, with the IDs of its span where that is sampled: a
// dashboard then opens the trace.
func observe(histogram prometheus.Observer, value time.Duration, span trace.SpanContext) {
	withExemplar, can := histogram.(prometheus.ExemplarObserver)
	if !can || !span.IsSampled() {
		histogram.Observe(value.Seconds())
		return
	}
	withExemplar.ObserveWithExemplar(value.Seconds(), prometheus.Labels{"trace_id": span.TraceID().String(), "span_id": span.SpanID().String()})
}
