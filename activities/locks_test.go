package activities

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/resource"
)

// TestDeleteNamesTheLock holds that a refusal because of a management lock names
// the lock, where it is and what it says: ARM's message names the scope at most.
func TestDeleteNamesTheLock(t *testing.T) {
	t.Parallel()
	const locks = "/providers/Microsoft.Authorization/locks/"
	const subscription = "/subscriptions/11111111-1111-1111-1111-111111111111"
	lock := func(level, notes string) string {
		return `{"properties":{"level":"` + level + `","notes":"` + notes + `"}}`
	}
	cases := map[string]struct {
		reason   string
		resource string
		given    func(*world)
		parts    []string
		not      string
	}{
		"OnIt": {
			reason: "a lock on the resource", resource: thingText,
			given: func(w *world) { w.put(thingText+locks+"keep", lock("CanNotDelete", "ask ada")) },
			parts: []string{`locked by "keep" (CanNotDelete) on ` + thingText, `with the note "ask ada"`, "remove the lock, or keep the resource"},
		},
		"OnTheGroup": {
			reason: "locks are inherited", resource: thingText,
			given: func(w *world) { w.put(groupText+locks+"freeze", lock("ReadOnly", "")) },
			parts: []string{`locked by "freeze" (ReadOnly) on ` + groupText},
			not:   "with the note",
		},
		"OnTheSubscription": {
			reason: "from any scope above", resource: thingText,
			given: func(w *world) { w.put(subscription+locks+"all", lock("CanNotDelete", "")) },
			parts: []string{`locked by "all" (CanNotDelete) on ` + subscription},
		},
		"Several": {
			reason: "each has to go", resource: thingText,
			given: func(w *world) {
				w.put(thingText+locks+"keep", lock("CanNotDelete", ""))
				w.put(groupText+locks+"freeze", lock("CanNotDelete", ""))
			},
			parts: []string{`"keep" (CanNotDelete) on ` + thingText, `"freeze" (CanNotDelete) on ` + groupText},
		},
		"InsideAGroup": {
			reason: "a lock within refuses the DELETE of what holds it", resource: groupText,
			given: func(w *world) { w.put(thingText+locks+"keep", lock("CanNotDelete", "")) },
			parts: []string{`locked by "keep" (CanNotDelete) on ` + thingText},
		},
		"OfANeighbour": {
			reason: "a lock on a neighbour is none of its own, although lists of the group show it", resource: thingText,
			given: func(w *world) {
				w.put(thingText+"2", thingBody)
				w.put(thingText+"2"+locks+"other", lock("CanNotDelete", ""))
				w.put(groupText+locks+"freeze", lock("CanNotDelete", ""))
			},
			parts: []string{`"freeze"`}, not: `"other"`,
		},
		"OfManyNeighbours": {
			reason: "the list of a group shows hundreds before its own", resource: thingText,
			given: func(w *world) {
				for i := range 150 {
					w.put(fmt.Sprintf("%s%03d%slock", thingText, i, locks), lock("CanNotDelete", ""))
				}
				w.put(groupText+locks+"freeze", lock("CanNotDelete", ""))
			},
			parts: []string{`"freeze"`},
		},
		"Unreadable": {
			reason: "where locks may not be read, ARM's own words stand", resource: thingText,
			given: func(w *world) {
				w.put(thingText+locks+"keep", lock("CanNotDelete", ""))
				w.sim.AddFault(armsim.Fault{Method: http.MethodGet, Status: 403, Code: "AuthorizationFailed"})
			},
			not: "locked by",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, _ := putWorld(t)
			w.put(groupText, `{"location":"westus2"}`)
			w.put(thingText, thingBody)
			c.given(w)
			spec := desired(t, c.resource, `{}`)
			if version := resource.ContainerAPIVersion(spec.ID); version != "" {
				spec.APIVersion = version
			}
			got, err := run(w, w.acts.DeleteResource, DeleteResourceInput{Desired: spec})
			must(t, err)
			want(t, got.Verdict, resource.ActionError, "ScopeLocked", resource.RetryVerySlow, c.parts...)
			if c.not != "" && strings.Contains(got.Verdict.Message, c.not) {
				t.Errorf("%s: %q says %q", c.reason, got.Verdict.Message, c.not)
			}
		})
	}
}

