package passtest

import (
	"slices"
	"strings"

	"go.temporal.io/sdk/testsuite"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// happen makes an event happen.
func (r *run) happen(e Event) {
	if e.Managed != nil {
		r.mu.Lock()
		r.managed[strings.ToLower(e.ID)] = *e.Managed
		r.mu.Unlock()
	}
	if e.ID != "" && e.Patch != "" {
		patch := body(r.t, e.ID, e.Patch)
		if err := r.sim.Patch(e.ID, patch); err != nil {
			if err := r.sim.Put(e.ID, patch); err != nil {
				r.t.Errorf("event after %s: %v", e.After, err)
			}
		}
	}
	if e.Do != nil {
		e.Do(r.sim)
	}
	if e.Wakes {
		r.wake(e)
	}
	if e.Apply != "" {
		r.update(workflows.ApplyUpdate, workflows.ApplyInput{Desired: desired(r.t, e.Apply), By: user})
	}
	if e.Reconcile || e.Force {
		r.update(workflows.ReconcileUpdate, workflows.ReconcileInput{Force: e.Force, Reason: "an event of the script", By: user})
	}
	if e.Delete {
		r.update(workflows.DeleteUpdate, workflows.DeleteInput{By: user})
	}
}

// user is the user of all requests.
const user = "test@passtest"

// wake notifies the workflow of a change of a managed resource, if it waits for that: others
// get no signal from a worker.
func (r *run) wake(e Event) {
	id, err := resource.ParseID(e.ID)
	if err != nil {
		r.t.Errorf("event after %s wakes, and its ID is none: %v", e.After, err)
		return
	}
	if waits := r.waitsFor(); !slices.ContainsFunc(waits, id.Equal) {
		r.result.NotWoken = append(r.result.NotWoken, NotWoken{At: e.After, ID: id, WaitsFor: waits})
		return
	}
	r.env.SignalWorkflow(workflows.WakeSignal, workflows.WakeInput{ID: id, State: "Ready", At: r.env.Now()})
}

// waitsFor returns the resources whose change wakes the one under test now.
func (r *run) waitsFor() []resource.ID {
	if r.env.IsWorkflowCompleted() {
		return nil
	}
	var status workflows.Status
	value, err := r.env.QueryWorkflow(workflows.StatusQuery)
	if err != nil || value.Get(&status) != nil {
		return nil // before the first apply there is no status
	}
	return status.WaitingFor
}

// update sends an update and fails the test if it is refused.
func (r *run) update(name string, input any) {
	refused := func(err error) { r.t.Errorf("the update %s was refused: %v", name, err) }
	r.env.UpdateWorkflow(name, "", &testsuite.TestUpdateCallback{
		OnAccept: func() {}, OnReject: refused,
		OnComplete: func(_ any, err error) {
			if err != nil {
				refused(err)
			}
		},
	}, input)
}
