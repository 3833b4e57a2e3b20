package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/dev/internal/harness"
)

// TestGuardSubnets: fifty subnets by their own manifests are made while their
// network, whose body could list them, is written ten times. The api-version is
// one with which a PUT deletes what its body leaves out, and two workers share
// the work. Each subnet is made once: one that was lost would be made again.
func TestGuardSubnets(t *testing.T) {
	t.Parallel()
	const subnets, writes, group = 50, 10, subscription + "/resourceGroups/many"
	const network = group + "/providers/Microsoft.Network/virtualNetworks/net"
	w := harness.New(t, binaries, harness.Options{})
	w.StartWorker(harness.WorkerOptions{})
	w.StartWorker(harness.WorkerOptions{})
	scenarios{w}.putGroup("many")
	for round := range writes + 1 {
		var text strings.Builder
		fmt.Fprintf(&text, `type: Microsoft.Network/virtualNetworks@2022-01-01
name: net
owner: %s
body: {location: westus2, tags: {round: "%d"}, properties: {addressSpace: {addressPrefixes: ["10.0.0.0/16"]}}}
reconcile: {interval: 24h}
labels: {stack: many}
`, group, round)
		for i := round * subnets / writes; i < min(subnets, (round+1)*subnets/writes); i++ {
			fmt.Fprintf(&text, `---
type: Microsoft.Network/virtualNetworks/subnets@2022-01-01
name: s%02d
owner: %s
body: {properties: {addressPrefix: 10.0.%d.0/24}}
reconcile: {interval: 24h}
labels: {stack: many}
`, i, network, i)
		}
		w.MustCLI("apply", "-f", w.Write("many.yaml", text.String()))
		w.Until(60*time.Second, fmt.Sprintf("PUT %d of the network", round), func() (bool, string) {
			puts := accepted(w, network)
			return puts > round, fmt.Sprintf("%d PUTs", puts)
		})
	}
	w.MustCLI("wait", "-l", "stack=many", "--for", "ready", "--timeout", "4m")
	for _, r := range stored(w, network+"/subnets/*") {
		if made := accepted(w, r.ID); made != 1 {
			t.Errorf("%s was made %d times", r.ID, made)
		}
	}
	if refused := w.Sim.Counters().SiblingRefusals["microsoft.network/virtualnetworks"]; refused != 0 {
		t.Errorf("%d writes met another one of the family, want turns", refused)
	}
	if left := len(stored(w, network+"/subnets/*")); left != subnets {
		t.Errorf("%d subnets are left of %d", left, subnets)
	}
}

// accepted counts the PUTs of a resource that ARM took.
func accepted(w *harness.World, id string) int {
	puts := 0
	for _, r := range w.Sim.Requests("?method=PUT") {
		if strings.EqualFold(r.ID, id) && r.Status < http.StatusBadRequest {
			puts++
		}
	}
	return puts
}
