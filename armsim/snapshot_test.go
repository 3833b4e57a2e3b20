package armsim_test

import (
	"testing"

	"github.com/armature-io/armature/armsim"
)

// TestSnapshot restores a simulator: ETags, principal IDs and keys are the same as before,
// so that a client with a memory sees no change.
func TestSnapshot(t *testing.T) {
	const identity = "/subscriptions/11111111-1111-1111-1111-111111111111/resourceGroups/g/providers/Microsoft.ManagedIdentity/userAssignedIdentities/u"
	first, second := newHarness(t, armsim.Options{}), newHarness(t, armsim.Options{})
	if err := first.Put(identity, map[string]any{"location": "westus2"}); err != nil {
		t.Fatal(err)
	}
	snapshot, err := first.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Restore(snapshot); err != nil {
		t.Fatal(err)
	}
	if want, got := first.do("GET", identity+version, "").raw, second.do("GET", identity+version, "").raw; want != got {
		t.Errorf("restored %s, want %s", got, want)
	}
	for name, broken := range map[string]string{"no JSON": "{", "no identity": `[{"id":"` + identity + `"}]`, "no ID": `[{"id":"x","guid":"y"}]`} {
		if err := second.Restore([]byte(broken)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
