package activities

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/resource"
)

// TestDependsOn checks that dependsOn waits until a managed resource is Ready by its
// own post-check, and uses ARM's state of an unmanaged one.
func TestDependsOn(t *testing.T) {
	t.Parallel()
	const other = groupText + "/providers/Contoso.Things/things/other"
	cases := map[string]struct {
		reason string
		given  func(*world)
		action resource.Action
		why    resource.Reason
	}{
		"ManagedReady":    {"it is Ready", func(w *world) { w.put(other, thingBody); w.manages(other, Managed{Ready: true}) }, resource.ActionProceed, ""},
		"ManagedNotReady": {"it exists, and is not Ready", func(w *world) { w.put(other, thingBody); w.manages(other, Managed{}) }, resource.ActionBlock, resource.ReasonReferenceNotReady},
		"NotManaged":      {"ARM's state counts", func(w *world) { w.put(other, thingBody) }, resource.ActionProceed, ""},
		"NotManagedBusy": {"ARM's state counts, also when it blocks", func(w *world) {
			w.put(other, `{"location":"westus2","properties":{"provisioningState":"Updating"}}`)
		}, resource.ActionBlock, resource.ReasonReferenceNotReady},
		"ManagedReadyButBusy": {"it was Ready before another user changed it", func(w *world) {
			w.put(other, `{"location":"westus2","properties":{"provisioningState":"Updating"}}`)
			w.manages(other, Managed{Ready: true})
		}, resource.ActionBlock, resource.ReasonReferenceNotReady},
		"Absent": {"an absent resource blocks, also when it is managed", func(w *world) { w.manages(other, Managed{Ready: true}) }, resource.ActionBlock, resource.ReasonReferenceNotFound},
		"TemporalUnreachable": {"without Temporal the pass does not continue", func(w *world) { w.put(other, thingBody); w.fleet.err = errors.New("Temporal is unreachable") },
			resource.ActionError, resource.ReasonCheckFailed},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.put(groupText, `{"location":"westus2"}`)
			c.given(w)
			spec := desired(t, thingText, thingBody)
			spec.DependsOn = []resource.Reference{{ID: id(t, other), APIVersion: "2023-08-15"}}
			got := local(w, w.acts.CheckOwner, CheckOwnerInput{Desired: spec}).Verdict
			if got.Action != c.action || c.why != "" && got.Reason != c.why {
				t.Errorf("%s: %+v, want %s %s", c.reason, got, c.action, c.why)
			}
			if c.action == resource.ActionBlock && (len(got.WaitingFor) != 1 || !got.WaitingFor[0].Equal(id(t, other))) {
				t.Errorf("waits for %v, want what it depends on: it would not be woken", got.WaitingFor)
			}
		})
	}
	t.Run("ReferenceOfAManaged", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.put(groupText, `{"location":"westus2"}`)
		w.put(other, thingBody)
		w.manages(other, Managed{})
		spec := desired(t, thingText, thingBody)
		spec.References = []resource.Reference{{ID: id(t, other), APIVersion: "2023-08-15"}}
		if got := local(w, w.acts.CheckOwner, CheckOwnerInput{Desired: spec}).Verdict; got.Stops() {
			t.Errorf("a $ref needs the ID of what exists: %+v", got)
		}
	})
}

// TestManyReferences checks that a body with many references costs one GET for
// each, shared with its siblings, and that the number of resources that it waits
// for is bounded.
func TestManyReferences(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(groupText, `{"location":"westus2"}`)
	spec := desired(t, thingText, thingBody)
	for i := range 40 {
		text := fmt.Sprintf("%s/providers/Contoso.Things/nets/n%02d", groupText, i)
		w.put(text, thingBody)
		spec.References = append(spec.References, resource.Reference{ID: id(t, text), APIVersion: "2023-08-15"})
		spec.DependsOn = append(spec.DependsOn, resource.Reference{ID: id(t, strings.ToUpper(text[:60])+text[60:]), APIVersion: "2023-08-15"})
	}
	for range 5 {
		if got := local(w, w.acts.CheckOwner, CheckOwnerInput{Desired: spec}).Verdict; got.Stops() {
			t.Fatalf("verdict %+v", got)
		}
	}
	if n := len(w.requests()); n != 41 {
		t.Errorf("five checks made %d requests, want one for the group and each of 40 references", n)
	}
	for i := range spec.References {
		spec.References[i].ID = id(t, fmt.Sprintf("%s/providers/Contoso.Things/nets/absent%02d", groupText, i))
	}
	got := local(w, w.acts.CheckOwner, CheckOwnerInput{Desired: spec}).Verdict
	want(t, got, resource.ActionBlock, resource.ReasonReferenceNotFound, resource.RetrySlow, "and 39 more")
	if len(got.WaitingFor) != maxWaitingFor {
		t.Errorf("waits for %d, want the first %d: they are part of state and history", len(got.WaitingFor), maxWaitingFor)
	}
}

// TestTwoWorkersAndTheirClocks checks that a woken child never acts on a reading
// from before the change, also when the workers' clocks differ, and that the
// children of one worker share the reading that follows.
func TestTwoWorkersAndTheirClocks(t *testing.T) {
	t.Parallel()
	for name, skew := range map[string]time.Duration{"same": 0, "ahead": time.Hour, "behind": -time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			other := New(w.acts.Dependencies, Options{Now: func() time.Time { return w.now().Add(skew) }})
			w.put(clusterText, `{"location":"westus2","properties":{"provisioningState":"Updating"}}`)
			in := CheckOwnerInput{Desired: desired(t, databaseText, `{}`)}
			workers := map[string]*Activities{"first": w.acts, "second": other}
			for at, worker := range workers {
				if got := local(w, worker.CheckOwner, in).Verdict; got.Action != resource.ActionBlock {
					t.Fatalf("%s worker: %+v", at, got)
				}
			}
			w.advance(time.Second)
			must(t, w.sim.SetState(clusterText, "Succeeded", map[string]any{"state": "Running"}))
			// The time of the change comes from the server.
			in.Changes = []Change{{ID: id(t, clusterText), State: "Ready", At: w.now()}}
			w.advance(time.Second)
			before := len(w.requests())
			for at, worker := range workers {
				for child := range 20 {
					if got := local(w, worker.CheckOwner, in).Verdict; got.Action != resource.ActionProceed {
						t.Fatalf("%s worker, child %d: %+v: it acts on a reading from before the change", at, child, got)
					}
				}
			}
			if n := len(w.requests()) - before; n != 2 {
				t.Errorf("40 woken children made %d requests, want one for each worker", n)
			}
		})
	}
}
