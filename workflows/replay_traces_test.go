package workflows_test

import (
	"testing"

	"github.com/armature-io/armature/internal/payload"
	"github.com/armature-io/armature/internal/tracing"
	"github.com/armature-io/armature/workflows"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

// passesSeen counts the passes that are reported.
type passesSeen struct{ count int }

func (p *passesSeen) RecordPass(tracing.Pass) { p.count++ }

// TestReplayWithTraces checks that every recorded run replays the same on a worker with
// traces, and that a replay reports no pass.
func TestReplayWithTraces(t *testing.T) {
	seen := &passesSeen{}
	tracer := tracing.New(sdktrace.NewTracerProvider(sdktrace.WithIDGenerator(tracing.IDs{})))
	for name, history := range histories(t) {
		r, err := worker.NewWorkflowReplayerWithOptions(worker.WorkflowReplayerOptions{
			DataConverter: payload.DataConverter(), ContextPropagators: []workflow.ContextPropagator{tracing.NewPropagator(tracer, seen)},
		})
		if err != nil {
			t.Fatal(err)
		}
		workflows.Register(r)
		if err := r.ReplayWorkflowHistory(quiet, history); err != nil {
			t.Errorf("replay of %s with traces: %v", name, err)
		}
	}
	if seen.count != 0 {
		t.Errorf("the replays reported %d passes, want none", seen.count)
	}
}
