package drift_test

import (
	"testing"

	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/resource"
	"github.com/google/go-cmp/cmp"
)

func TestImmutable(t *testing.T) {
	t.Parallel()
	facts := drift.Facts{Properties: []drift.PropertyFact{
		{Path: "properties.vmSize", Immutable: true}, {Path: "properties.image", Immutable: true}, {Path: "properties.disks[*].lun", Immutable: true}, {Path: "properties.label", Kept: true},
	}}
	difference := func(path, observed string) resource.Difference {
		return resource.Difference{Path: path, Desired: `"new"`, Observed: observed, Rule: "value"}
	}
	cases := map[string]struct {
		reason  string
		found   resource.Difference
		refused []string
		want    bool
	}{
		"location":          {reason: "ARM refuses it for every located resource", found: difference("location", `"westus2"`), want: true},
		"another location":  {reason: "a member of the same name is another value", found: difference("properties.location", `"westus2"`)},
		"hidden location":   {reason: "what Azure does not show may still be set", found: difference("location", "absent")},
		"fact":              {reason: "the type says so", found: difference("properties.vmSize", `"a"`), want: true},
		"case":              {reason: "names have no case", found: difference("properties.VMSize", `"a"`), want: true},
		"inside":            {reason: "the whole value is set at once", found: difference("properties.image.sku", `"a"`), want: true},
		"in a list":         {reason: "each item", found: difference("properties.disks[name=a].lun", `1`), want: true},
		"another fact":      {reason: "kept values can be changed", found: difference("properties.label", `"a"`)},
		"no fact":           {reason: "nothing says so", found: difference("properties.size", `"a"`)},
		"refused before":    {reason: "Azure refused it for this resource", found: difference("properties.size", `"a"`), refused: []string{"properties.size"}, want: true},
		"inside of refused": {reason: "Azure named the whole value", found: difference("properties.size.name", `"a"`), refused: []string{"properties.size"}, want: true},
		"beside refused":    {reason: "a longer name is another value", found: difference("properties.sizes", `"a"`), refused: []string{"properties.size"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := drift.Immutable([]resource.Difference{c.found}, drift.Options{Facts: facts, Baseline: drift.Baseline{}.WithImmutable(c.refused)})
			if (len(got) == 1) != c.want {
				t.Errorf("%s: %v, want %t", c.reason, got, c.want)
			}
		})
	}
}

// TestImmutableEnds checks that a value that Azure changed after all is forgotten, and that the
// others stay.
func TestImmutableEnds(t *testing.T) {
	t.Parallel()
	before := drift.Baseline{}.WithImmutable([]string{"properties.size", "properties.mode", "properties.size"})
	body := func(size string) map[string]any {
		return map[string]any{"properties": map[string]any{"size": size, "mode": "a"}}
	}
	reasons := []resource.Difference{{Path: "properties.size", Desired: `"b"`, Observed: `"a"`, Rule: "value"}}
	changed := drift.NewBaseline(body("b"), body("b"), drift.Options{Baseline: before, Put: true, Reasons: reasons})
	if diff := cmp.Diff([]string{"properties.mode"}, changed.Immutable); diff != "" {
		t.Errorf("after a PUT that changed it (-want +got):\n%s", diff)
	}
	kept := drift.NewBaseline(body("b"), body("a"), drift.Options{Baseline: before, Put: true, Reasons: reasons})
	if diff := cmp.Diff([]string{"properties.mode", "properties.size"}, kept.Immutable); diff != "" {
		t.Errorf("after a PUT that changed nothing (-want +got):\n%s", diff)
	}
}
