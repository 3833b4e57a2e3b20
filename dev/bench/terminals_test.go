package bench

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
)

const (
	terminals = 10
	// perTerminal is the number of resources that each of them applies.
	perTerminal = 100
)

// TestTerminals measures a thousand applies that ten terminals send at once, each waiting
// for its resources, 30 ms away from Temporal, and what they send. None of them may see that
// the server limits requests.
func TestTerminals(t *testing.T) {
	if os.Getenv(partVariable) == "all" {
		t.Skip("takes minutes; make bench BENCH=terminals runs it")
	}
	binaries := requirePart(t, "terminals")
	w := harness.New(t, binaries, harness.Options{
		Simulator: armsim.Options{TimeScale: 60, MaxRequests: 100_000}, RoundTrip: stormRoundTrip,
	})
	w.StartWorker(harness.WorkerOptions{})
	c := crowd{
		count: terminals * perTerminal, subscriptions: 10, kind: thingType + "@2024-01-01",
		body:       func(int) string { return `{"location":"westus2","properties":{"size":"small"}}` },
		extraLines: "reconcile: {interval: 24h}\n",
	}
	files := make([]string, terminals)
	c.groups(w)
	for i := range files {
		var documents []string
		for n := range perTerminal {
			documents = append(documents, c.manifest(i*perTerminal+n))
		}
		files[i] = w.Write(fmt.Sprintf("terminal%d.yaml", i), join(documents))
	}
	meter := w.Meter()
	results := make([]harness.Result, terminals)
	begun := time.Now()
	var running sync.WaitGroup
	for i := range terminals {
		running.Go(func() {
			results[i] = w.CLI("apply", "-f", files[i], "--wait", "--timeout", "8m", "--worker-timeout", "3m")
		})
	}
	running.Wait()
	took := time.Since(begun)
	for i, r := range results {
		if r.Code != 0 || !strings.Contains(r.Out, fmt.Sprintf("%d resources Ready", perTerminal)) || strings.Contains(r.Out+r.Err, "xhausted") || strings.Contains(r.Err, "limit") {
			t.Errorf("terminal %d: %s", i, r)
		}
	}
	sent, refused := meter.Requests(), 0
	for _, n := range meter.Refused() {
		refused += n
	}
	n := float64(terminals * perTerminal)
	all := figures{
		"terminals.seconds":                   took.Seconds(),
		"terminals.lists_per_second":          float64(sent["ListWorkflowExecutions"]) / took.Seconds(),
		"terminals.descriptions_per_resource": float64(sent["DescribeWorkflowExecution"]) / n,
		"terminals.queries_per_resource":      float64(sent["QueryWorkflow"]) / n,
		"terminals.refused_by_the_server":     float64(refused),
		"terminals.updates_per_resource":      float64(sent["ExecuteMultiOperation"]+sent["UpdateWorkflowExecution"]) / n,
	}
	all.print(t)
	if !t.Failed() {
		all.merge(t)
	}
}
