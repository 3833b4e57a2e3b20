package workflows_test

import (
	"slices"
	"testing"
	"time"

	"github.com/armature-io/armature/workflows"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.temporal.io/sdk/contrib/opentelemetry"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/worker"
)

// TestTracing checks that the SDK's OpenTelemetry interceptor traces a pass and its
// activities, and that the pass ends Ready with it.
func TestTracing(t *testing.T) {
	spans := tracetest.NewSpanRecorder()
	provider := trace.NewTracerProvider(trace.WithSpanProcessor(spans))
	tracing, err := opentelemetry.NewTracingInterceptor(opentelemetry.TracerOptions{Tracer: provider.Tracer("armature")})
	if err != nil {
		t.Fatal(err)
	}
	r := newRun(t)
	r.SetWorkerOptions(worker.Options{Interceptors: []interceptor.WorkerInterceptor{tracing}})
	r.apply(desired())
	status := r.statusAt(time.Minute)
	r.start(2 * time.Minute)
	if !status.Condition.Ready {
		t.Errorf("the resource is %+v, want Ready", status.Condition)
	}
	var names []string
	for _, span := range spans.Ended() {
		names = append(names, span.Name())
	}
	for _, want := range []string{
		"RunWorkflow:" + workflows.ReconcileResourceWorkflow, "HandleUpdate:" + workflows.ApplyUpdate, "HandleQuery:" + workflows.StatusQuery,
		"RunActivity:CheckOwner", "RunActivity:GetResource", "RunActivity:PostCheck",
	} {
		if !slices.Contains(names, want) {
			t.Errorf("no span %s in %v", want, names)
		}
	}
}
