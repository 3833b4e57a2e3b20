package activities

import (
	"reflect"
	"testing"

	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/resource"
)

func TestStepsOfAPassShareBodies(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(thingText, thingBody)
	d := desired(t, thingText, thingBody)
	got, err := run(w, w.acts.GetResource, GetResourceInput{Target: resource.Target{ID: d.ID, APIVersion: d.APIVersion}})
	must(t, err)
	if w.acts.bodies.All()[string(got.Observed)] == nil {
		t.Fatal("PreCheck decodes again what GetResource read")
	}
	pre := local(w, w.acts.PreCheck, PreCheckInput{Desired: d, Observed: got.Observed})
	if pre.Verdict.Action != resource.ActionSkip {
		t.Fatalf("PreCheck returns %s, want a resource in sync", pre.Verdict.Message)
	}
	if cached := w.acts.bodies.All(); cached[string(d.Body)] == nil || len(cached) != 2 {
		t.Errorf("%d bodies are cached after PreCheck, want desired and observed", len(cached))
	}
	w.checkBodies()
	local(w, w.acts.PostCheck, PostCheckInput{Desired: d, Observed: got.Observed})
	if n := len(w.acts.bodies.All()); n != 0 {
		t.Errorf("%d bodies are cached after the last step of the pass, want none", n)
	}
}

func TestPlanLeavesNoBodies(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(thingText, thingBody)
	plan, err := run(w, w.acts.PlanResource, PlanResourceInput{Desired: desired(t, thingText, thingBody)})
	must(t, err)
	if plan.Action != PlanNone || len(w.acts.bodies.All()) != 0 {
		t.Errorf("a plan (%s) left %d bodies, want none", plan.Action, len(w.acts.bodies.All()))
	}
}

// checkBodies fails the test when a step changed a shared body.
func (w *world) checkBodies() {
	w.t.Helper()
	for text, body := range w.acts.bodies.All() {
		if decoded, err := drift.Decode("cached", []byte(text)); err != nil || !reflect.DeepEqual(decoded, body) {
			w.t.Errorf("a shared body differs from its text: %s\n%v\n%v", text, body, err)
		}
	}
}
