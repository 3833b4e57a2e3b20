package harness

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"golang.org/x/sync/errgroup"

	"github.com/armature-io/armature/internal/searchattr"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// seededQueue is a task queue that no worker serves.
const seededQueue = "seed"

// SeedReady starts the workflows of n resources that no worker runs, as their workflows look
// once they are Ready. idOf returns the ID of each.
func (w *World) SeedReady(n int, idOf func(int) string) {
	w.T.Helper()
	condition := resource.Condition{Ready: true, Reason: resource.ReasonSucceeded, ObservedGeneration: 1, LastTransitionTime: time.Now(), Message: "in sync"}
	group, ctx := errgroup.WithContext(w.T.Context())
	group.SetLimit(8)
	for i := range n {
		group.Go(func() error {
			id, err := resource.ParseID(idOf(i))
			if err != nil {
				return fmt.Errorf("seed: %w", err)
			}
			desired := resource.Desired{ID: id, Name: id.Name(), APIVersion: "2024-01-01", Owner: id.Owner()}
			memo := workflows.Memo(desired)
			memo[workflows.MemoSummary] = workflows.Summary{Phase: workflows.PhaseReady, Condition: condition, Generation: 1}
			updates := []temporal.SearchAttributeUpdate{
				workflows.IdentityAttributes(desired).Copy(),
				temporal.NewSearchAttributeKeyKeyword(searchattr.ReconcilePhase).ValueSet(string(workflows.PhaseReady)),
				temporal.NewSearchAttributeKeyKeyword(searchattr.ReconcileReason).ValueSet(string(resource.ReasonSucceeded)),
				temporal.NewSearchAttributeKeyTime(searchattr.ReconcileSince).ValueSet(time.Now()),
			}
			_, err = w.Client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
				ID: id.WorkflowID(), TaskQueue: seededQueue, Memo: memo,
				TypedSearchAttributes: temporal.NewSearchAttributes(updates...),
			}, workflows.ReconcileResourceWorkflow, workflows.ReconcileResourceInput{})
			if err != nil {
				return fmt.Errorf("seed: %w", err)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		w.T.Fatal(err)
	}
}
