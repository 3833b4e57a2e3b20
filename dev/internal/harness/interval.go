package harness

import (
	"fmt"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/workflows"
)

// updatesAtOnce is how many updates are on their way at one time, as of the CLI.
const updatesAtOnce = 16

// SetInterval applies what a file of manifests says with another interval, which
// may be shorter than a manifest may ask for, to resources that are managed
// already.
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

// Update sends an update to many workflows and waits for their answers.
func (w *World) Update(workflowIDs []string, name string, input func(i int) any) {
	w.T.Helper()
	turns, errs := make(chan struct{}, updatesAtOnce), make(chan error, len(workflowIDs))
	for i, id := range workflowIDs {
		turns <- struct{}{}
		go func() {
			errs <- w.update(id, name, input(i))
			<-turns
		}()
	}
	for range workflowIDs {
		if err := <-errs; err != nil {
			w.T.Fatal(err)
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

// UntilWoken waits until the wakes of a resource that just changed are over, and
// the workflow task after them: the second sweep comes 5 s after the first.
func (w *World) UntilWoken(id string) {
	w.T.Helper()
	w.Until(30*time.Second, "everybody was woken", func() (bool, string) {
		begun, over := 0, 0
		scheduled := map[int64]bool{}
		var last enumspb.EventType
		for _, event := range w.History(id).GetEvents() {
			if event.GetActivityTaskScheduledEventAttributes().GetActivityType().GetName() == "WakeDependents" {
				scheduled[event.GetEventId()] = true
				begun++
			}
			if scheduled[event.GetActivityTaskCompletedEventAttributes().GetScheduledEventId()] {
				over++
			}
			last = event.GetEventType()
		}
		quiet := last == enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED || last == enumspb.EVENT_TYPE_TIMER_STARTED
		return begun > 0 && begun == over && quiet, fmt.Sprintf("%d of %d wakes are over, and the last event is %s", over, begun, last)
	})
}
