package activities

import (
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
)

// Not only checks: a resource that ARM refuses, or that waits for others, is
// overdue as well, and is tried on.
func TestOverdueSteps(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(s *setup) { s.options.OverdueAfter = time.Minute })
	const late = 2 * time.Minute
	thing := id(t, thingText)
	w.fleet.dependents = Dependents{Listed: []Managed{{ID: id(t, databaseText), Ready: true}}, Holding: 1}
	dependents, _ := finish(w, w.acts.CheckDependents, CheckDependentsInput{ID: thing, NotReadyFor: late})
	turn, _ := finish(w, w.acts.TakeTurn, TakeTurnInput{Turn: Turn{Parent: id(t, groupText), ID: thing}, NotReadyFor: late})
	w.sim.AddFault(armsim.Fault{Status: 403, Code: "AuthorizationFailed"})
	d := desired(t, thingText, thingBody)
	get, _ := finish(w, w.acts.GetResource, GetResourceInput{ID: thing, APIVersion: "2023-08-15", NotReadyFor: late})
	put, _ := finish(w, w.acts.PutResource, PutResourceInput{Desired: d, ObservedAt: w.now(), Create: true, NotReadyFor: late})
	deleted, _ := finish(w, w.acts.DeleteResource, DeleteResourceInput{Desired: d, NotReadyFor: late})
	early, _ := finish(w, w.acts.GetResource, GetResourceInput{ID: thing, APIVersion: "2023-08-15", NotReadyFor: time.Second})
	for name, got := range map[string]bool{
		"dependents": dependents.Verdict.Overdue, "turn": turn.Verdict.Overdue, "GET": get.Verdict.Overdue,
		"PUT": put.Verdict.Overdue, "DELETE": deleted.Verdict.Overdue, "not yet": !early.Verdict.Overdue,
	} {
		if !got {
			t.Errorf("%s: overdue is not told", name)
		}
	}
}
