package activities

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/resource"
)

const ruleText = groupText + "/providers/Microsoft.ServiceBus/namespaces/n1/topics/t1/subscriptions/s1/rules/r1"

// putOwners stores the owners of a resource, from its group down.
func (w *world) putOwners(text string) {
	w.t.Helper()
	var owners []resource.ID
	for owner := id(w.t, text).Owner(); !owner.IsZero(); owner = owner.Owner() {
		owners = append([]resource.ID{owner}, owners...)
	}
	for _, owner := range owners[1:] {
		w.put(owner.String(), `{"location":"westus2","properties":{"provisioningState":"Succeeded"}}`)
	}
}

// target reads with an api-version in which the type is published.
func target(t *testing.T, text string) GetResourceInput {
	t.Helper()
	return GetResourceInput{Target: resource.Target{ID: id(t, text), APIVersion: "2022-10-01-preview"}}
}

// TestAbsencesAreProven: a resource of a provider with an unusual 404 is absent by its
// list; without a list when the same 404 comes again for RereadWindow. The verdict names
// what is missing.
//
//guard:absence-is-proven
func TestAbsencesAreProven(t *testing.T) {
	t.Parallel()
	for _, shape := range armsim.AbsentShapes() {
		for _, list := range []int{0, http.StatusMethodNotAllowed, http.StatusNotFound} {
			w := newWorld(t)
			w.putOwners(ruleText)
			w.sim.AnswerType(armsim.AnswerRule{Type: "Microsoft.ServiceBus/namespaces/topics/subscriptions/rules", Absent: shape, ListStatus: list})
			started := w.now()
			got, _ := finish(w, w.acts.GetResource, target(t, ruleText))
			if got.Exists || got.Verdict.Stops() {
				t.Errorf("%s, list %d: got %+v", shape, list, got.Verdict)
			}
			known := shape == armsim.AbsentResource
			if waited := w.now().Sub(started); waited > 0 != (list != 0 && !known) || waited > 0 && waited < 20*time.Second {
				t.Errorf("%s, list %d: believed after %s", shape, list, waited)
			}
			if !known && !strings.Contains(got.Verdict.Message, "n1/t1/s1/r1 (Microsoft.ServiceBus/namespaces/topics/subscriptions/rules) is absent") {
				t.Errorf("%s, list %d: message %q", shape, list, got.Verdict.Message)
			}
		}
	}
}

// TestAnotherAnswerStartsTheWaitAgain: only the same response counts.
//
//guard:absence-is-proven
func TestAnotherAnswerStartsTheWaitAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.putOwners(ruleText)
	rules := "Microsoft.ServiceBus/namespaces/topics/subscriptions/rules"
	w.sim.AnswerType(armsim.AnswerRule{Type: rules, Absent: armsim.AbsentOwnCode, ListStatus: 405})
	for range 3 {
		if _, err := run(w, w.acts.GetResource, target(t, ruleText)); err == nil {
			t.Fatal("believed before the window ended")
		}
		w.advance(6 * time.Second)
	}
	w.sim.AnswerType(armsim.AnswerRule{Type: rules, Absent: armsim.AbsentNumeric, ListStatus: 405})
	started := w.now()
	got, _ := finish(w, w.acts.GetResource, target(t, ruleText))
	if got.Exists || w.now().Sub(started) < 20*time.Second {
		t.Errorf("believed %s after the first response of the kind", w.now().Sub(started))
	}
}

// TestAbsentAfterOwnDelete: after a DELETE that ended well, a 404 that proves nothing by
// itself is an absence, also below an owner that is busy. After one that ended with 204 it
// is not.
//
//guard:absence-is-proven
func TestAbsentAfterOwnDelete(t *testing.T) {
	t.Parallel()
	for name, deleted := range map[string]bool{"deleted": true, "204": false} {
		w := newWorld(t)
		w.putOwners(ruleText)
		w.sim.AnswerType(armsim.AnswerRule{Type: "*/rules", Absent: armsim.AbsentOwnCode})
		must(t, w.sim.SetState(id(t, ruleText).Owner().String(), "Updating", nil))
		w.sim.AddFault(armsim.Fault{Type: "*/rules", Status: 404, Code: "EntityUnknown"}) // whatever armsim does with a busy owner
		in := target(t, ruleText)
		in.Expect, in.Deleted = ExpectAbsent, deleted
		got, _ := finish(w, w.acts.GetResource, in)
		if absent := !got.Exists && !got.Verdict.Stops(); absent != deleted {
			t.Errorf("%s: got %+v", name, got.Verdict)
		}
	}
}

