package workflows_test

import (
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

const otherGroup = "/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg2"

// A resource that Azure moved is not created again at its old place. Only its remembered
// identity proves the move: a namesake does not, and a type without one is treated as
// deleted.
//
//guard:moves
func TestMovedResourceIsNotDuplicated(t *testing.T) {
	const body, name = `{"location":"westus2"}`, "Microsoft.Network/networkSecurityGroups/nsg1"
	namesake := func(sim *armsim.Simulator) {
		if err := sim.Put(otherGroup+"/providers/"+name, map[string]any{"location": "westus2"}); err != nil {
			panic(err)
		}
	}
	cases := map[string]struct {
		reason, name, version string
		change                func(sim *armsim.Simulator, id string)
		moved                 bool
	}{
		"moved": {
			reason: "the one at the new place is the same", name: name, version: "2023-11-01", moved: true,
			change: func(sim *armsim.Simulator, id string) { moveTo(sim, id) },
		},
		"deleted": {
			reason: "it is nowhere", name: name, version: "2023-11-01",
			change: func(sim *armsim.Simulator, id string) { sim.Delete(id) },
		},
		"namesake": {
			reason: "another resource may have its name", name: name, version: "2023-11-01",
			change: func(sim *armsim.Simulator, id string) {
				sim.Delete(id)
				namesake(sim)
			},
		},
		"no identity": {
			reason: "nothing proves the move of such a type", name: "Contoso.Things/things/t1", version: "2023-08-15",
			change: func(sim *armsim.Simulator, id string) { moveTo(sim, id) },
		},
	}
	for label, c := range cases {
		t.Run(label, func(t *testing.T) {
			spec := specOf(c.name, c.version, body)
			s := newSimulated(t, spec)
			s.apply(spec)
			s.after(2*time.Hour, func(sim *armsim.Simulator) { c.change(sim, spec.ID.String()) })
			status := s.statusAt(9 * time.Hour)
			s.start(9*time.Hour + time.Minute)
			puts, exists := s.requests("PUT", spec.ID), len(s.sim.Resources(spec.ID.String(), "")) == 1
			if !c.moved {
				if puts != 2 || !exists || !status.Condition.Ready {
					t.Errorf("%d PUTs, exists %v, %+v; want it created again: %s", puts, exists, status.Condition, c.reason)
				}
				return
			}
			if puts != 1 || exists {
				t.Errorf("%d PUTs, exists %v; want no second one: %s", puts, exists, c.reason)
			}
			want := "armature move " + spec.ID.String() + " " + otherGroup + "/providers/" + c.name
			if status.Condition.Reason != resource.ReasonMoved || !strings.Contains(status.Condition.Message, want) || !strings.Contains(status.Condition.Message, "properties.resourceGuid") {
				t.Errorf("the condition is %+v, want Moved with the command", status.Condition)
			}
		})
	}
}

// An approval to recreate does not duplicate what exists elsewhere.
//
//guard:moves
func TestMovedIsNotRecreatedOnApproval(t *testing.T) {
	spec := specOf("Microsoft.Network/networkSecurityGroups/nsg1", "2023-11-01", `{"location":"westus2"}`)
	s := newSimulated(t, spec)
	s.apply(spec)
	s.after(2*time.Hour, func(sim *armsim.Simulator) { moveTo(sim, spec.ID.String()) })
	s.at(3*time.Hour, workflows.ReconcileUpdate, workflows.ReconcileInput{Recreate: true, By: "ada@host"})
	status := s.statusAt(4 * time.Hour)
	s.start(4*time.Hour + time.Minute)
	if puts := s.requests("PUT", spec.ID); puts != 1 || status.Condition.Reason != resource.ReasonMoved {
		t.Errorf("%d PUTs, %+v; want one and Moved", puts, status.Condition)
	}
}

// The workflow of the new place starts with what the old one remembered.
func TestCarriedMemory(t *testing.T) {
	r := newRun(t)
	var pre activities.PreCheckInput
	r.script.pre = func(in activities.PreCheckInput) resource.Verdict {
		pre = in
		return resource.Verdict{Action: resource.ActionSkip, Reason: resource.ReasonInSync}
	}
	carried := &activities.Carried{
		From: mustID(group), Memory: []byte(`{"body":"b"}`), Identity: resource.Identity{"properties.vmId": "1"}, Applied: true, Existed: true,
	}
	first := r.at(0, workflows.ApplyUpdate, workflows.ApplyInput{Desired: desired(), By: "ada@host", Carried: carried})
	second := r.at(time.Minute, workflows.ApplyUpdate, workflows.ApplyInput{Desired: desired(), By: "ada@host", Carried: carried})
	r.start(2 * time.Minute)
	if string(pre.Memory) != `{"body":"b"}` || !pre.Applied || !pre.Existed || pre.Identity["properties.vmId"] != "1" {
		t.Errorf("the first pass starts with %+v", pre)
	}
	if first.rejected != nil || second.rejected == nil {
		t.Errorf("rejected: %v, then %v; want only the second, because the resource is managed", first.rejected, second.rejected)
	}
}

// A resource that differs at its new place waits for its manifest.
func TestCarriedPause(t *testing.T) {
	r := newRun(t)
	r.at(0, workflows.ApplyUpdate, workflows.ApplyInput{Desired: desired(), Carried: &activities.Carried{From: mustID(group), Existed: true, Paused: true}})
	r.start(2 * time.Hour)
	r.wantCalls()
}

// moveTo moves a resource to the other group, as the portal does.
func moveTo(sim *armsim.Simulator, id string) {
	if err := sim.Move(id, otherGroup); err != nil {
		panic(err)
	}
}
