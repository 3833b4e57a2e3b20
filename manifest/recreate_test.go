package manifest

import (
	"strings"
	"testing"

	"github.com/armature-io/armature/resource"
)

// Without recreate the type decides about a resource that was deleted, so a manifest
// that states always differs from one that states nothing.
func TestRecreate(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason, written string
		want            resource.Recreate
	}{
		"absent":       {reason: "the type decides", written: ""},
		"always":       {reason: "the manifest decides, also for types that hold data", written: "reconcile: {recreate: always}\n", want: resource.RecreateAlways},
		"never":        {reason: "the manifest decides", written: "reconcile: {recreate: never}\n", want: resource.RecreateNever},
		"on-immutable": {reason: "a disappearance is decided by the type", written: "reconcile: {recreate: on-immutable}\n", want: resource.RecreateOnImmutable},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := "type: Microsoft.Storage/storageAccounts@2023-01-01\nname: acc1\nowner: /subscriptions/11111111-1111-1111-1111-111111111111/resourceGroups/rg1\n" +
				"body: {location: westus2, kind: StorageV2, sku: {name: Standard_LRS}}\n" + c.written
			set, err := Load(Options{Stdin: strings.NewReader(text)}, "-")
			if err != nil {
				t.Fatal(err)
			}
			if got := set.Resources[0].Recreate; got != c.want {
				t.Errorf("%s: recreate is %q, want %q", c.reason, got, c.want)
			}
		})
	}
}
