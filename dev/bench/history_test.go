package bench

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/costs"
	"github.com/armature-io/armature/dev/internal/harness"
)

// TestHistory measures the events and bytes that a pass in sync, a blocked pass
// and a create with an operation add to a history. The table in package costs
// says what they may be, and an e2e test holds it. With all parts it measures
// those of TestRequests too, for both take the same run.
func TestHistory(t *testing.T) {
	if os.Getenv(partVariable) == "all" {
		measureCosts(t, "history", "requests")
		return
	}
	measureCosts(t, "history")
}

// measureCosts measures the costs whose names begin with those of the parts.
func measureCosts(t *testing.T, parts ...string) {
	t.Helper()
	w := harness.New(t, part(t, parts[0]), harness.Options{Simulator: armsim.Options{MaxRequests: 1000}})
	measured, all := costs.Measure(w), figures{}
	asked := func(name string) bool {
		before, _, _ := strings.Cut(name, ".")
		return slices.Contains(parts, before)
	}
	for figure, value := range measured {
		if asked(figure) {
			all[figure] = value
		}
	}
	all.print(t)
	for _, fault := range measured.Faults() {
		if asked(fault) {
			t.Error(fault)
		}
	}
	if !t.Failed() {
		all.merge(t)
	}
}
