package manifest

import (
	"slices"
	"testing"

	"github.com/armature-io/armature/resource"
)

// checkDerived checks that the worker derives the same secrets from the body as the reader of
// the manifest found.
func checkDerived(t *testing.T, desired resource.Desired) {
	t.Helper()
	derived := desired.WithSecrets()
	for _, lists := range [][2][]string{{desired.Secret, derived.Secret}, {desired.SecretRefs, derived.SecretRefs}} {
		read, fromBody := slices.Clone(lists[0]), slices.Clone(lists[1])
		slices.Sort(read)
		slices.Sort(fromBody)
		if !slices.Equal(read, fromBody) {
			t.Errorf("%s: the manifest states %q, the body %q", desired.ID, read, fromBody)
		}
	}
	for _, path := range desired.Plain {
		if parsed := resource.ParsePaths([]string{path}); len(parsed) == 0 {
			t.Errorf("%s: the plain path %q is none", desired.ID, path)
		}
	}
}

// TestSecretsAreInTheBody checks it for all examples; the fuzz test does for other manifests.
func TestSecretsAreInTheBody(t *testing.T) {
	t.Parallel()
	set, err := Load(Options{}, "../examples")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, desired := range set.Resources {
		found += len(desired.Secret)
		checkDerived(t, desired)
	}
	if found == 0 {
		t.Error("no example has a secret: the test compares nothing")
	}
}
