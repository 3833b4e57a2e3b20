package bench

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/workflows"
)

const (
	turnsCount = 100
	// turnsSeconds is the duration of Azure's operation, in real seconds.
	turnsSeconds = 1.0
)

// TestTurns measures the subnets of one network in one apply, which ARM changes one at
// a time, against the sum of their operations.
func TestTurns(t *testing.T) {
	binaries := requirePart(t, "turns")
	w := harness.New(t, binaries, harness.Options{Simulator: armsim.Options{TimeScale: 60, MaxRequests: 100_000}})
	w.Sim.Call(http.MethodPost, "/operations", armsim.OperationRule{On: "put", Spec: armsim.OperationSpec{Seconds: 60 * turnsSeconds, RetryAfter: []float64{60}}}, nil)
	w.StartWorker(harness.WorkerOptions{})
	w.StartWorker(harness.WorkerOptions{})
	group := benchSubscription + "/resourceGroups/turns"
	network := group + "/providers/Microsoft.Network/virtualNetworks/net"
	w.Sim.Call(http.MethodPut, "/resources", map[string]any{"id": network, "body": map[string]any{
		"location": "westus2", "properties": map[string]any{"addressSpace": map[string]any{"addressPrefixes": []string{"10.0.0.0/8"}}},
	}}, nil)
	var documents []string
	for i := range turnsCount {
		documents = append(documents, manifest("Microsoft.Network/virtualNetworks/subnets@2024-01-01", fmt.Sprintf("s%d", i), network+"@2024-01-01",
			fmt.Sprintf(`{"properties":{"addressPrefix":"10.%d.0.0/16"}}`, i)))
	}
	file := w.Write("subnets.yaml", join(documents))
	started := time.Now()
	send(w, "apply", "-f", file)
	for i := range turnsCount {
		w.UntilPhase(20*time.Minute, fmt.Sprintf("%s/subnets/s%d", network, i), workflows.PhaseReady)
	}
	counters := w.Sim.Counters()
	refusals := 0
	for _, n := range counters.SiblingRefusals {
		refusals += n
	}
	if refusals != 0 {
		t.Errorf("ARM refused %d changes because of siblings, want none", refusals)
	}
	all := figures{
		"turns.100.seconds": time.Since(started).Seconds(), "turns.100.operations_seconds": turnsCount * turnsSeconds,
		"turns.100.sibling_refusals": float64(refusals), "turns.100.gets": float64(counters.ByMethod[http.MethodGet]),
	}
	all.print(t)
	if !t.Failed() {
		all.merge(t)
	}
}
