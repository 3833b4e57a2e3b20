package perturb

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/resource"
)

// TestUndisturbed shows that each kind ends as its name says, and twice in the same way: the table
// compares with it.
func TestUndisturbed(t *testing.T) {
	for _, k := range kinds() {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			first, err := runCell(k, nil)
			if err != nil {
				t.Fatal(err)
			}
			second, err := runCell(k, nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s", first.timeline())
			for _, violation := range append(first.violations, second.violations...) {
				t.Error(violation)
			}
			if diff := cmp.Diff(names(first.points), names(second.points)); diff != "" {
				t.Errorf("points of two runs (-first +second):\n%s", diff)
			}
			if diff := cmp.Diff(first.resources, second.resources); diff != "" {
				t.Errorf("resources of two runs (-first +second):\n%s", diff)
			}
			if c := first.status.Condition; !c.Ready && c.Reason != resource.ReasonDeleted {
				t.Errorf("end: %s: %s", c.Reason, c.Message)
			}
		})
	}
}

// names returns the names of points in order of the alphabet: some activities run side by side.
func names(points []point) []string {
	all := make([]string, len(points))
	for i, p := range points {
		all[i] = p.String()
	}
	slices.Sort(all)
	return all
}
