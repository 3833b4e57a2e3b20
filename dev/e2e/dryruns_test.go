package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/workflows"
)

// TestDryRunCosts counts the cost of a plan: the actions that Temporal Cloud bills (starts,
// activities and queries), events and workflow tasks.
func TestDryRunCosts(t *testing.T) {
	t.Parallel()
	const planned = 10
	w := harness.New(t, binaries, harness.Options{})
	meter := w.Meter()
	w.StartWorker(harness.WorkerOptions{})
	var manifests []string
	for i := range planned {
		r := thing{group: "costs", name: fmt.Sprintf("t%d", i), interval: "1h"}
		w.Sim.Call(http.MethodPut, "/resources", map[string]any{"id": r.id(), "body": map[string]any{
			"location": "westus2", "tags": map[string]any{"purpose": "e2e"}, "properties": map[string]any{"size": "small"},
		}}, nil)
		manifests = append(manifests, r.manifest("small"))
	}
	file := w.Write("costs.yaml", strings.Join(manifests, "---\n"))
	// A command that waits long for a busy worker asks for it, which costs more: the plan is
	// counted again then.
	const tries = 3
	before := 0
	for try := range tries {
		meter.Reset()
		w.MustCLI("plan", "-f", file)
		sent := meter.Requests()
		actions, tasks := sent["StartWorkflowExecution"]+sent["RespondActivityTaskCompleted"]+sent["QueryWorkflow"], sent["RespondWorkflowTaskCompleted"]
		_, all, bytes := w.WorkflowEvents("WorkflowType = '" + workflows.PlanResourceWorkflow + "'")
		events := all - before
		before = all
		t.Logf("%d plans: %d actions, %d events with %d bytes, requests %v", planned, actions, events, bytes, sent)
		if actions == 2*planned && events == 11*planned && tasks == 2*planned {
			return
		}
		if try == tries-1 {
			t.Errorf("%d actions, %d events and %d workflow tasks, want %d, %d and %d", actions, events, tasks, 2*planned, 11*planned, 2*planned)
		}
	}
}
