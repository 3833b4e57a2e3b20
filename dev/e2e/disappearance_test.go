package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

const (
	// disappeared is the number of resources that are deleted at once, remade the
	// number of them that the default budget allows.
	disappeared, remade = 40, 5
)

// TestRecordDisappearance deletes 40 resources at once outside Armature: two workers
// remake five of them together and hold the rest, why has one sentence for all of these,
// and an approval of the stack remakes the rest. It records the history of the budgets.
//
//guard:disappearance-budget
func TestRecordDisappearance(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{})
	quickPolls(w)
	group := subscription + "/resourceGroups/gone"
	var members []member
	var ids []string
	for i := range disappeared {
		m := member{"Microsoft.Network/routeTables@2024-01-01", fmt.Sprintf("Microsoft.Network/routeTables/rt%d", i), "", `{"location":"westus2"}`}
		members, ids = append(members, m), append(ids, m.id(group))
	}
	folder := writeStack(w, group, members)
	w.StartWorker(harness.WorkerOptions{})
	w.StartWorker(harness.WorkerOptions{})
	w.MustCLI("apply", "-f", folder, "--wait", "--timeout", "120s")
	for _, id := range ids {
		w.Sim.Call(http.MethodDelete, "/resources?id="+id, nil, nil)
	}
	w.Sim.Reset()
	w.MustCLI("reconcile", "-l", "stack=tall")
	count := func(condition func(workflows.Status) bool) int {
		n := 0
		for _, id := range ids {
			if status, err := w.Status(id); err == nil && condition(status) {
				n++
			}
		}
		return n
	}
	held := func(status workflows.Status) bool { return status.Condition.Reason == resource.ReasonHeld }
	exist := func() int {
		n := 0
		for _, id := range ids {
			n += len(stored(w, id))
		}
		return n
	}
	w.Until(90*time.Second, "the rest is held", func() (bool, string) {
		n := count(held)
		return n == disappeared-remade && exist() == remade, fmt.Sprintf("%d held, %d exist", n, exist())
	})
	puts := 0
	for _, id := range ids {
		puts += w.Sim.Count(http.MethodPut, id)
	}
	if puts != remade {
		t.Errorf("%d PUTs, want %d by both workers together", puts, remade)
	}
	w.Until(30*time.Second, "why has one sentence for all that are held", func() (bool, string) {
		out := w.MustCLI("why", "-l", "stack=tall").Out
		return strings.Count(out, "(Held)") == 1 && strings.Contains(out, fmt.Sprintf("%d resources are like", disappeared-remade)) && strings.Contains(out, "--recreate"), out
	})
	w.RecordWorkflow(workflows.BudgetsWorkflowID(workflows.TaskQueue), "", "budgets")
	w.MustCLI("reconcile", "--recreate", "-l", "stack=tall", "--yes", "--wait", "--timeout", "120s")
	if n := exist(); n != disappeared {
		t.Errorf("%d resources exist after the approval, want all %d", n, disappeared)
	}
}
