package e2e

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/dev/internal/testworker/policy"
	"github.com/armature-io/armature/internal/testonly/issuer"
)

// TestSlowHook sends messages to workers whose hook takes 3 s and whose issuer takes 2 s: the
// commands send them again until they are decided, and no workflow waits so long that the
// SDK takes it for deadlocked.
//
//guard:the-hook-of-an-embedder
func TestSlowHook(t *testing.T) {
	t.Parallel()
	world := harness.New(t, binaries, harness.Options{})
	sideBySide(t, 2, map[string]func(*testing.T){
		"senders": func(t *testing.T) { slowSenders(t, world.Branch(t, "slow-senders", harness.Options{})) },
		"cascade": func(t *testing.T) { slowCascade(t, world.Branch(t, "slow-cascade", harness.Options{})) },
	})
}

// slowSenders sends messages with tokens, the first of which starts a workflow.
func slowSenders(t *testing.T, w *harness.World) {
	company := issuer.Start(t)
	company.Delay.Store(int64(2 * time.Second))
	encryption := keyEnv("a", "a")
	worker := w.StartWorker(harness.WorkerOptions{
		Binary: buildTestWorker(t), Env: append([]string{policy.IssuerVariable + "=" + company.URL, policy.DelayVariable + "=3s"}, encryption...),
	})
	s := scenarios{w}
	s.putGroup("slow")
	r := thing{group: "slow", name: "sent", interval: "1h"}
	owners := map[string]any{"groups": []string{"owners"}}
	ann, bob := company.Token(policy.Audience, "ann", owners), company.Token(policy.Audience, "bob", nil)
	as := func(code int, want, token string, args ...string) {
		t.Helper()
		result := s.CLIWith("", append([]string{"ARMATURE_TOKEN=" + token}, encryption...), args...)
		if result.Code != code || !strings.Contains(result.Out+result.Err, want) {
			t.Errorf("want exit code %d and %q:\n%s", code, want, result)
		}
	}
	as(0, "", bob, "apply", "-f", s.Write("sent.yaml", r.manifest("small")), "--wait", "--timeout", "2m")
	as(1, "pause of sent is not allowed: bob is not in the group owners", bob, "pause", r.id(), "--reason", "lunch")
	company.Rotate()
	as(0, "", company.Token(policy.Audience, "ann", owners), "pause", r.id(), "--reason", "INC-1")
	as(1, "failed to verify", ann, "resume", r.id())
	as(0, "", company.Token(policy.Audience, "ann", owners), "delete", r.id(), "--yes", "--with-data", "--wait", "--timeout", "2m")
	if puts := s.Sim.Count(http.MethodPut, r.id()); puts != 1 {
		t.Errorf("%d PUTs, want that of one apply", puts)
	}
	checkNoDeadlock(t, worker)
}

// slowCascade deletes an owner with a resource in it: its worker asks the hook about that too.
func slowCascade(t *testing.T, w *harness.World) {
	worker := w.StartWorker(harness.WorkerOptions{
		Binary: buildTestWorker(t), Env: []string{policy.Variable + "=forget", policy.DelayVariable + "=6s"},
	})
	s := scenarios{w}
	owner := s.applyGroup("fallen")
	r := thing{group: "fallen", name: "child", interval: "1h"}
	s.MustCLI("apply", "-f", s.Write("child.yaml", r.manifest("small")), "--wait", "--timeout", "2m")
	s.MustCLI("delete", owner, "--yes", "--cascade", "--wait", "--timeout", "3m")
	if deletes := s.Sim.Count(http.MethodDelete, r.id()); deletes != 1 {
		t.Errorf("%d DELETEs of the child, want one", deletes)
	}
	checkNoDeadlock(t, worker)
}

// checkNoDeadlock checks that no workflow of a worker waited where it must not.
func checkNoDeadlock(t *testing.T, worker *harness.Worker) {
	t.Helper()
	for _, text := range []string{"Potential deadlock", "TMPRL1101"} {
		if log := worker.Log(); strings.Contains(log, text) {
			t.Errorf("the log contains %q:\n%s", text, log)
		}
	}
}
