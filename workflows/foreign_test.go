package workflows_test

import (
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/workflows"
)

// TestForeignValues lets others open a storage account at places that its manifest does not
// state: nothing is written, and the status shows them.
func TestForeignValues(t *testing.T) {
	spec := specOf("Microsoft.Storage/storageAccounts/foreign9", "2023-05-01", `{"location":"westus2","kind":"StorageV2","sku":{"name":"Standard_LRS"},"properties":{"allowSharedKeyAccess":false}}`)
	spec.Interval, spec.Owner = time.Hour, spec.ID.Owner()
	s := newSimulated(t, spec)
	s.apply(spec)
	s.after(3*time.Hour, func(sim *armsim.Simulator) {
		must(t, sim.Patch(spec.ID.String(), decodedJSON(t, `{"properties":{"isLocalUserEnabled":true,"networkAcls":{"defaultAction":"Allow","ipRules":[{"value":"203.0.113.7","action":"Allow"}]}}}`).(map[string]any)))
	})
	before, after := s.statusAt(2*time.Hour), s.statusAt(6*time.Hour)
	s.start(7 * time.Hour)
	if len(before.Foreign) > 0 {
		t.Errorf("before the change: %v", before.Foreign)
	}
	shown := strings.Join(after.Foreign, "\n")
	for _, part := range []string{"properties.isLocalUserEnabled: true", "203.0.113.7"} {
		if !strings.Contains(shown, part) {
			t.Errorf("the status lacks %s:\n%s", part, shown)
		}
	}
	if n := s.requests("PUT", spec.ID); n != 1 || !after.Condition.Ready {
		t.Errorf("%d PUTs, %s", n, after.Condition.Message)
	}
	if n := s.counted[workflows.ForeignMetric+" "]; n != 1 {
		t.Errorf("counted %v changes, want one", s.counted)
	}
}
