package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/armsim"
)

const savedGroup = "/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/saved"

func TestSavedResources(t *testing.T) {
	first := armsim.New(armsim.Options{})
	cluster := savedGroup + "/providers/Microsoft.Kusto/clusters/c1"
	identity := savedGroup + "/providers/Microsoft.ManagedIdentity/userAssignedIdentities/u1"
	for id, body := range map[string]map[string]any{
		identity:                    {"location": "westus2"},
		savedGroup:                  {"location": "westus2", "tags": map[string]any{"a": "b"}},
		cluster:                     {"location": "westus2", "properties": map[string]any{"state": "Running"}},
		cluster + "/databases/logs": {"location": "westus2", "properties": map[string]any{"softDeletePeriod": "P30D"}},
	} {
		if err := first.Put(id, body); err != nil {
			t.Fatal(err)
		}
	}
	if err := first.SetState(cluster, "Succeeded", nil); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), resourcesFile)
	second := armsim.New(armsim.Options{})
	if err := loadResources(file, second); err != nil || len(second.Resources("*", "*")) != 0 {
		t.Fatalf("without a file the simulator stays empty; got %v", err)
	}
	if err := saveResources(file, first); err != nil {
		t.Fatal(err)
	}
	if err := loadResources(file, second); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(desired(first), desired(second)); diff != "" || len(desired(second)) != 4 {
		t.Errorf("the second simulator has other resources (-first, +second):\n%s", diff)
	}
	if principal := second.Resources(identity, "*")[0].Body["properties"].(map[string]any)["principalId"]; principal == nil || principal == "" {
		t.Error("the identity lost its principal ID, which role assignments refer to")
	}
}

// TestSavedSecrets checks that a demo with KEEP=1 has the same secrets, so that none
// looks rotated.
func TestSavedSecrets(t *testing.T) {
	folder := t.TempDir()
	first, file, err := savedSecret(folder, "one")
	if err != nil || len(first) < 16 {
		t.Fatalf("%q, %v", first, err)
	}
	second, _, err := savedSecret(folder, "one")
	other, _, otherErr := savedSecret(folder, "other")
	if err != nil || otherErr != nil || second != first || other == first {
		t.Errorf("got %q and %q (%v, %v), want the same secret and a different one", second, other, err, otherErr)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", info, err)
	}
}

// desired returns what manifests compare: location, tags and properties.
func desired(sim *armsim.Simulator) map[string]any {
	all := map[string]any{}
	for _, r := range sim.Resources("*", "*") {
		all[r.ID] = []any{r.State, r.Body["location"], r.Body["tags"], r.Body["properties"]}
	}
	return all
}
