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

// TestDeleteNamesTheLock checks that a refusal because of a management lock names
// the lock, its scope and its note: ARM's message names the scope at most.
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
			reason: "locks of every scope above apply", resource: thingText,
			given: func(w *world) { w.put(subscription+locks+"all", lock("CanNotDelete", "")) },
			parts: []string{`locked by "all" (CanNotDelete) on ` + subscription},
		},
		"Several": {
			reason: "each of them is named", resource: thingText,
			given: func(w *world) {
				w.put(thingText+locks+"keep", lock("CanNotDelete", ""))
				w.put(groupText+locks+"freeze", lock("CanNotDelete", ""))
			},
			parts: []string{`"keep" (CanNotDelete) on ` + thingText, `"freeze" (CanNotDelete) on ` + groupText},
		},
		"InsideAGroup": {
			reason: "a lock on a resource in it refuses its DELETE too", resource: groupText,
			given: func(w *world) { w.put(thingText+locks+"keep", lock("CanNotDelete", "")) },
			parts: []string{`locked by "keep" (CanNotDelete) on ` + thingText},
		},
		"OfANeighbour": {
			reason: "a lock on a sibling does not apply, although the list of the group shows it", resource: thingText,
			given: func(w *world) {
				w.put(thingText+"2", thingBody)
				w.put(thingText+"2"+locks+"other", lock("CanNotDelete", ""))
				w.put(groupText+locks+"freeze", lock("CanNotDelete", ""))
			},
			parts: []string{`"freeze"`}, not: `"other"`,
		},
		"OfManyNeighbours": {
			reason: "the list of a group may show hundreds of other locks first", resource: thingText,
			given: func(w *world) {
				for i := range 150 {
					w.put(fmt.Sprintf("%s%03d%slock", thingText, i, locks), lock("CanNotDelete", ""))
				}
				w.put(groupText+locks+"freeze", lock("CanNotDelete", ""))
			},
			parts: []string{`"freeze"`},
		},
		"Unreadable": {
			reason: "where locks may not be read, ARM's message stays", resource: thingText,
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
				t.Errorf("%s: %q contains %q", c.reason, got.Verdict.Message, c.not)
			}
		})
	}
}

// TestDeletingOwner checks that a resource that is deleted with an owner waits for
// the owner that is being deleted, near or far.
func TestDeletingOwner(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason  string
		managed map[string]Managed
		goes    string
	}{
		"Parent":      {"the owner", map[string]Managed{clusterText: {Deleting: true}, groupText: {Deleting: true}}, clusterText},
		"Group":       {"the owner is not managed, so it is the group", map[string]Managed{groupText: {Deleting: true}}, groupText},
		"ParentStays": {"the nearest managed owner decides: the group waits for it", map[string]Managed{clusterText: {Ready: true}, groupText: {Deleting: true}}, ""},
		"None":        {"no owner is being deleted", nil, ""},
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
				want(t, got.Verdict, resource.ActionBlock, resource.ReasonDeletionNotSupported, resource.RetryVerySlow, "armature forget")
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

// TestDeletedWithOwner checks that a resource does not block the deletion of an
// owner that refuses all access.
func TestDeletedWithOwner(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason   string
		state    string
		deleting bool
		away     bool
		why      resource.Reason
	}{
		"StoppedAndDeleting": {"a stopped cluster refuses its databases, and its DELETE removes them", `"state":"Stopped"`, true, false, resource.ReasonWaitingForOwnerDelete},
		"StoppedAndStays":    {"the cluster is not being deleted", `"state":"Stopped"`, false, false, resource.ReasonReconciliationBlocked},
		"UpdatingAndGoing": {
			"an operation ends by itself", `"provisioningState":"Updating","state":"Running"`, true, false, resource.ReasonReconciliationBlocked,
		},
		"TemporalUnreachable": {"without Temporal it waits", `"state":"Stopped"`, true, true, resource.ReasonReconciliationBlocked},
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
