package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/armsim"
)

const keptGroup = "/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/kept"

func TestKeptResources(t *testing.T) {
	first := armsim.New(armsim.Options{})
	cluster := keptGroup + "/providers/Microsoft.Kusto/clusters/c1"
	for id, body := range map[string]map[string]any{
		keptGroup:                   {"location": "westus2", "tags": map[string]any{"a": "b"}},
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
	if err := restoreResources(file, second); err != nil || len(second.Resources("*", "*")) != 0 {
		t.Fatalf("a demo that finds nothing starts empty; got %v", err)
	}
	if err := keepResources(file, first); err != nil {
		t.Fatal(err)
	}
	if err := restoreResources(file, second); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(desired(first), desired(second)); diff != "" || len(desired(second)) != 3 {
		t.Errorf("the second simulator has other resources (-first, +second):\n%s", diff)
	}
}

// A kept demo has the secrets that it had, so that nothing looks rotated.
func TestKeptSecrets(t *testing.T) {
	folder := t.TempDir()
	first, file, err := keptSecret(folder, "one")
	if err != nil || len(first) < 16 {
		t.Fatalf("%q, %v", first, err)
	}
	second, _, err := keptSecret(folder, "one")
	other, _, otherErr := keptSecret(folder, "other")
	if err != nil || otherErr != nil || second != first || other == first {
		t.Errorf("then %q and %q (%v, %v), want the same and another", second, other, err, otherErr)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("its file is %v, %v", info, err)
	}
}

// desired is what manifests would compare: location, tags and properties.
func desired(sim *armsim.Simulator) map[string]any {
	all := map[string]any{}
	for _, r := range sim.Resources("*", "*") {
		all[r.ID] = []any{r.State, r.Body["location"], r.Body["tags"], r.Body["properties"]}
	}
	return all
}
