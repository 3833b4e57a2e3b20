package harness

import (
	"fmt"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"golang.org/x/sync/errgroup"

	"github.com/armature-io/armature/dev/internal/histories"
	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/workflows"
)

// maxUpdates is the number of concurrent updates, the same as of the CLI.
const maxUpdates = 16

// SetInterval applies a manifest file with another interval, which may be shorter
// than a manifest allows. The resources must be managed already.
func (w *World) SetInterval(file string, interval time.Duration) {
	w.T.Helper()
	set, err := manifest.Load(manifest.Options{}, file)
	if err != nil {
		w.T.Fatal(err)
	}
	ids := make([]string, len(set.Resources))
	for i, desired := range set.Resources {
		ids[i] = desired.ID.WorkflowID()
	}
	w.Update(ids, workflows.ApplyUpdate, func(i int) any {
		desired := set.Resources[i]
		desired.Interval = interval
		return workflows.ApplyInput{Desired: desired, By: "test"}
	})
}

// Update sends an update to many workflows and waits until all have completed it.
func (w *World) Update(workflowIDs []string, name string, input func(i int) any) {
	w.T.Helper()
	var group errgroup.Group
	group.SetLimit(maxUpdates)
	for i, id := range workflowIDs {
		group.Go(func() error { return w.update(id, name, input(i)) })
	}
	if err := group.Wait(); err != nil {
		w.T.Fatal(err)
	}
}

// RequestDelete requests a deletion from the workflow of a resource as the CLI does after it
// asked everything that can be asked.
func (w *World) RequestDelete(id string, input workflows.DeleteInput) {
	w.T.Helper()
	input.By = "test"
	w.Update([]string{w.WorkflowID(id)}, workflows.DeleteUpdate, func(int) any { return input })
}

// RequestDeletes requests the deletions of the resources of a manifest file, which may not be
// managed yet.
func (w *World) RequestDeletes(file string) {
	w.T.Helper()
	taskQueue := workflows.TaskQueue
	for _, variable := range w.Env {
		if name, value, _ := strings.Cut(variable, "="); name == "ARMATURE_TASK_QUEUE" {
			taskQueue = value
		}
	}
	set, err := manifest.Load(manifest.Options{}, file)
	if err != nil {
		w.T.Fatal(err)
	}
	for _, desired := range set.Resources {
		options := workflows.StartOptions(desired, taskQueue)
		handle, err := w.Client.UpdateWithStartWorkflow(w.T.Context(), client.UpdateWithStartWorkflowOptions{
			StartWorkflowOperation: w.Client.NewWithStartWorkflowOperation(options, workflows.ReconcileResourceWorkflow, workflows.ReconcileResourceInput{}),
			UpdateOptions: client.UpdateWorkflowOptions{
				WorkflowID: options.ID, UpdateName: workflows.DeleteUpdate, WaitForStage: client.WorkflowUpdateStageCompleted,
				Args: []any{workflows.DeleteInput{By: "test", Desired: &desired, APIVersion: desired.APIVersion}},
			},
		})
		if err == nil {
			err = handle.Get(w.T.Context(), nil)
		}
		if err != nil {
			w.T.Fatalf("delete %s: %v", desired.ID, err)
		}
	}
}

func (w *World) update(workflowID, name string, input any) error {
	handle, err := w.Client.UpdateWorkflow(w.T.Context(), client.UpdateWorkflowOptions{
		WorkflowID: workflowID, UpdateName: name, Args: []any{input}, WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err == nil {
		err = handle.Get(w.T.Context(), nil)
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", name, workflowID, err)
	}
	return nil
}

// UntilWoken waits until a changed resource has completed its wakes and the
// workflow task after them; the second sweep starts 5 s after the first.
func (w *World) UntilWoken(id string) {
	w.T.Helper()
	w.Until(30*time.Second, "all wakes are complete", func() (bool, string) {
		started, completed := 0, 0
		scheduled := map[int64]bool{}
		var last enumspb.EventType
		for _, event := range w.History(id).GetEvents() {
			if event.GetActivityTaskScheduledEventAttributes().GetActivityType().GetName() == "WakeDependents" {
				scheduled[event.GetEventId()] = true
				started++
			}
			if histories.LocalActivity(event) == "WakeLater" {
				started, completed = started+1, completed+1
			}
			if scheduled[event.GetActivityTaskCompletedEventAttributes().GetScheduledEventId()] {
				completed++
			}
			last = event.GetEventType()
		}
		idle := last == enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED || last == enumspb.EVENT_TYPE_TIMER_STARTED
		return started > 0 && started == completed && idle, fmt.Sprintf("%d of %d wakes are complete, the last event is %s", completed, started, last)
	})
}
