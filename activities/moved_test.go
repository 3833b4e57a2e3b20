package activities

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/resource"
)

const (
	nsgName  = "/providers/Microsoft.Network/networkSecurityGroups/nsg1"
	nsgText  = groupText + nsgName
	rg2Text  = "/subscriptions/11111111-1111-1111-1111-111111111111/resourceGroups/rg2"
	movedNSG = rg2Text + nsgName
)

// nsgWorld is a managed security group with its remembered identity.
func nsgWorld(t *testing.T) (*world, resource.Desired, resource.Identity) {
	t.Helper()
	w := newWorld(t)
	w.put(nsgText, `{"location":"westus2"}`)
	w.put(rg2Text, `{"location":"westus2"}`)
	d := desired(t, nsgText, `{"location":"westus2"}`)
	d.APIVersion = "2023-11-01"
	got, err := run(w, w.acts.GetResource, GetResourceInput{Target: d.Target()})
	must(t, err)
	checked := local(w, w.acts.PostCheck, PostCheckInput{Desired: d, Observed: got.Observed})
	if len(checked.Identity) != 1 {
		t.Fatalf("the post-check remembers %v", checked.Identity)
	}
	again := local(w, w.acts.PostCheck, PostCheckInput{Desired: d, Observed: got.Observed, Identity: checked.Identity})
	if again.Identity != nil {
		t.Errorf("an unchanged identity is recorded again: %v", again.Identity)
	}
	return w, d, checked.Identity
}

//guard:moves
func TestGuardMoved(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		change func(w *world)
		moved  bool
		gets   int
	}{
		"moved":   {reason: "one candidate, and it is the one", change: func(w *world) { must(w.t, w.sim.Move(nsgText, rg2Text)) }, moved: true, gets: 2},
		"deleted": {reason: "no candidate needs a GET", change: func(w *world) { w.sim.Delete(nsgText) }, gets: 1},
		"namesakes": {reason: "the GETs of candidates are bounded", gets: 1 + maxMovedCandidates, change: func(w *world) {
			w.sim.Delete(nsgText)
			for i := range 30 {
				w.put(fmt.Sprintf("%s%02d%s", strings.TrimSuffix(rg2Text, "rg2"), i, nsgName), `{"location":"westus2"}`)
			}
		}},
		"forbidden": {reason: "what may not be listed is treated as deleted", gets: 1, change: func(w *world) {
			w.sim.Delete(nsgText)
			w.sim.AddFault(armsim.Fault{Method: http.MethodGet, Path: "/subscriptions/11111111-1111-1111-1111-111111111111", On: "any", Status: 403, Code: "AuthorizationFailed"})
		}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, d, identity := nsgWorld(t)
			c.change(w)
			before := len(w.sim.Requests())
			got, failures := finish(w, w.acts.GetResource, GetResourceInput{Target: d.Target(), Identity: identity})
			if got.Exists || got.Verdict.Stops() || !got.Moved.IsZero() != c.moved || len(failures) > 0 {
				t.Fatalf("%s: %+v, %v", c.reason, got, failures)
			}
			gets, lists := 0, 0
			for _, r := range w.sim.Requests()[before:] {
				if strings.HasSuffix(strings.ToLower(r.ID), "/nsg1") {
					gets++
					continue
				}
				lists++
			}
			if gets != c.gets || lists != 1 {
				t.Errorf("%d GETs and %d lists, want %d and 1: %s", gets, lists, c.gets, c.reason)
			}
			verdict := local(w, w.acts.PreCheck, PreCheckInput{Desired: d, Existed: true, Applied: true, Moved: got.Moved, Identity: identity}).Verdict
			if c.moved {
				want(t, verdict, resource.ActionBlock, resource.ReasonMoved, resource.RetryVerySlow, movedNSG, "armature move", "properties.resourceGuid")
				return
			}
			want(t, verdict, resource.ActionProceed, resource.ReasonDisappeared, "")
		})
	}
}

// A transient error of the list is no proof that the resource was not moved.
func TestMovedListFails(t *testing.T) {
	t.Parallel()
	w, d, identity := nsgWorld(t)
	w.sim.Delete(nsgText)
	w.sim.AddFault(armsim.Fault{Method: http.MethodGet, Path: "/subscriptions/11111111-1111-1111-1111-111111111111", On: "any", Status: 503})
	got, failures := finish(w, w.acts.GetResource, GetResourceInput{Target: d.Target(), Identity: identity})
	if !got.Verdict.Stops() || len(failures) == 0 {
		t.Errorf("got %+v after %d attempts, want a verdict that stops the pass", got.Verdict, len(failures))
	}
}

