package activities

import (
	"testing"

	"github.com/armature-io/armature/resource"
)

// TestDeletesUnmanaged sends no PUT for which ARM deletes resources that no manifest
// names, unless the manifest allows it: the worker does not rely on the tool that loaded it.
//
//guard:deletions-by-a-put
func TestDeletesUnmanaged(t *testing.T) {
	t.Parallel()
	const deployment = groupText + "/providers/Microsoft.Resources/deployments/d1"
	for _, allowed := range []bool{false, true} {
		w := newWorld(t)
		w.put(groupText, `{"location":"westus2"}`)
		spec := desired(t, deployment, `{"properties":{"mode":"Complete","template":{}}}`)
		spec.APIVersion, spec.Deletion.Unmanaged = "2022-09-01", allowed
		got, _ := finish(w, w.acts.PutResource, PutResourceInput{Desired: spec, Kind: PutCreation, ObservedAt: w.now()})
		if got.Sent != allowed || w.puts(deployment) > 0 != allowed {
			t.Errorf("allowed %t: sent %t, %s %s", allowed, got.Sent, got.Verdict.Reason, got.Verdict.Message)
		}
		if !allowed {
			want(t, got.Verdict, resource.ActionError, resource.ReasonContainsUnmanaged, resource.RetryVerySlow, "properties.mode: Complete", "reconcile.delete.unmanaged: true")
		}
	}
}
