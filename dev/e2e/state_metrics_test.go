package e2e

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/workflows"
)

// stateSeries matches the series of the state of resources in what a worker serves.
var stateSeries = regexp.MustCompile(`(?m)^armature_resources\{.*$`)

// TestStateMetrics checks that one of two workers counts the resources of both. (The other
// one takes over two minutes after its last poll; package service tests that.)
func TestStateMetrics(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{})
	options := harness.WorkerOptions{Env: []string{"ARMATURE_METRICS_INTERVAL=5s", "ARMATURE_METRICS_LABEL=stack"}}
	workers := []*harness.Worker{w.StartWorker(options), w.StartWorker(options)}
	w.MustCLI("apply", "-f", w.Write("group.yaml", groupIn+"labels: {stack: web}\n"), "--wait", "--timeout", "4m", "--worker-timeout", "1m")
	w.MustCLI("apply", "-f", w.Write("orphan.yaml", `type: Microsoft.Kusto/clusters/databases@2023-08-15
name: orphan
owner: /subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/first/providers/Microsoft.Kusto/clusters/none
body: {location: westus2, kind: ReadWrite}
`), "--worker-timeout", "1m")
	w.UntilPhase(4*time.Minute, group+"/providers/Microsoft.Kusto/clusters/none/databases/orphan", workflows.PhaseBlocked)

	want := []string{
		`armature_resources{class="nothing",label="web",phase="Ready",reason=""} 1`,
		`armature_resources{class="time",label="",phase="Blocked",reason="WaitingForOwner"} 1`,
	}
	counting := -1
	w.Until(4*time.Minute, "one worker counts", func() (bool, string) {
		shown := make([][]string, len(workers))
		for i, worker := range workers {
			_, body := worker.Get("/metrics")
			if shown[i] = stateSeries.FindAllString(body, -1); slices.Equal(shown[i], want) {
				counting = i
			}
		}
		alone := counting >= 0 && len(shown[1-counting]) == 0
		return alone, strings.Join(slices.Concat(shown...), "\n")
	})
	_, body := workers[counting].Get("/metrics")
	for _, series := range []string{"armature_oldest_not_ready_seconds{class=\"time\"}", `armature_budget_left{budget="put"} 200`} {
		if !strings.Contains(body, series) {
			t.Errorf("the worker that counts does not serve %s", series)
		}
	}
}
