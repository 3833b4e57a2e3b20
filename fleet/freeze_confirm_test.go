package fleet

import (
	"errors"
	"testing"

	"github.com/armature-io/armature/workflows"
)

// TestConfirmFreeze checks that a confirmation reads the freezes whatever the age of the
// list, and that writes from then on honour them.
//
//guard:freeze
func TestConfirmFreeze(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	f := s.dial()
	frozen := func() bool {
		_, frozen, err := f.Frozen(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		return frozen
	}
	if frozen() {
		t.Error("nothing is frozen yet")
	}
	all := workflows.Freeze{By: "ada"}
	s.freeze(running, all)
	if frozen() {
		t.Fatal("the list is younger than its age, so this test shows nothing")
	}
	result, err := f.ConfirmFreeze(t.Context())
	if err != nil || !result.Includes(all) || result.Includes(workflows.Freeze{Selector: "stack=prod"}) {
		t.Errorf("confirmed %+v, %v", result, err)
	}
	if !frozen() {
		t.Error("a write after the confirmation is not frozen")
	}
	s.failFreezes(errors.New("no connection"))
	if _, err := f.ConfirmFreeze(t.Context()); err == nil {
		t.Error("a worker without a connection confirms")
	}
}
