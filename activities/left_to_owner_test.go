package activities

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/extensions/azure"
	"github.com/armature-io/armature/resource"
)

// TestDeleteLeftToOwner checks that a resource that ARM does not delete by itself
// waits for its owner, if the owner is being deleted.
func TestDeleteLeftToOwner(t *testing.T) {
	t.Parallel()
	const service = groupText + "/providers/Microsoft.Storage/storageAccounts/a1/blobServices/default"
	cases := map[string]struct {
		reason string
		text   string
		fault  armsim.Fault
		owner  Managed
		why    resource.Reason
		class  resource.RetryClass
	}{
		"NoMethod": {
			reason: "a type without DELETE", text: thingText, fault: armsim.Fault{Status: 405, Code: "MethodNotAllowed"}, owner: Managed{Deleting: true},
			why: resource.ReasonWaitingForOwnerDelete, class: resource.RetrySlow,
		},
		"NoMethodKnown": {
			reason: "the same, where an extension knows it", text: service, owner: Managed{Deleting: true},
			why: resource.ReasonWaitingForOwnerDelete, class: resource.RetrySlow,
		},
		"NoMethodKnownOwnerStays": {
			reason: "its owner is not being deleted", text: service, owner: Managed{},
			why: resource.ReasonDeletionNotSupported, class: resource.RetryVerySlow,
		},
		"Last": {
			reason: "the last pool of a cluster", text: thingText, fault: armsim.Fault{Status: 400, Code: "OperationNotAllowed"}, owner: Managed{Deleting: true},
			why: resource.ReasonWaitingForOwnerDelete, class: resource.RetrySlow,
		},
		"LastOwnerStays": {
			reason: "ARM's error, retried", text: thingText, fault: armsim.Fault{Status: 400, Code: "OperationNotAllowed"}, owner: Managed{},
			why: "OperationNotAllowed", class: resource.RetrySlow,
		},
		"InUse": {
			reason: "the resource that uses it is deleted with the owner too", text: thingText, fault: armsim.Fault{Status: 400, Code: "InUseSubnetCannotBeDeleted"}, owner: Managed{Deleting: true},
			why: resource.ReasonWaitingForOwnerDelete, class: resource.RetrySlow,
		},
		"Busy": {
			reason: "an operation ends by itself", text: thingText, fault: armsim.Fault{Status: 409, Code: "AnotherOperationInProgress"}, owner: Managed{Deleting: true},
			why: "AnotherOperationInProgress", class: resource.RetrySlow,
		},
		"Denied": {
			reason: "only a person can grant a right", text: thingText, fault: armsim.Fault{Status: 403, Code: "AuthorizationFailed"}, owner: Managed{Deleting: true},
			why: "AuthorizationFailed", class: resource.RetrySlow,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, _ := putWorld(t, func(s *setup) { s.entries = azure.BuiltIn() })
			w.put(c.text, thingBody)
			if c.fault.Status != 0 {
				c.fault.Method, c.fault.Message = http.MethodDelete, "The message of ARM."
				w.sim.AddFault(c.fault)
			}
			w.manages(id(t, c.text).Owner().String(), c.owner)
			got, err := run(w, w.acts.DeleteResource, DeleteResourceInput{Desired: desired(t, c.text, thingBody)})
			must(t, err)
			if got.Verdict.Reason != c.why || got.Verdict.Class != c.class {
				t.Errorf("%s: %+v, want %s and %s", c.reason, got.Verdict, c.why, c.class)
			}
		})
	}
}

