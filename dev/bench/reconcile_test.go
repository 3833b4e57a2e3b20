package bench

import (
	"slices"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/workflows"
)

// measureReconcile measures the time of the update reconcile on an idle system, as a
// client sees it: sequential calls, each after the end of the previous call's pass.
func measureReconcile(w *harness.World, all figures) {
	w.T.Helper()
	var seconds []float64
	for i := range reconcileCalls {
		id := passID(i % passCount)
		var result workflows.ReconcileResult
		begun := time.Now()
		handle, err := w.Client.UpdateWorkflow(w.T.Context(), client.UpdateWorkflowOptions{
			WorkflowID: w.WorkflowID(id), UpdateName: workflows.ReconcileUpdate,
			Args: []any{workflows.ReconcileInput{By: "bench"}}, WaitForStage: client.WorkflowUpdateStageCompleted,
		})
		if err == nil {
			err = handle.Get(w.T.Context(), &result)
		}
		if err != nil {
			w.T.Fatal(err)
		}
		seconds = append(seconds, time.Since(begun).Seconds())
		for deadline := begun.Add(time.Minute); ; {
			status, err := w.Status(id)
			if err != nil || time.Now().After(deadline) {
				w.T.Fatalf("pass %d of %s did not end: %+v, %v", result.Pass, id, status, err)
			}
			if status.Pass >= result.Pass {
				break
			}
		}
	}
	slices.Sort(seconds)
	all["pass.reconcile_p50_seconds"] = median(seconds)
	all["pass.reconcile_p99_seconds"] = seconds[len(seconds)*99/100]
}
