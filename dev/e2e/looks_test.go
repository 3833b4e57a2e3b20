package e2e

import (
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/dev/internal/histories"
	"github.com/armature-io/armature/workflows"
)

// looksVariable raises the number of resources whose passes are due, 20 without it.
const looksVariable = "ARMATURE_E2E_LOOKS"

// TestLooksYield holds all reads of a subscription, so that the looks of its due passes hang in
// workflow tasks. An apply in another subscription and a freeze do not wait for them: most of the
// looks are deferred, and no workflow task times out.
func TestLooksYield(t *testing.T) {
	t.Parallel()
	count := 20
	if value := os.Getenv(looksVariable); value != "" {
		var err error
		if count, err = strconv.Atoi(value); err != nil {
			t.Fatal(err)
		}
	}
	w := harness.New(t, binaries, harness.Options{})
	s := scenarios{w}
	s.putGroup("storm")
	const elsewhere = "/subscriptions/22222222-2222-3333-4444-555555555555/resourceGroups/quiet"
	s.Sim.Call(http.MethodPut, "/resources", map[string]any{"id": elsewhere, "body": map[string]any{"location": "westus2"}}, nil)
	w.StartWorker(harness.WorkerOptions{Env: []string{"ARMATURE_WORKER_WORKFLOW_SLOTS=8"}})
	things := make([]thing, count)
	manifests := make([]string, count)
	for i := range things {
		things[i] = thing{group: "storm", name: fmt.Sprintf("s%04d", i), interval: "1m"}
		manifests[i] = things[i].manifest("small")
	}
	s.MustCLI("apply", "-f", s.Write("storm.yaml", strings.Join(manifests, "---\n")), "--wait", "--timeout", "5m")
	s.Sim.Call(http.MethodPost, "/faults", armsim.Fault{ID: "storm", Method: http.MethodGet, Path: "*/resourceGroups/storm/providers/*", Gate: true}, nil)
	s.Until(5*time.Minute, "looks hang, and others are deferred", func() (bool, string) {
		deferred := 0
		for _, r := range things {
			if strings.Contains(s.HistoryLines(r.id()), activities.LookDeferred) {
				deferred++
			}
		}
		return deferred >= count/4, fmt.Sprintf("%d of %d passes had a deferred look", deferred, count)
	})
	quiet := elsewhere + "/providers/Microsoft.Example/things/quiet"
	s.MustCLI("apply", "-f", s.Write("quiet.yaml", strings.ReplaceAll(thing{group: "quiet", name: "quiet", interval: "1h"}.manifest("small"), subscription+"/resourceGroups/quiet", elsewhere)),
		"--wait", "--timeout", "60s")
	frozen := s.MustCLI("freeze", "--reason", "storm")
	if !strings.Contains(frozen.Out, "confirmed by 1 worker") {
		t.Errorf("freeze: %s", frozen)
	}
	s.MustCLI("unfreeze")
	for _, id := range []string{s.WorkflowID(quiet), workflows.FreezeWorkflowID} {
		history, err := histories.Fetch(t.Context(), s.Client, id, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, event := range history.GetEvents() {
			if event.GetEventType() == enumspb.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT {
				t.Errorf("a workflow task of %s timed out", id)
			}
		}
	}
	s.Sim.Call(http.MethodDelete, "/faults", nil, nil)
	for _, r := range things {
		s.UntilPhase(3*time.Minute, r.id(), workflows.PhaseReady)
	}
}
