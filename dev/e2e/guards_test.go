package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/workflows"
)

// TestGuardSubnets creates fifty subnets from their own manifests while their
// network, whose body could list them, is written ten times. With its api-version a
// PUT deletes the subnets that its body omits, and two workers share the work. Each
// subnet is created once: a lost one would be created a second time.
//
//guard:children-are-kept
//guard:turns
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

// TestGuardFreeze freezes a busy fleet of two workers. From five seconds later the
// request log has no PUT and no DELETE, not even after both workers were killed and
// restarted, while reads continue; get shows the freeze. After unfreeze all waiting
// changes are made.
//
//guard:freeze
func TestGuardFreeze(t *testing.T) {
	t.Parallel()
	const things, stops, scale = 6, 5 * time.Second, 60 // simulated seconds in one
	w := harness.New(t, binaries, harness.Options{})
	workers := []*harness.Worker{w.StartWorker(harness.WorkerOptions{}), w.StartWorker(harness.WorkerOptions{})}
	s := scenarios{w}
	s.putGroup("fleet")
	fleet := make([]thing, things)
	for i := range fleet {
		fleet[i] = thing{group: "fleet", name: fmt.Sprintf("t%d", i), interval: "1h"}
		s.apply(fleet[i], "small")
	}
	for _, r := range fleet {
		s.UntilPhase(60*time.Second, r.id(), workflows.PhaseReady)
	}
	// busy creates drift on each thing and forces a pass, because the value is soon contested,
	// in rounds, until the simulator's clock reaches a time.
	round := 0
	busy := func(until time.Time) {
		t.Helper()
		w.Until(2*time.Minute, "rounds of drift", func() (bool, string) {
			for _, r := range fleet {
				round++
				w.Sim.Patch(r.id(), map[string]any{"properties": map[string]any{"size": fmt.Sprintf("large%d", round)}})
				w.CLI("reconcile", r.id(), "--force", "--reason", "INC-42")
			}
			now := latest(w)
			return now.After(until), now.String()
		})
	}
	busy(latest(w).Add(5 * time.Second * scale))
	if puts := w.Sim.Count(http.MethodPut, fleet[0].id()); puts < 2 {
		t.Fatalf("the fleet is not busy: %d PUTs", puts)
	}
	frozenAt := latest(w)
	s.MustCLI("freeze", "--reason", "INC-42")
	quiet := frozenAt.Add(stops * scale)
	busy(quiet) // until then a write may still leave
	w.MustCLI("delete", fleet[0].id(), "--yes")
	busy(quiet.Add(stops * scale))
	for _, worker := range workers {
		worker.Kill()
	}
	w.StartWorker(harness.WorkerOptions{})
	w.StartWorker(harness.WorkerOptions{})
	busy(latest(w).Add(2 * stops * scale))
	var writes, reads int
	for _, r := range w.Sim.Requests("") {
		switch {
		case r.Time.Before(quiet) || r.ID == "":
		case r.Method == http.MethodGet:
			reads++
		default:
			writes++
			t.Errorf("%s of %s at %s, frozen at %s", r.Method, r.ID, r.Time, frozenAt)
		}
	}
	if reads < things || writes != 0 {
		t.Errorf("%d reads and %d writes after the freeze, want reads alone", reads, writes)
	}
	if shown := s.MustCLI("get"); !strings.Contains(shown.Err, "frozen: everything") || !strings.Contains(shown.Out, "Frozen") {
		t.Errorf("get prints\n%s%s", shown.Out, shown.Err)
	}
	s.MustCLI("unfreeze")
	for _, r := range fleet[1:] {
		w.Until(30*time.Second, "it is put right", func() (bool, string) {
			w.CLI("reconcile", r.id(), "--force", "--reason", "INC-42")
			status, err := w.Status(r.id())
			return err == nil && status.Condition.Ready, fmt.Sprint(status.Condition, err)
		})
	}
	w.Until(30*time.Second, "it is deleted", func() (bool, string) {
		// The first DELETE may be refused: it states the version that the deletion has read.
		w.CLI("reconcile", fleet[0].id())
		return len(stored(w, fleet[0].id())) == 0, fmt.Sprintf("%d requests DELETE", w.Sim.Count(http.MethodDelete, fleet[0].id()))
	})
}

// latest returns the simulator's time of the last request.
func latest(w *harness.World) time.Time {
	requests := w.Sim.Requests("")
	return requests[len(requests)-1].Time
}
