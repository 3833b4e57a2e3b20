package e2e

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// ruleFile is a rule for storage accounts with a condition.
func ruleFile(when string) string {
	return "rules:\n  - name: freeze\n    type: Microsoft.Storage/storageAccounts\n    reason: ChangeFreeze\n" +
		"    when: |-\n      " + when + "\n    block: Changes of ${name} wait for Monday\n"
}

// TestRules checks that a rule blocks its own type only, that a reload with an error
// keeps it, that a rule of cost 10^9 fails its own resource and is named, and that the
// resource continues when the rule is removed: all without a restart.
func TestRules(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{})
	path := w.Write("rules/freeze.yaml", ruleFile("observed == null"))
	worker := w.StartWorker(harness.WorkerOptions{Args: []string{"--rules-path", filepath.Dir(path), "--rules-reload", "1s"}})
	w.MustCLI("apply", "-f", filepath.Join(examplesFolder(t), "01-group.yaml"), "-f", filepath.Join(examplesFolder(t), "03-storage.yaml"))
	shows := func(reason resource.Reason, message string) {
		t.Helper()
		w.UntilStatus(60*time.Second, demoStorage, string(reason)+": "+message, func(s workflows.Status) bool {
			return s.Condition.Reason == reason && strings.Contains(s.Condition.Message, message)
		})
	}
	logs := func(text string) {
		t.Helper()
		w.Until(30*time.Second, "the worker logs "+text, func() (bool, string) { return strings.Contains(worker.Log(), text), worker.Log() })
	}
	shows("ChangeFreeze", "Changes of armaturedemo wait for Monday")
	w.UntilPhase(60*time.Second, demoGroup, workflows.PhaseReady)

	w.Write("rules/freeze.yaml", ruleFile("obsrved == null"))
	logs("rules not reloaded, keeping the old ones")
	logs("freeze.yaml:6:7: when: undeclared reference to 'obsrved'")
	w.MustCLI("reconcile", demoStorage)
	shows("ChangeFreeze", "Changes of armaturedemo wait for Monday")

	thousand := "[" + strings.Repeat("1,", 999) + "1]"
	w.Write("rules/freeze.yaml", ruleFile(thousand+".all(a, "+thousand+".all(b, "+thousand+".all(c, a + b + c > 0)))"))
	logs("rules reloaded")
	w.MustCLI("reconcile", demoStorage)
	shows(resource.ReasonCheckFailed, "rule freeze (")
	w.MustCLI("reconcile", demoGroup)
	w.UntilPhase(30*time.Second, demoGroup, workflows.PhaseReady)
	if puts := w.Sim.Count(http.MethodPut, demoStorage); puts != 0 {
		t.Errorf("the storage account got %d PUTs while its rule blocked it", puts)
	}

	w.Write("rules/freeze.yaml", ruleFile("false"))
	w.UntilPhase(4*time.Minute, demoStorage, workflows.PhaseReady)
	if !worker.Running() {
		t.Errorf("the worker ended:\n%s", worker.Log())
	}
}