// TestDeleteEndedWell: a DELETE of what exists ended well, a 204 proves nothing.
func TestDeleteEndedWell(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(groupText, `{"location":"westus2"}`)
	w.put(thingText, thingBody)
	for _, want := range []bool{true, false} {
		got, _ := finish(w, w.acts.DeleteResource, DeleteResourceInput{Desired: desired(t, thingText, thingBody)})
		if got.Accepted != want {
			t.Errorf("accepted %t, want %t: %+v", got.Accepted, want, got)
		}
		w.advance(time.Hour)
	}
}

// TestKnownAbsent: the absence of a resource that a read has shown counts if GET and list
// agree on it over RereadWindow.
//
//guard:15-minutes-after-a-put
func TestKnownAbsent(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		list   int
		exists bool
		want   bool
	}{
		"Lists it not": {reason: "GET and list agree", want: true},
		"NoList":       {reason: "without a list the GET has to come again", list: 405, want: true},
		"Lists it":     {reason: "the list still contains it", exists: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.putOwners(ruleText)
			if c.exists {
				w.put(ruleText, `{"properties":{}}`)
				w.sim.AddFault(armsim.Fault{Method: http.MethodGet, Path: ruleText, Status: 404, Code: "ResourceNotFound"})
			}
			w.sim.AnswerType(armsim.AnswerRule{Type: "*/rules", ListStatus: c.list})
			in := target(t, ruleText)
			in.Existed = true
			started := w.now()
			got, _ := finish(w, w.acts.GetResource, in)
			absent := !got.Exists && !got.Verdict.Stops()
			if absent != c.want || absent && w.now().Sub(started) < w.acts.options.RereadWindow {
				t.Errorf("%s: got %+v after %s and %v", c.reason, got.Verdict, w.now().Sub(started), w.requests())
			}
		})
	}
}

// TestGuardUnshownPut: for 15 minutes after an accepted PUT, a 404 is neither a disappearance
// nor a reason for another PUT.
//
//guard:15-minutes-after-a-put
func TestGuardUnshownPut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	check := func(change func(*PreCheckInput)) resource.Verdict {
		in := PreCheckInput{Desired: desired(t, thingText, thingBody), Existed: true, Applied: true, PutAt: w.now().Add(-time.Minute)}
		change(&in)
		return local(w, w.acts.PreCheck, in).Verdict
	}
	want(t, check(func(*PreCheckInput) {}), resource.ActionBlock, resource.ReasonReconciling, resource.RetrySlow, "does not show it now", "reconcile --force")
	for name, change := range map[string]func(*PreCheckInput){
		"later":  func(in *PreCheckInput) { in.PutAt = w.now().Add(-15 * time.Minute) },
		"no PUT": func(in *PreCheckInput) { in.PutAt = time.Time{} },
		"forced": func(in *PreCheckInput) { in.Force = true },
	} {
		if got := check(change); got.Action != resource.ActionProceed || !got.Create {
			t.Errorf("%s: got %s %s", name, got.Action, got.Message)
		}
	}
}

// TestOwnerWithUnusual404: a resource waits for an owner with a 404 that proves nothing, and is
// woken by it, instead of failing for an hour.
func TestOwnerWithUnusual404(t *testing.T) {
	t.Parallel()
	for _, list := range []int{0, http.StatusMethodNotAllowed} {
		w := newWorld(t)
		owner := id(t, ruleText).Owner()
		w.putOwners(owner.String())
		w.sim.AnswerType(armsim.AnswerRule{Type: owner.Type(), Absent: armsim.AbsentSubscription, ListStatus: list})
		d := desired(t, ruleText, `{"properties":{}}`)
		d.OwnerAPIVersion = "2022-10-01-preview"
		got := local(w, w.acts.CheckOwner, CheckOwnerInput{Desired: d})
		want(t, got.Verdict, resource.ActionBlock, resource.ReasonWaitingForOwner, resource.RetrySlow, "n1/t1/s1")
		if len(got.Verdict.WaitingFor) != 1 || !got.Verdict.WaitingFor[0].Equal(owner) {
			t.Errorf("waits for %v", got.Verdict.WaitingFor)
		}
	}
}
