package e2e

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/armature-io/armature/dev/internal/harness"
)

// TestRequestsOfTerminals checks what ten terminals send that apply and wait at once: a
// message and a description for each resource, hardly a query, and lists at a pace that the server
// allows.
func TestRequestsOfTerminals(t *testing.T) {
	t.Parallel()
	const terminals, each = 10, 12
	w := harness.New(t, binaries, harness.Options{})
	w.StartWorker(harness.WorkerOptions{})
	s := scenarios{w}
	s.putGroup("terminals")
	meter := w.Meter()
	results := make([]harness.Result, terminals)
	var all sync.WaitGroup
	for i := range terminals {
		var documents []string
		for n := range each {
			documents = append(documents, fmt.Sprintf("type: Microsoft.Example/things@2021-01-01\nname: t%d-%d\nowner: %s\nbody: {location: westus2, properties: {size: small}}\n",
				i, n, subscription+"/resourceGroups/terminals"))
		}
		file := w.Write(fmt.Sprintf("terminal%d.yaml", i), strings.Join(documents, "---\n"))
		all.Go(func() {
			results[i] = w.CLI(harness.Patient([]string{"apply", "-f", file, "--wait", "--worker-timeout", "4m", "--timeout", "3m"})...)
		})
	}
	all.Wait()
	for _, r := range results {
		if r.Code != 0 || !strings.Contains(r.Out, fmt.Sprintf("%d resources Ready", each)) || strings.Contains(r.Err, "limit") {
			t.Errorf("want %d resources Ready, no limit, and exit code 0 of %s", each, r)
		}
	}
	sent := meter.Requests()
	t.Logf("requests %v, refused %v", sent, meter.Refused())
	// A few are read while a step runs, or before the list has them. A wait that takes longer
	// reads and asks what is not settled once in fifteen rounds, each of which lists
	// (await.checkRounds): on a slow machine there are some such rounds.
	longWaits := sent["ListWorkflowExecutions"] * each / 15
	if sent["QueryWorkflow"] > longWaits {
		t.Errorf("%d queries, want at most %d", sent["QueryWorkflow"], longWaits)
	}
	if most := terminals*each*3/2 + longWaits; sent["DescribeWorkflowExecution"] > most {
		t.Errorf("%d descriptions of %d resources, want at most %d", sent["DescribeWorkflowExecution"], terminals*each, most)
	}
}