// TestDeleteOperationLeftToOwner checks the same for a DELETE that ARM accepts and
// refuses inside the operation.
func TestDeleteOperationLeftToOwner(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason, code string
		owner        Managed
		why          resource.Reason
	}{
		"InUse":     {"the resource that uses it is deleted with the owner too", "InUseSubnetCannotBeDeleted", Managed{Deleting: true}, resource.ReasonWaitingForOwnerDelete},
		"OwnerStay": {"ARM's error, retried", "InUseSubnetCannotBeDeleted", Managed{}, "InUseSubnetCannotBeDeleted"},
		"Busy":      {"an operation ends by itself", "AnotherOperationInProgress", Managed{Deleting: true}, "AnotherOperationInProgress"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, _ := putWorld(t, func(s *setup) {
				s.sim.Operations = []armsim.OperationRule{{Type: "Contoso.Things/*", On: "delete", Spec: armsim.OperationSpec{
					Shape: armsim.ShapeBoth, Seconds: 20, RetryAfter: []float64{10}, Outcome: "Failed", ErrorCode: c.code, ErrorMessage: "The message of ARM.",
				}}}
			})
			w.put(thingText, thingBody)
			w.manages(groupText, c.owner)
			deleted, err := run(w, w.acts.DeleteResource, DeleteResourceInput{Desired: desired(t, thingText, thingBody)})
			must(t, err)
			got, _ := finish(w, w.acts.PollOperation, PollOperationInput{
				Target: resource.Target{ID: id(t, thingText), APIVersion: "2023-08-15"}, Token: deleted.Token, RetryAfter: deleted.RetryAfter, Delete: true,
			})
			if got.Verdict.Reason != c.why {
				t.Errorf("%s: %+v, want %s", c.reason, got.Verdict, c.why)
			}
		})
	}
}

// TestCheckDependentsWakesRefused checks that a dependent that ARM does not delete,
// and whose owner was not being deleted before, is woken.
func TestCheckDependentsWakesRefused(t *testing.T) {
	t.Parallel()
	w, _ := putWorld(t)
	w.fleet.dependents = Dependents{Blocking: 3, Listed: []Managed{
		{ID: id(t, databaseText), Deleting: true, Refused: true},
		{ID: id(t, clusterText+"/databases/db2"), Deleting: true},
		{ID: id(t, thingText), Deleting: true, Refused: true},
	}}
	_, err := run(w, w.acts.CheckDependents, CheckDependentsInput{ID: id(t, clusterText)})
	must(t, err)
	if diff := cmp.Diff([]resource.ID{id(t, databaseText)}, w.fleet.notified, cmp.Comparer(resource.ID.Equal)); diff != "" {
		t.Errorf("woken (-want +got):\n%s", diff)
	}
}

// TestCheckDependentsDeletedWithOwner checks that a network security group does not
// wait for a subnet that is deleted only with the resource group: the group waits
// for both.
func TestCheckDependentsDeletedWithOwner(t *testing.T) {
	t.Parallel()
	const other = "/subscriptions/11111111-1111-1111-1111-111111111111/resourceGroups/rg2/providers/Contoso.Things/things/t1"
	released := func(text string) Managed { return Managed{ID: id(t, text), Deleting: true, Released: true} }
	cases := map[string]struct {
		reason  string
		owner   Managed
		holding []Managed
		why     resource.Reason
	}{
		"all in the owner":  {"they are deleted together", Managed{Deleting: true}, []Managed{released(databaseText)}, resource.ReasonWaitingForOwnerDelete},
		"owner not deleted": {"their owner is not being deleted", Managed{}, []Managed{released(databaseText)}, resource.ReasonWaitingForDependents},
		"one is deletable":  {"the other one blocks", Managed{Deleting: true}, []Managed{released(databaseText), {ID: id(t, clusterText), Deleting: true}}, resource.ReasonWaitingForDependents},
		"one is elsewhere":  {"the owner's DELETE does not remove it", Managed{Deleting: true}, []Managed{released(other)}, resource.ReasonWaitingForDependents},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, _ := putWorld(t)
			w.fleet.dependents = Dependents{Blocking: len(c.holding), Listed: c.holding}
			w.manages(groupText, c.owner)
			got, err := run(w, w.acts.CheckDependents, CheckDependentsInput{ID: id(t, thingText)})
			must(t, err)
			if got.Verdict.Reason != c.why {
				t.Errorf("%s: %+v, want %s", c.reason, got.Verdict, c.why)
			}
		})
	}
}
