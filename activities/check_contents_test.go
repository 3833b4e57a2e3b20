package activities

import (
	"errors"
	"fmt"
	"testing"

	"github.com/armature-io/armature/activities/contents"
	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/resource"
)

//guard:deletes-look-first
func TestCheckContents(t *testing.T) {
	t.Parallel()
	const cluster = `{"location":"westus2","properties":{"state":"Running"}}`
	cases := map[string]struct {
		reason   string
		resource string
		given    func(*world)
		action   resource.Action
		why      resource.Reason
		class    resource.RetryClass
		parts    []string
		cascade  bool
	}{
		"EmptyGroup": {
			reason: "the DELETE removes nothing else", resource: groupText, given: func(w *world) { w.put(groupText, `{"location":"westus2"}`) },
			action: resource.ActionProceed,
		},
		"AbsentGroup": {reason: "an absent group has no contents", resource: groupText, action: resource.ActionProceed},
		"GoesWithIt": {
			reason: "managed resources that are being deleted do not block", resource: groupText,
			given: func(w *world) {
				w.put(thingText, thingBody)
				w.manages(thingText, Managed{Deleting: true, Released: true})
			},
			action: resource.ActionProceed,
		},
		"ManagedStill": {
			reason: "a managed resource that is not being deleted is named", resource: groupText,
			given:  func(w *world) { w.put(thingText, thingBody); w.manages(thingText, Managed{Ready: true}) },
			action: resource.ActionBlock, why: resource.ReasonContainsUnmanaged, class: resource.RetrySlow, parts: []string{"t1 (Contoso.Things/things)"},
		},
		"Cascade": {
			reason: "--cascade skips the check", resource: groupText, cascade: true,
			given:  func(w *world) { w.put(thingText, thingBody) },
			action: resource.ActionProceed, parts: []string{"--cascade by ada@host"},
		},
		"Unmanaged": {
			reason: "unmanaged resources are named", resource: groupText, given: func(w *world) { w.put(thingText, thingBody) },
			action: resource.ActionBlock, why: resource.ReasonContainsUnmanaged, class: resource.RetrySlow, parts: []string{"t1 (Contoso.Things/things)", "--cascade"},
		},
		"Many": {
			reason: "the list is cut off, and the message shows that", resource: groupText,
			given: func(w *world) {
				for i := range 12 {
					w.put(fmt.Sprintf("%s/providers/Contoso.Things/things/t%02d", groupText, i), thingBody)
				}
			},
			action: resource.ActionBlock, why: resource.ReasonContainsUnmanaged, class: resource.RetrySlow, parts: []string{"t09", "and 2 more"},
		},
		"VeryMany": {
			reason: "the count ends at the bound", resource: groupText,
			given: func(w *world) {
				for i := range 120 {
					w.put(fmt.Sprintf("%s/providers/Contoso.Things/things/t%03d", groupText, i), thingBody)
				}
			},
			action: resource.ActionBlock, why: resource.ReasonContainsUnmanaged, class: resource.RetrySlow, parts: []string{"and at least 90 more"},
		},
		"BehindTheManaged": {
			reason: "resources that are deleted too may fill the first pages", resource: groupText,
			given: func(w *world) {
				for i := range 120 {
					text := fmt.Sprintf("%s/providers/Contoso.Things/things/t%03d", groupText, i)
					w.put(text, thingBody)
					if i < 119 {
						w.manages(text, Managed{Deleting: true, Released: true})
					}
				}
			},
			action: resource.ActionBlock, why: resource.ReasonContainsUnmanaged, class: resource.RetrySlow, parts: []string{"does not manage: t119 (Contoso.Things/things);"},
		},
		"Databases": {
			reason: "the list of a group does not show them, and the cluster's DELETE removes them", resource: clusterText,
			given: func(w *world) {
				w.put(clusterText, cluster)
				w.put(databaseText, `{"location":"westus2","kind":"ReadWrite"}`)
			},
			action: resource.ActionBlock, why: resource.ReasonContainsUnmanaged, class: resource.RetrySlow, parts: []string{"c1/db1"},
		},
		"NoDatabases": {reason: "an empty cluster", resource: clusterText, given: func(w *world) { w.put(clusterText, cluster) }, action: resource.ActionProceed},
		"BusyCluster": {
			reason: "a cluster with an operation in flight refuses even the list", resource: clusterText,
			given: func(w *world) {
				w.put(clusterText, `{"location":"westus2","properties":{"provisioningState":"Updating"}}`)
			},
			action: resource.ActionBlock, why: "", class: resource.RetrySlow,
		},
		"Resting": {
			reason: "a stopped cluster lists nothing, and a managed database is deleted with it", resource: clusterText,
			given: func(w *world) {
				w.put(clusterText, `{"location":"westus2","properties":{"state":"Stopped"}}`)
				w.fleet.dependents = Dependents{Listed: []Managed{{ID: id(w.t, databaseText), Deleting: true, Released: true}}}
			},
			action: resource.ActionProceed, parts: []string{"contents not checked"},
		},
		"RestingUnknown": {
			reason: "its contents are unknown", resource: clusterText,
			given:  func(w *world) { w.put(clusterText, `{"location":"westus2","properties":{"state":"Stopped"}}`) },
			action: resource.ActionBlock, why: "", class: resource.RetrySlow,
		},
		"OtherType": {reason: "an unknown type needs no request", resource: thingText, action: resource.ActionProceed},
		"Forbidden": {
			reason: "no DELETE without the right to list the contents", resource: groupText, given: func(w *world) {
				w.sim.AddFault(armsim.Fault{Status: 403, Code: "AuthorizationFailed"})
			},
			action: resource.ActionError, why: "AuthorizationFailed", class: resource.RetrySlow,
		},
		"Unreachable": {
			reason: "no DELETE after transient errors either", resource: groupText, given: func(w *world) { w.sim.AddFault(armsim.Fault{Reset: true}) },
			action: resource.ActionError, why: resource.ReasonArmUnreachable, class: resource.RetrySlow,
		},
		"NoTemporal": {
			reason: "no DELETE while Temporal cannot list managed resources", resource: groupText,
			given:  func(w *world) { w.put(thingText, thingBody); w.fleet.err = errors.New("Temporal is away") },
			action: resource.ActionError, why: resource.ReasonCheckFailed, class: resource.RetrySlow, parts: []string{"Temporal is away", "not deleted"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if c.given != nil {
				c.given(w)
			}
			got, _ := finish(w, w.acts.CheckContents, contents.Request{
				ID: id(t, c.resource), APIVersion: "2023-08-15", Cascade: c.cascade, By: "ada@host",
			})
			if c.action == resource.ActionBlock && c.why == "" {
				c.why = got.Verdict.Reason
			}
			want(t, got.Verdict, c.action, c.why, c.class, c.parts...)
		})
	}
}
