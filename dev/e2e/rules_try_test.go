package e2e

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/workflows"
)

const triedRules = `rules:
  - name: tier
    type: Microsoft.Storage/storageAccounts
    read: {group: ownerID}
    when: observed.properties.accessTier == "Hot" && group.tags.tier == "cool"
    block: ${name} is hot, and ${group.name} is for cool accounts
    reason: WrongTier
  - name: old
    type: Microsoft.Storage/storageAccounts
    at: post
    when: desired.properties.minimumTlsVersion != "TLS1_2"
    fail: old TLS
`

// TestRulesTry checks that rules are tried with a live resource, by the worker that serves and
// by one that has them and does not serve, that the recorded tests pass, and that Azure gets
// GET requests alone and the worker no rule.
func TestRulesTry(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{})
	w.StartWorker(harness.WorkerOptions{})
	w.MustCLI("apply", "-f", filepath.Join(examplesFolder(t), "01-group.yaml"), "-f", filepath.Join(examplesFolder(t), "03-storage.yaml"))
	w.UntilPhase(60*time.Second, demoStorage, workflows.PhaseReady)
	w.Sim.Patch(demoGroup, map[string]any{"tags": map[string]any{"tier": "cool"}})
	// The worker may share a reading of the group from before the change.
	rules := w.Write("rules/tier.rules.yaml", triedRules)
	w.Sim.Reset()
	w.Until(60*time.Second, "the rule sees the tag of the group", func() (bool, string) {
		result := w.CLI("rules", "try", "armaturedemo", "-f", rules)
		return strings.Contains(result.Out, "blocks (WrongTier)"), result.String()
	})
	result := w.MustCLI("rules", "try", "armaturedemo", "-f", rules, "--record", filepath.Join(filepath.Dir(rules), "recorded.rules.yaml"))
	for _, want := range []string{
		"with the manifest of generation 1", "blocks (WrongTier): armaturedemo is hot, and armature-demo is for cool accounts",
		`observed.properties.accessTier is "Hot"`, `group.tags.tier is "cool"`, "armature-demo read ",
		"rule old (", `desired.properties.minimumTlsVersion is "TLS1_2"`, "passes",
	} {
		if !strings.Contains(result.Out, want) {
			t.Errorf("no %q in %s", want, result)
		}
	}
	if tested := w.MustCLI("rules", "test", filepath.Dir(rules)); !strings.Contains(tested.Out, "2 tests passed") {
		t.Errorf("recorded tests: %s", tested)
	}
	own := w.Try(demoStorage, "--rules-path", filepath.Dir(rules))
	if own.Code != 0 || !strings.Contains(own.Out, "blocks (WrongTier): armaturedemo is hot") || !strings.Contains(own.Out, "with the manifest of generation 1") {
		t.Errorf("got %s", own)
	}
	for method, n := range w.Sim.Counters().ByMethod {
		// HEAD changes nothing either.
		if method != http.MethodGet && method != http.MethodHead && n > 0 {
			t.Errorf("trials sent %d %s requests", n, method)
		}
	}
	w.MustCLI("reconcile", demoStorage, "--wait")
	if status, err := w.Status(demoStorage); err != nil || !status.Condition.Ready {
		t.Errorf("a rule that was tried counts: %+v, %v", status.Condition, err)
	}
}
