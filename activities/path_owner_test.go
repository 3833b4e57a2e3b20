package activities

import (
	"testing"

	"github.com/armature-io/armature/resource"
)

// TestOwnerIsPath checks resources whose owner is only a part of their path: nothing can
// read it, so it neither holds back a creation nor ends a deletion.
func TestOwnerIsPath(t *testing.T) {
	t.Parallel()
	const (
		subscription = "/subscriptions/11111111-2222-3333-4444-555555555555"
		below        = subscription + "/providers/Microsoft.DevCenter/locations/westus2/things/t1"
		vault        = groupText + "/providers/Microsoft.RecoveryServices/vaults/v1"
		container    = vault + "/backupFabrics/Azure/protectionContainers/c1"
	)
	cases := map[string]struct {
		reason, resource string
		given            map[string]string
		action           resource.Action
		absent           bool
	}{
		"location":    {reason: "a location is no resource, and its subscription refuses nothing", resource: below, action: resource.ActionProceed},
		"vault":       {reason: "the fabric is no resource, the vault is there", resource: container, given: map[string]string{vault: `{"location":"westus2"}`}, action: resource.ActionProceed},
		"busy vault":  {reason: "the vault is the owner that changes", resource: container, given: map[string]string{vault: `{"location":"westus2","properties":{"provisioningState":"Updating"}}`}, action: resource.ActionBlock},
		"vault, gone": {reason: "without the vault there is nothing in it", resource: container, action: resource.ActionBlock, absent: true},
	}
	for name, tc := range cases {
		for _, deleting := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.put(groupText, `{"location":"westus2"}`)
				for at, body := range tc.given {
					w.put(at, body)
				}
				spec := desired(t, tc.resource, `{"properties":{}}`)
				got, err := finish(w, w.acts.CheckOwner, CheckOwnerInput{Desired: spec, Deleting: deleting})
				if err != nil || got.Verdict.Action != tc.action || got.OwnerAbsent != tc.absent {
					t.Errorf("%s (deleting %t): %s %q, absent %t, %v", tc.reason, deleting, got.Verdict.Action, got.Verdict.Message, got.OwnerAbsent, err)
				}
			})
		}
	}
}