// A PUT that finds the resource absent, although the pass had read it, leaves the decision
// to the next pass.
//
//guard:moves
func TestGuardMovedSinceRead(t *testing.T) {
	t.Parallel()
	w, d, _ := nsgWorld(t)
	must(t, w.sim.Move(nsgText, rg2Text))
	got, err := run(w, w.acts.PutResource, PutResourceInput{Desired: d, ObservedAt: w.now()})
	must(t, err)
	want(t, got.Verdict, resource.ActionBlock, resource.ReasonDisappeared, resource.RetrySlow)
	if w.puts(nsgText) != 0 {
		t.Error("it was created again")
	}
}

//guard:moves
func TestMoveResource(t *testing.T) {
	t.Parallel()
	const rulesText = nsgText + "/securityRules/r1"
	cases := map[string]struct {
		reason string
		change func(w *world, in *MoveResourceInput, memory *WorkflowMemory)
		refuse string
		paused bool
	}{
		"moved": {reason: "the identity proves it", change: func(w *world, _ *MoveResourceInput, _ *WorkflowMemory) { must(w.t, w.sim.Move(nsgText, rg2Text)) }},
		"group gone": {reason: "the empty group is often deleted after a move", change: func(w *world, _ *MoveResourceInput, _ *WorkflowMemory) {
			must(w.t, w.sim.Move(nsgText, rg2Text))
			w.sim.Delete(groupText)
		}},
		"not moved": {reason: "it is still there", change: func(*world, *MoveResourceInput, *WorkflowMemory) {}, refuse: "still exists"},
		"namesake": {reason: "another resource has the name", change: func(w *world, _ *MoveResourceInput, _ *WorkflowMemory) {
			w.sim.Delete(nsgText)
			w.put(movedNSG, `{"location":"westus2"}`)
		}, refuse: "another resource"},
		"nowhere": {reason: "the new place is empty", change: func(w *world, _ *MoveResourceInput, _ *WorkflowMemory) { w.sim.Delete(nsgText) }, refuse: "does not exist"},
		"no memory": {reason: "an old worker remembered no identity", change: func(w *world, _ *MoveResourceInput, m *WorkflowMemory) {
			must(w.t, w.sim.Move(nsgText, rg2Text))
			m.Identity = nil
		}, refuse: "nothing proves"},
		"deleting": {reason: "its deletion comes first", change: func(w *world, _ *MoveResourceInput, m *WorkflowMemory) {
			must(w.t, w.sim.Move(nsgText, rg2Text))
			m.Deleting = true
		}, refuse: "--abort"},
		"other type": {reason: "a move keeps the type", change: func(w *world, in *MoveResourceInput, _ *WorkflowMemory) {
			in.New = id(w.t, rg2Text+"/providers/Microsoft.Network/routeTables/nsg1")
		}, refuse: "types"},
		"differs": {reason: "nothing is written before the manifest is changed", paused: true, change: func(w *world, _ *MoveResourceInput, _ *WorkflowMemory) {
			must(w.t, w.sim.Move(nsgText, rg2Text))
			w.put(movedNSG, `{"location":"westus2","tags":{"a":"b"}}`)
		}},
		"paused": {reason: "a pause stays", paused: true, change: func(w *world, _ *MoveResourceInput, m *WorkflowMemory) {
			must(w.t, w.sim.Move(nsgText, rg2Text))
			m.Paused = true
		}},
		"inside": {reason: "the place of a child follows from that of its owner", change: func(w *world, in *MoveResourceInput, _ *WorkflowMemory) {
			w.put(rulesText, `{"properties":{"priority":100}}`)
			must(w.t, w.sim.Move(nsgText, rg2Text))
			in.ID = id(w.t, rulesText)
		}},
		"outside": {reason: "the identity of another resource proves nothing about it", change: func(w *world, in *MoveResourceInput, _ *WorkflowMemory) {
			must(w.t, w.sim.Move(nsgText, rg2Text))
			in.ID = id(w.t, groupText)
		}, refuse: "is not in"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, d, identity := nsgWorld(t)
			if name == "differs" {
				d.Body = json.RawMessage(`{"location":"westus2","tags":{"a":"c"}}`)
			}
			d.Labels = map[string]string{"stack": "prod"}
			memory := WorkflowMemory{Generation: 1, Applied: true, Existed: true, Identity: identity, Desired: &d, Memory: json.RawMessage(`{}`)}
			rule := desired(t, rulesText, `{"properties":{"priority":100}}`)
			in := MoveResourceInput{Old: d.ID, New: id(t, movedNSG)}
			c.change(w, &in, &memory)
			w.fleet.memories = map[string]WorkflowMemory{
				d.ID.Key(): memory, rule.ID.Key(): {Generation: 1, Applied: true, Desired: &rule}, id(t, groupText).Key(): memory,
			}
			got, failures := finish(w, w.acts.MoveResource, in)
			if len(failures) > 0 {
				t.Fatal(failures)
			}
			if c.refuse != "" {
				want(t, got.Verdict, resource.ActionError, resource.ReasonFailed, resource.RetryNone, c.refuse)
				if got.Carried != nil || got.Desired != nil {
					t.Errorf("%s: something is carried: %+v", c.reason, got)
				}
				return
			}
			if got.Verdict.Stops() || got.Desired == nil || got.Carried == nil {
				t.Fatalf("%s: %+v", c.reason, got)
			}
			place := movedNSG
			if name == "inside" {
				place += "/securityRules/r1"
			} else if got.Desired.Labels["stack"] != "prod" {
				t.Errorf("the labels are lost: %+v", got.Desired)
			}
			if wantID := id(t, place); !got.Desired.ID.Equal(wantID) || !got.Desired.Owner.Equal(wantID.Owner()) || got.Carried.Paused != c.paused {
				t.Errorf("%s: %s in %s, paused %v", c.reason, got.Desired.ID, got.Desired.Owner, got.Carried.Paused)
			}
		})
	}
}

