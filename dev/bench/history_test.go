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

// TestHistory measures the events and bytes that a pass in sync, a blocked pass and a
// create with an operation add to a history. The table in package costs has the limits,
// which an e2e test checks. With all parts it also measures the figures of
// TestRequests, because both need the same run.
func TestHistory(t *testing.T) {
	if os.Getenv(partVariable) == "all" {
		measureCosts(t, "history", "requests")
		return
	}
	measureCosts(t, "history")
}

// measureCosts measures the costs of the named parts.
func measureCosts(t *testing.T, parts ...string) {
	t.Helper()
	w := harness.New(t, requirePart(t, parts[0]), harness.Options{Simulator: armsim.Options{MaxRequests: 1000}})
	measured, all := costs.Measure(w), figures{}
	selected := func(name string) bool {
		before, _, _ := strings.Cut(name, ".")
		return slices.Contains(parts, before)
	}
	for figure, value := range measured {
		if selected(figure) {
			all[figure] = value
		}
	}
	all.print(t)
	for _, fault := range measured.Deviations() {
		if selected(fault) {
			t.Error(fault)
		}
	}
	if !t.Failed() {
		all.merge(t)
	}
}
