package tracing_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/armature-io/armature/internal/tracing"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/opentelemetry"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
)

// sender is the end of a chain of client interceptors: it keeps the span that would be sent,
// and its updates end with outcome.
type sender struct {
	interceptor.ClientOutboundInterceptorBase
	header  map[string]*commonpb.Payload
	sent    trace.SpanContext
	outcome error
}

// handle is the handle of an update.
type handle struct {
	client.WorkflowUpdateHandle
	outcome error
}

func (h handle) Get(context.Context, any) error { return h.outcome }

func (s *sender) UpdateWorkflow(ctx context.Context, _ *interceptor.ClientUpdateWorkflowInput) (client.WorkflowUpdateHandle, error) {
	s.header, s.sent = interceptor.Header(ctx), trace.SpanContextFromContext(ctx)
	return handle{outcome: s.outcome}, nil
}

// provider returns a provider whose spans are recorded.
func provider() (*sdktrace.TracerProvider, *tracetest.SpanRecorder) {
	spans := tracetest.NewSpanRecorder()
	return sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans), sdktrace.WithIDGenerator(tracing.IDs{})), spans
}

func names(spans *tracetest.SpanRecorder) []string {
	var found []string
	for _, s := range spans.Ended() {
		found = append(found, s.Name())
	}
	return found
}

// TestUpdate checks that an update has one span, which ends with the outcome, and that a
// background request has none.
func TestUpdate(t *testing.T) {
	refusal := temporal.NewApplicationError("planted", "Protected")
	for name, c := range map[string]struct {
		reason   string
		parent   bool
		standard bool
		outcome  error
		want     []string
	}{
		"of a command":   {"the span of the update is below that of the command", true, false, nil, []string{"update apply"}},
		"refused":        {"a refusal comes with the outcome", true, false, refusal, []string{"update apply"}},
		"of nothing":     {"what no command asked for has no trace", false, false, nil, nil},
		"of an embedder": {"the SDK's interceptor has made one", true, true, nil, []string{"UpdateWorkflow:apply"}},
	} {
		t.Run(name, func(t *testing.T) {
			provider, spans := provider()
			end := &sender{outcome: c.outcome}
			chain := tracing.NewClientInterceptor(tracing.New(provider)).InterceptClient(end)
			if c.standard {
				standard, err := opentelemetry.NewTracingInterceptor(opentelemetry.TracerOptions{Tracer: provider.Tracer("embedder")})
				if err != nil {
					t.Fatal(err)
				}
				chain = standard.InterceptClient(chain)
			}
			ctx := withHeader(t)
			if c.parent {
				ctx, _ = provider.Tracer("test").Start(ctx, "command")
			}
			update, err := chain.UpdateWorkflow(ctx, &interceptor.ClientUpdateWorkflowInput{WorkflowID: "w", UpdateName: "apply"})
			if err != nil {
				t.Fatal(err)
			}
			if err := update.Get(ctx, nil); !errors.Is(err, c.outcome) {
				t.Errorf("the outcome is %v, want %v", err, c.outcome)
			}
			if got := names(spans); !slices.Equal(got, c.want) {
				t.Errorf("the spans are %v, want %v: %s", got, c.want, c.reason)
			}
			if (end.header["_tracer-data"] != nil) != c.parent {
				t.Errorf("the header is %v: %s", end.header, c.reason)
			}
			if ended := spans.Ended(); len(ended) == 1 {
				if end.sent.SpanID() != ended[0].SpanContext().SpanID() {
					t.Errorf("the update is sent within %s, want %s", end.sent.SpanID(), ended[0].SpanContext().SpanID())
				}
				if c.outcome != nil && ended[0].Status().Description != "Protected" {
					t.Errorf("the status is %+v, want the type of the refusal alone", ended[0].Status())
				}
			}
		})
	}
}

// TestPassSpan checks that the IDs of a pass depend on nothing but run and time.
func TestPassSpan(t *testing.T) {
	request := tracing.Parent{Traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", Tracestate: "a=b"}
	one, again := tracing.PassSpan(request, "run", begun), tracing.PassSpan(request, "run", begun)
	if one != again {
		t.Errorf("a replay computes %+v, want %+v", again, one)
	}
	if one.Context.SpanContext().TraceID() != request.SpanContext().TraceID() || one.Context.Tracestate != "a=b" || !one.Context.SpanContext().IsSampled() {
		t.Errorf("the pass is %+v, want it in the trace of the request", one)
	}
	alone, next := tracing.PassSpan(tracing.Parent{}, "run", begun), tracing.PassSpan(tracing.Parent{}, "run", begun.Add(1))
	if !alone.Request.IsZero() || alone.Context.SpanContext().TraceID() == next.Context.SpanContext().TraceID() || !alone.Context.SpanContext().IsValid() {
		t.Errorf("two passes have the traces %+v and %+v, want one each", alone, next)
	}
}