// IDs at or in the old place become IDs of the new one; other texts stay.
func TestRelocate(t *testing.T) {
	t.Parallel()
	d := desired(t, nsgText, `{"properties":{"own":"`+strings.ToUpper(nsgText)+`/securityRules/r1","longer":"`+nsgText+`2","other":"`+groupText+`","n":12345678901234567890,"h":"<a>"}}`)
	d.References = []resource.Reference{{ID: id(t, nsgText+"/securityRules/r1"), APIVersion: "v"}, {ID: id(t, groupText)}}
	got, err := relocate(d, d.ID, id(t, movedNSG))
	must(t, err)
	wantBody := `{"properties":{"h":"<a>","longer":"` + nsgText + `2","n":12345678901234567890,"other":"` + groupText + `","own":"` + movedNSG + `/securityRules/r1"}}`
	if string(got.Body) != wantBody {
		t.Errorf("body %s, want %s", got.Body, wantBody)
	}
	if got.References[0].ID.Key() != strings.ToLower(movedNSG+"/securityRules/r1") || !got.References[1].ID.Equal(id(t, groupText)) || d.References[0].ID.Key() != strings.ToLower(nsgText+"/securityRules/r1") {
		t.Errorf("references %v", got.References)
	}
}

// A plan shows a moved resource as its pass does.
func TestPlanMoved(t *testing.T) {
	t.Parallel()
	w, d, identity := nsgWorld(t)
	must(t, w.sim.Move(nsgText, rg2Text))
	w.fleet.memories = map[string]WorkflowMemory{d.ID.Key(): {Generation: 1, Applied: true, Existed: true, Identity: identity, Desired: &d}}
	got, failures := finish(w, w.acts.PlanResource, PlanResourceInput{Desired: d})
	if len(failures) > 0 || got.Action != PlanBlocked || got.Reason != resource.ReasonMoved {
		t.Errorf("the plan is %s %s (%s), %v", got.Action, got.Reason, got.Message, failures)
	}
}

// ARM's lists lag behind: while one still shows the old ID, nothing is decided, for the
// time of the reread window.
func TestMovedListLags(t *testing.T) {
	t.Parallel()
	w, d, identity := nsgWorld(t)
	w.sim.Delete(nsgText)
	w.sim.AddFault(armsim.Fault{Method: http.MethodGet, Path: "/subscriptions/11111111-1111-1111-1111-111111111111", On: "any", Status: 200,
		Body: json.RawMessage(`{"value":[{"id":"` + nsgText + `"}]}`)})
	started := w.now()
	got, failures := finish(w, w.acts.GetResource, GetResourceInput{Target: d.Target(), Identity: identity})
	if len(failures) == 0 || failures[0].Type() != ErrorNotYet || w.now().Sub(started) < w.acts.options.RereadWindow {
		t.Errorf("%d attempts in %s, want readings for %s", len(failures), w.now().Sub(started), w.acts.options.RereadWindow)
	}
	if got.Exists || got.Verdict.Stops() || !got.Moved.IsZero() {
		t.Errorf("after the window: %+v", got)
	}
}
