package activities

import (
	"testing"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

// TestDeletesUnmanaged sends no PUT for which ARM deletes resources that no manifest
// names, unless the manifest allows it: the worker does not rely on the tool that loaded it.
//
//guard:deletions-by-a-put
func TestDeletesUnmanaged(t *testing.T) {
	t.Parallel()
	const widget = "Contoso.Widgets/widgets"
	for name, c := range map[string]struct {
		reason, id, body, member string
	}{
		"deployment": {"the built-in table has the fact", groupText + "/providers/Microsoft.Resources/deployments/d1", `{"properties":{"mode":"Complete","template":{}}}`, "properties.mode: Complete"},
		"own type":   {"authors state the fact of their types", groupText + "/providers/" + widget + "/w1", `{"location":"westus2","properties":{"prune":"all"}}`, "properties.prune: all"},
	} {
		for _, allowed := range []bool{false, true} {
			w := newWorld(t, func(s *setup) {
				s.entries = append(s.entries, extensions.Entry{Type: widget, Evidence: "a test", Facts: extensions.Facts{
					DeletesUnmanaged: []extensions.DeletingValue{{Path: "properties.prune", Value: "All", Source: "a test"}},
				}})
			})
			w.put(groupText, `{"location":"westus2"}`)
			spec := desired(t, c.id, c.body)
			spec.APIVersion, spec.Deletion.Unmanaged = "2022-09-01", allowed
			got, _ := finish(w, w.acts.PutResource, PutResourceInput{Desired: spec, Kind: PutCreation, ObservedAt: w.now()})
			if got.Sent != allowed || w.puts(c.id) > 0 != allowed {
				t.Errorf("%s (%s): allowed %t: sent %t, %s %s", name, c.reason, allowed, got.Sent, got.Verdict.Reason, got.Verdict.Message)
			}
			if !allowed {
				want(t, got.Verdict, resource.ActionError, resource.ReasonContainsUnmanaged, resource.RetryVerySlow, c.member, "reconcile.delete.unmanaged: true")
			}
		}
	}
}
