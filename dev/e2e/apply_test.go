package e2e

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/workflows"
)

const (
	group   = "/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/first"
	groupIn = `type: Microsoft.Resources/resourceGroups@2021-04-01
name: first
owner: /subscriptions/11111111-2222-3333-4444-555555555555
body: {location: westus2, tags: {purpose: e2e}}
`
)

// groupManifest returns groupIn with another name.
func groupManifest(name string) string {
	return strings.Replace(groupIn, "name: first", "name: "+name, 1)
}

// applyGroup applies a managed group, waits until it is Ready, and returns its ID.
func (s scenarios) applyGroup(name string) string {
	s.T.Helper()
	s.MustCLI("apply", "-f", s.Write("group.yaml", groupManifest(name)), "--wait", "--timeout", "60s")
	return subscription + "/resourceGroups/" + name
}

// TestApplyOneGroup creates one resource group over HTTPS with a client secret, as in
// a real cloud.
func TestApplyOneGroup(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{TLS: true})
	w.StartWorker(harness.WorkerOptions{})

	applied := w.MustCLI("apply", "-f", w.Write("group.yaml", groupIn), "--wait", "--timeout", "60s")
	if !strings.Contains(applied.Out, "now managed (generation 1)") {
		t.Errorf("apply does not report the creation of the group:\n%s", applied)
	}
	status := w.UntilPhase(10*time.Second, group, workflows.PhaseReady)
	if status.Generation != 1 || status.Pass != 1 {
		t.Errorf("the group is Ready at generation %d after pass %d, want 1 and 1", status.Generation, status.Pass)
	}
	if puts := w.Sim.Count(http.MethodPut, group); puts != 1 {
		t.Errorf("the group was PUT %d times, want once:\n%s", puts, w.HistoryLines(group))
	}
	w.Record(group, "create")

	w.Sim.Reset()
	w.MustCLI("reconcile", group, "--wait", "--timeout", "60s")
	if counters := w.Sim.Counters(); counters.ByMethod[http.MethodPut] != 0 || counters.ByMethod[http.MethodGet] != 1 {
		t.Errorf("a pass in sync made %v, want 1 GET alone", counters.ByMethod)
	}
	for _, text := range w.Texts() {
		if strings.Contains(text, harness.ClientSecret) {
			t.Errorf("the client secret is in Temporal: %.200s", text)
		}
	}
}