// TestLeftToWhichOwner holds that who goes with an owner names the one that is
// being deleted, near or far: its end is what is waited for.
func TestLeftToWhichOwner(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason  string
		managed map[string]Managed
		goes    string
	}{
		"Parent":      {"the owner", map[string]Managed{clusterText: {Deleting: true}, groupText: {Deleting: true}}, clusterText},
		"Group":       {"nobody manages the owner, so it is the group", map[string]Managed{groupText: {Deleting: true}}, groupText},
		"ParentStays": {"the nearest that is managed decides: the group waits for it", map[string]Managed{clusterText: {Ready: true}, groupText: {Deleting: true}}, ""},
		"Nobody":      {"nothing takes it along", nil, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, _ := putWorld(t)
			w.put(clusterText, `{"location":"westus2","properties":{"state":"Running"}}`)
			w.put(databaseText, `{"location":"westus2","kind":"ReadWrite"}`)
			for text, managed := range c.managed {
				w.manages(text, managed)
			}
			w.sim.AddFault(armsim.Fault{Method: http.MethodDelete, Status: 405, Code: "MethodNotAllowed", Message: "No."})
			got, err := run(w, w.acts.DeleteResource, DeleteResourceInput{Desired: desired(t, databaseText, `{}`)})
			must(t, err)
			if c.goes == "" {
				want(t, got.Verdict, resource.ActionBlock, resource.ReasonDeletionNotSupported, resource.RetryVerySlow, "cancel its workflow")
				return
			}
			name := id(t, c.goes).Short()
			want(t, got.Verdict, resource.ActionBlock, resource.ReasonWaitingForOwnerDelete, resource.RetrySlow, "it is deleted with "+name)
			if waits := got.Verdict.WaitingFor; len(waits) != 1 || !waits[0].Equal(id(t, c.goes)) {
				t.Errorf("%s: waits for %v, want %s", c.reason, waits, c.goes)
			}
		})
	}
}

// TestEndsWithOwner holds that a resource whose owner refuses all access and is
// being deleted does not hold the owner up.
func TestEndsWithOwner(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason   string
		state    string
		deleting bool
		away     bool
		why      resource.Reason
	}{
		"StoppedAndGoing": {"a stopped cluster refuses its databases, and its own DELETE takes them", `"state":"Stopped"`, true, false, resource.ReasonWaitingForOwnerDelete},
		"StoppedAndStays": {"nobody deletes the cluster", `"state":"Stopped"`, false, false, resource.ReasonReconciliationBlocked},
		"UpdatingAndGoing": {
			"an operation ends by itself", `"provisioningState":"Updating","state":"Running"`, true, false, resource.ReasonReconciliationBlocked,
		},
		"TemporalIsAway": {"who cannot tell waits", `"state":"Stopped"`, true, true, resource.ReasonReconciliationBlocked},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.put(clusterText, `{"location":"westus2","properties":{`+c.state+`}}`)
			w.manages(clusterText, Managed{Deleting: c.deleting})
			if c.away {
				w.fleet.err = context.DeadlineExceeded
			}
			got := local(w, w.acts.CheckOwner, CheckOwnerInput{Desired: desired(t, databaseText, `{}`), Deleting: true})
			if got.Verdict.Reason != c.why || got.Verdict.Action != resource.ActionBlock {
				t.Errorf("%s: %+v, want %s", c.reason, got.Verdict, c.why)
			}
			if c.why == resource.ReasonWaitingForOwnerDelete {
				want(t, got.Verdict, resource.ActionBlock, c.why, resource.RetrySlow, "it is deleted with c1, which is being deleted: ")
			}
		})
	}
}
