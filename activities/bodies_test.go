package activities

import (
	"bytes"
	"fmt"
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
	got, err := run(w, w.acts.GetResource, GetResourceInput{ID: d.ID, APIVersion: d.APIVersion})
	must(t, err)
	kept := w.acts.bodies.known(got.Observed)
	if kept == nil {
		t.Fatal("what GetResource read is decoded anew by PreCheck")
	}
	pre := local(w, w.acts.PreCheck, PreCheckInput{Desired: d, Observed: got.Observed})
	if pre.Verdict.Action != resource.ActionSkip {
		t.Fatalf("PreCheck says %s, want a resource in sync", pre.Verdict.Message)
	}
	if w.acts.bodies.known(d.Body) == nil || len(w.acts.bodies.kept) != 2 {
		t.Errorf("%d bodies are kept after PreCheck, want desired and observed", len(w.acts.bodies.kept))
	}
	w.shared()
	local(w, w.acts.PostCheck, PostCheckInput{Desired: d, Observed: got.Observed})
	if n := len(w.acts.bodies.kept); n != 0 || w.acts.bodies.bytes != 0 {
		t.Errorf("%d bodies of %d bytes are kept after the last step of the pass, want none", n, w.acts.bodies.bytes)
	}
}

func TestPlanLeavesNoBodies(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(thingText, thingBody)
	plan, err := run(w, w.acts.PlanResource, PlanResourceInput{Desired: desired(t, thingText, thingBody)})
	must(t, err)
	if plan.Action != PlanNone || len(w.acts.bodies.kept) != 0 {
		t.Errorf("a plan (%s) left %d bodies, want none", plan.Action, len(w.acts.bodies.kept))
	}
}

func TestBodiesAreBounded(t *testing.T) {
	t.Parallel()
	var b bodies
	text := func(i, size int) []byte {
		return fmt.Appendf(nil, `{"a":"%d%s"}`, i, bytes.Repeat([]byte("x"), size))
	}
	const size = bodiesMost / 4
	for i := range 8 {
		if _, err := b.decode("desired", text(i, size)); err != nil {
			t.Fatal(err)
		}
	}
	if len(b.kept) != 3 || b.bytes > bodiesMost || b.known(text(7, size)) == nil || b.known(text(4, size)) != nil {
		t.Errorf("%d bodies of %d bytes are kept, want the last three", len(b.kept), b.bytes)
	}
	large, err := b.decode("desired", text(0, 2*bodiesMost))
	if err != nil || large == nil || len(b.kept) != 3 {
		t.Errorf("a body larger than all room is kept, or pushed others out: %d, %v", len(b.kept), err)
	}
	if _, err := b.decode("desired", []byte(`{"a":1,"a":2}`)); err == nil || len(b.kept) != 3 {
		t.Errorf("what cannot be decoded is kept: %v", err)
	}
	again, _ := b.decode("observed", text(7, size))
	if before := b.known(text(7, size)); reflect.ValueOf(again).Pointer() != reflect.ValueOf(before).Pointer() {
		t.Error("a known text was decoded again")
	}
	b.forget(text(7, size), text(6, size), text(5, size), nil)
	if len(b.kept) != 0 || b.bytes != 0 {
		t.Errorf("%d bodies of %d bytes are left, want none", len(b.kept), b.bytes)
	}
	for i := range bodiesCount + 3 {
		if _, err := b.decode("desired", text(i, 1)); err != nil {
			t.Fatal(err)
		}
	}
	if len(b.kept) != bodiesCount || b.known(text(3, 1)) == nil || b.known(text(2, 1)) != nil {
		t.Errorf("%d small bodies are kept, want the last %d", len(b.kept), bodiesCount)
	}
}

// shared fails the test when somebody wrote to a body that others have too, or
// kept another one than its text.
func (w *world) shared() {
	w.t.Helper()
	for _, kept := range w.acts.bodies.kept {
		if body, err := drift.Decode("kept", kept.text); err != nil || !reflect.DeepEqual(body, kept.body) {
			w.t.Errorf("a shared body is not what its text says: %s\n%v\n%v", kept.text, kept.body, err)
		}
	}
}
