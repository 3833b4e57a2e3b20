package e2e

import (
	"testing"

	"github.com/armature-io/armature/dev/internal/costs"
	"github.com/armature-io/armature/dev/internal/harness"
)

// TestCounts holds what a create, a pass in sync, a blocked pass and a dry run
// cost, in events and bytes of history and in requests, to the table of package
// costs: a cost that changes, up or down, is a decision that changes it there.
func TestCounts(t *testing.T) {
	t.Parallel()
	figures := costs.Measure(harness.New(t, binaries, harness.Options{}))
	for _, deviation := range figures.Deviations() {
		t.Error(deviation)
	}
	t.Logf("%v", figures)
}
