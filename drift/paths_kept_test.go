package drift

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDifferencePathsAreCopied checks that a difference has its own copy of its path:
// the walk reuses the array of a path for siblings.
func TestDifferencePathsAreCopied(t *testing.T) {
	t.Parallel()
	secret := func(name string) map[string]any { return map[string]any{"password": map[string]any{"$secret": name}} }
	desired := map[string]any{"properties": map[string]any{"logins": []any{secret("env:A"), secret("env:B"), secret("env:C")}}}
	observed := map[string]any{"properties": map[string]any{"logins": []any{}}}
	baseline := NewBaseline(desired, observed, Options{Key: []byte("k"), Put: true, APIVersion: "2024-01-01"})
	got := slices.Sorted(maps.Keys(baseline.Differences))
	want := []string{"properties.logins[0]", "properties.logins[1]", "properties.logins[2]"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the paths (-want +got):\n%s", diff)
	}
}
