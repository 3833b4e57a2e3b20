package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/dev/internal/harness"
)

// TestPlanMany plans a thousand resources that match their manifests, with -short two
// hundred: one GET of each, no other request to them, and few of their groups.
func TestPlanMany(t *testing.T) {
	t.Parallel()
	plannedMany := 1000
	if testing.Short() {
		plannedMany = 200
	}
	w := harness.New(t, binaries, harness.Options{})
	w.StartWorker(harness.WorkerOptions{})
	var text strings.Builder
	for i := range plannedMany {
		r := thing{group: fmt.Sprintf("many-%d", i%10), name: fmt.Sprintf("t%d", i), interval: "1h"}
		// Four subscriptions, so that ARM's budget for reads does not slow the test.
		here := func(text string) string {
			return strings.ReplaceAll(text, subscription, fmt.Sprintf("%s%d", subscription[:len(subscription)-1], i%4))
		}
		w.Sim.Call(http.MethodPut, "/resources", map[string]any{"id": here(r.id()), "body": map[string]any{
			"location": "westus2", "tags": map[string]any{"purpose": "e2e"}, "properties": map[string]any{"size": "small"},
		}}, nil)
		text.WriteString("---\n" + here(r.manifest("small")))
	}
	w.Write("many.yaml", text.String())
	w.Sim.Reset()
	started := time.Now()
	result := w.CLI("plan", "-f", "many.yaml")
	took := time.Since(started)
	t.Logf("score plan.many.seconds %.0f for %d resources", took.Seconds(), plannedMany)
	// A reading of an owner counts for 30 s.
	maxReads := 2 + int(took/(30*time.Second))
	want := fmt.Sprintf("No changes: %d in sync (%d not managed yet: apply takes over the existing resources).\n", plannedMany, plannedMany)
	if result.Code != 0 || result.Out != want {
		t.Fatalf("%s", result)
	}
	counters, things := w.Sim.Counters(), 0
	for id, requests := range counters.ByID {
		switch {
		case !strings.Contains(id, "/things/"):
			if requests[http.MethodGet] > maxReads {
				t.Errorf("%s was read %d times", id, requests[http.MethodGet])
			}
		case len(requests) != 1 || requests[http.MethodGet] != 1:
			t.Errorf("%s got %v, want one GET", id, requests)
		default:
			things++
		}
	}
	if things != plannedMany {
		t.Errorf("%d resources were read, want %d", things, plannedMany)
	}
}
