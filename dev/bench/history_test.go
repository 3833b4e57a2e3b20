package bench

import (
	"strings"
	"testing"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/costs"
	"github.com/armature-io/armature/dev/internal/harness"
)

// TestHistory measures the events and bytes that a pass in sync, a blocked pass
// and a create with an operation add to a history. The table in package costs
// says what they may be, and an e2e test holds it.
func TestHistory(t *testing.T) { measureCosts(t, "history") }

// measureCosts measures the costs whose names begin with the part's.
func measureCosts(t *testing.T, name string) {
	t.Helper()
	w := harness.New(t, part(t, name), harness.Options{Simulator: armsim.Options{MaxRequests: 1000}})
	measured, all := costs.Measure(w), figures{}
	for figure, value := range measured {
		if strings.HasPrefix(figure, name+".") {
			all[figure] = value
		}
	}
	all.print(t)
	for _, fault := range measured.Faults() {
		if strings.HasPrefix(fault, name+".") {
			t.Error(fault)
		}
	}
	if !t.Failed() {
		all.merge(t)
	}
}
