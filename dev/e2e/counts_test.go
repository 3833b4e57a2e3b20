package e2e

import (
	"testing"

	"github.com/armature-io/armature/dev/internal/costs"
	"github.com/armature-io/armature/dev/internal/harness"
)

// TestCounts compares the cost of a create, a pass in sync, a blocked pass and a dry
// run, in events and bytes of history and in requests, with the table of package
// costs. A change of a cost, up or down, is a decision and changes the table.
func TestCounts(t *testing.T) {
	t.Parallel()
	figures := costs.Measure(harness.New(t, binaries, harness.Options{}))
	for _, deviation := range figures.Deviations() {
		t.Error(deviation)
	}
	t.Logf("%v", figures)
}
