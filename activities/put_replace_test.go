package activities

import (
	"net/http"
	"strings"
	"testing"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/resource"
)

// TestGuardReplace checks that a resource is deleted to be created again only where its
// manifest allows it, a user approved it, and nothing is lost that a new one lacks.
//
//guard:replacing-needs-a-user
func TestGuardReplace(t *testing.T) {
	t.Parallel()
	const account = groupText + "/providers/Microsoft.Storage/storageAccounts/acct"
	immutable := armsim.Fault{Method: http.MethodPut, Status: 409, Code: "PropertyChangeNotAllowed", Message: "Changing property 'size' is not allowed."}
	cases := map[string]struct {
		reason, id string
		fault      armsim.Fault
		change     func(*PutResourceInput)
		replace    bool
		message    string
	}{
		"approved":        {reason: "manifest and user agree", id: thingText, fault: immutable, change: func(in *PutResourceInput) { in.Approved.Replacement = true }, replace: true},
		"not approved":    {reason: "the user decides, after Azure refused", id: thingText, fault: immutable, change: func(*PutResourceInput) {}, message: "armature reconcile --recreate t1 deletes it and creates it again"},
		"not stated":      {reason: "the manifest does not allow it", id: thingText, fault: immutable, change: func(in *PutResourceInput) { in.Desired.Recreate, in.Approved.Replacement = "", true }, message: "Azure sets this only when it creates the resource"},
		"another refusal": {reason: "a new one would be refused too", id: thingText, fault: armsim.Fault{Method: http.MethodPut, Status: 403, Code: "RequestDisallowedByPolicy", Message: "no"}, change: func(in *PutResourceInput) { in.Approved.Replacement = true }},
		"protected":       {reason: "its policy allows no DELETE", id: thingText, fault: immutable, change: func(in *PutResourceInput) { in.Desired.Policy, in.Approved.Replacement = resource.PolicyProtect, true }, message: "policy protect allows no DELETE"},
		"holds data":      {reason: "a new one is empty", id: account, fault: immutable, change: func(in *PutResourceInput) { in.Approved.Replacement = true }, message: "a new one does not bring back what is lost"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, put := putWorld(t)
			w.put(groupText, `{"location":"westus2"}`)
			w.put(c.id, thingBody)
			put.Desired = desired(t, c.id, `{"location":"westus2","tags":{"a":"changed"},"properties":{"size":2}}`)
			put.Desired.Recreate, put.Kind = resource.RecreateOnImmutable, PutChange
			c.change(&put)
			w.sim.AddFault(c.fault)
			got, err := run(w, w.acts.PutResource, put)
			must(t, err)
			if got.Replace != c.replace || !got.Verdict.Stops() || !strings.Contains(got.Verdict.Message, c.message) {
				t.Errorf("%s: replace %t, %+v; want %t and %q", c.reason, got.Replace, got.Verdict, c.replace, c.message)
			}
		})
	}
}
