package bench

import (
	"fmt"
	"os"
	"testing"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"golang.org/x/sync/errgroup"

	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/searchattr"
	"github.com/armature-io/armature/workflows"
)

const (
	// listedCount is the number of resources in the lists.
	listedCount = 10_000
	// listTurns is how often each command is measured.
	listTurns = 3
)

// TestLists measures lists of ten thousand resources, and counts what they send: `get`, a
// watch, and commands with a name. No worker runs. The store is SQLite, which has pages of
// 250; starter tests the counts of other stores.
func TestLists(t *testing.T) {
	if os.Getenv(partVariable) == "all" {
		t.Skip("takes minutes; make bench BENCH=lists runs it")
	}
	binaries := requirePart(t, "lists")
	w := harness.New(t, binaries, harness.Options{})
	seedReady(t, w, listedCount)
	meter := w.Meter()
	all := figures{}
	measure := func(name string, args ...string) {
		best := time.Hour
		for range listTurns {
			meter.Reset()
			begun := time.Now()
			w.MustCLI(args...)
			best = min(best, time.Since(begun))
		}
		sent := meter.Requests()
		all["lists."+name+"_seconds"] = best.Seconds()
		all["lists."+name+"_server_seconds"] = meter.Spent("ListWorkflowExecutions").Seconds()
		all["lists."+name+"_lists"] = float64(sent["ListWorkflowExecutions"])
		all["lists."+name+"_queries"] = float64(sent["QueryWorkflow"])
		all["lists."+name+"_refused"] = float64(meter.Refused()["ListWorkflowExecutions"])
	}
	measure("get", "get")
	measure("get_name", "get", "t77")
	measure("get_phase", "get", "--phase", "Blocked")
	all.print(t)
	if !t.Failed() {
		all.merge(t)
	}
}

// seedReady starts the workflows of resources that no worker runs, as their workflows look
// once they are Ready.
func seedReady(t *testing.T, w *harness.World, n int) {
	t.Helper()
	condition := resource.Condition{Ready: true, Reason: resource.ReasonSucceeded, ObservedGeneration: 1, LastTransitionTime: time.Now(), Message: "in sync"}
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(8)
	for i := range n {
		group.Go(func() error {
			id, err := resource.ParseID(crowd{subscriptions: 10, kind: thingType}.id(i))
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
				ID: id.WorkflowID(), TaskQueue: "seed", Memo: memo,
				TypedSearchAttributes: temporal.NewSearchAttributes(updates...),
			}, workflows.ReconcileResourceWorkflow, workflows.ReconcileResourceInput{Listed: true})
			if err != nil {
				return fmt.Errorf("seed: %w", err)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
}
