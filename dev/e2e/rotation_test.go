package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// rotationResources returns the number of resources of the tests of keys.
func rotationResources() int {
	if testing.Short() {
		return 12
	}
	return 200
}

// TestKeyRotation introduces encryption, rotates the key and takes encryption back, each
// step as docs/encryption.md describes it, while resources are managed.
func TestKeyRotation(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{Converters: bothKeys(t)})
	s := scenarios{w}
	s.putGroup("rotation")
	n := rotationResources()
	var manifests strings.Builder
	for i := range n {
		manifests.WriteString("---\n" + thing{"rotation", fmt.Sprintf("r%03d", i), "0"}.manifest("small"))
	}
	file := w.Write("things.yaml", manifests.String())
	var worker *harness.Worker
	stages := []struct {
		name, read, write string
		// second is the key of another worker that runs at the same time, "" for none.
		second string
	}{
		{name: "clear"},
		{name: "key a for reading", read: "a"},
		{name: "on", read: "a", write: "a", second: "-"},
		{name: "key b for reading", read: "ab", write: "a"},
		{name: "rotated, not yet everywhere", read: "ab", write: "b", second: "a"},
		{name: "rotated", read: "ab", write: "b"},
		{name: "off", read: "ab"},
	}
	for i, stage := range stages {
		env := keyEnv(stage.read, stage.write)
		next := w.StartWorker(harness.WorkerOptions{Env: env})
		if worker != nil {
			worker.Stop()
		}
		worker = next
		var other *harness.Worker
		if stage.second != "" {
			other = w.StartWorker(harness.WorkerOptions{Env: keyEnv(stage.read, strings.Trim(stage.second, "-"))})
		}
		w.Env = append(w.Env, env...)
		if i == 0 {
			w.MustCLI("apply", "-f", file)
		} else {
			w.MustCLI("reconcile", "--all", "--wait", "--timeout", "3m")
		}
		for k := range n {
			w.UntilPhase(2*time.Minute, thing{group: "rotation", name: fmt.Sprintf("r%03d", k)}.id(), workflows.PhaseReady)
		}
		if got := strings.Count(w.MustCLI("get", "-o", "json").Out, `"phase": "Ready"`); got != n {
			t.Errorf("stage %s: get shows %d resources that are Ready, want %d", stage.name, got, n)
		}
		if out := w.MustCLI("describe", "r000").Out; !strings.Contains(out, "r000") || strings.Contains(out, "encrypted") {
			t.Errorf("stage %s: describe shows\n%s", stage.name, out)
		}
		w.MustReplay()
		if other != nil {
			other.Stop()
		}
	}
	_, kinds, elsewhere := w.ClearTexts()
	sealed := 0
	for _, count := range kinds {
		sealed += count
	}
	t.Logf("%d resources, %d encrypted payloads", n, sealed)
	if sealed < 10*n || len(elsewhere) > 0 {
		t.Errorf("%d encrypted payloads for %d resources, not bound to their workflow: %v", sealed, n, elsewhere)
	}
	for k := range n {
		id := thing{group: "rotation", name: fmt.Sprintf("r%03d", k)}.id()
		if puts := s.Sim.Count(http.MethodPut, id); puts != 1 {
			t.Errorf("%s: %d PUTs, want the one that created it", id, puts)
		}
	}
}

// TestKeyLoss loses the key of half of the resources, which were created before a rotation:
// the others go on, and each of these is named with the key. They are back with the key, and one
// is back without it once its workflow was ended and its manifest applied again.
func TestKeyLoss(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{Converters: bothKeys(t)})
	s := scenarios{w}
	s.putGroup("loss")
	n := rotationResources()
	write := func(file string, from, to int) string {
		var manifests strings.Builder
		for i := from; i < to; i++ {
			manifests.WriteString("---\n" + thing{"loss", fmt.Sprintf("r%03d", i), "0"}.manifest("small"))
		}
		return w.Write(file, manifests.String())
	}
	serve := func(read, write string) *harness.Worker {
		w.Env = append(w.Env, keyEnv(read, write)...)
		return w.StartWorker(harness.WorkerOptions{Env: keyEnv(read, write)})
	}
	// rows counts the resources that are Ready, and those that are named with the key.
	rows := func() (ready, lost int) {
		var items []struct {
			ID         string `json:"id"`
			Phase      string `json:"phase"`
			Unreadable string `json:"unreadable"`
		}
		if err := json.Unmarshal([]byte(w.MustCLI("get", "-o", "json").Out), &items); err != nil {
			t.Fatal(err)
		}
		for i, item := range items {
			switch {
			case item.ID == "":
				t.Errorf("row %d has no ID", i)
			case strings.HasPrefix(item.Unreadable, "encrypted with the key a,"):
				lost++
			case item.Phase == "Ready":
				ready++
			}
		}
		return ready, lost
	}
	former := serve("a", "a")
	w.MustCLI("apply", "-f", write("former.yaml", 0, n/2), "--wait", "--timeout", "5m")
	rotated := serve("ab", "b")
	former.Stop()
	w.MustCLI("apply", "-f", write("later.yaml", n/2, n), "--wait", "--timeout", "5m")
	rotated.Stop()

	without := serve("b", "b")
	if ready, lost := rows(); ready != n-n/2 || lost != n/2 {
		t.Errorf("without the former key %d resources are Ready and %d named, want half of %d each", ready, lost, n)
	}
	w.MustCLI("reconcile", "-f", "later.yaml", "--wait", "--timeout", "5m")
	first, err := resource.ParseID(thing{"loss", "r000", "0"}.id())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Client.TerminateWorkflow(t.Context(), first.WorkflowID(), "", "its key is lost"); err != nil {
		t.Fatal(err)
	}
	w.MustCLI("apply", "-f", write("first.yaml", 0, 1), "--wait", "--timeout", "2m")
	without.Stop()

	serve("ab", "b")
	w.MustCLI("reconcile", "--all", "--wait", "--timeout", "5m")
	if ready, lost := rows(); ready != n || lost != 0 {
		t.Errorf("with both keys %d resources are Ready and %d named, want all %d Ready", ready, lost, n)
	}
	for i := range n {
		if id := (thing{group: "loss", name: fmt.Sprintf("r%03d", i)}).id(); s.Sim.Count(http.MethodPut, id) != 1 {
			t.Errorf("%s: %d PUTs, want the one that created it", id, s.Sim.Count(http.MethodPut, id))
		}
	}
}

// TestWithoutKey runs workers and CLIs without the key of what is in Temporal: they say
// which key is missing, send nothing to Azure, and no workflow fails.
//
//guard:what-is-encrypted-stays-whole
func TestWithoutKey(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{Converters: bothKeys(t)})
	with, other := keyEnv("a", "a"), keyEnv("b", "b")
	s := scenarios{w}
	for _, group := range []string{"before", "early"} {
		s.putGroup(group)
	}
	early := thing{group: "early", name: "early", interval: "0"}
	const missing = "encrypted with the key a, which is not configured here"

	// A worker that started before anything was encrypted takes the tasks and fails them.
	keyless := w.StartWorker(harness.WorkerOptions{})
	sent := w.CLIWith("", with, "apply", "-f", w.Write("early.yaml", early.manifest("small")), "--worker-timeout", "4s")
	if sent.Code == 0 {
		t.Errorf("the worker without the key accepted %s", sent)
	}
	w.Until(30*time.Second, "the workflow task fails", func() (bool, string) {
		history := w.History(early.id()).String()
		return strings.Contains(history, "WORKFLOW_TASK_FAILED"), history
	})
	w.Until(30*time.Second, "the log names the key", func() (bool, string) {
		return strings.Contains(keyless.Log(), missing), keyless.Log()
	})
	if puts := s.Sim.Count(http.MethodPut, early.id()); puts != 0 {
		t.Errorf("%d PUTs by a worker without the key", puts)
	}
	if history := w.History(early.id()).String(); strings.Contains(history, "WORKFLOW_EXECUTION_FAILED") {
		t.Errorf("the workflow failed:\n%s", history)
	}
	keyless.Stop()

	// A worker that starts now warns.
	for name, env := range map[string][]string{"no keys": nil, "another key": other} {
		warned := w.StartWorker(harness.WorkerOptions{Env: env})
		if log := warned.Log(); !strings.Contains(log, "some workflows cannot be read") || !strings.Contains(log, missing) || !strings.Contains(log, "ARMATURE_ENCRYPTION_KEYS") {
			t.Errorf("%s: the log does not say what is missing:\n%s", name, log)
		}
		warned.Stop()
	}
	if puts := s.Sim.Count(http.MethodPut, early.id()); puts != 0 {
		t.Errorf("%d PUTs by workers without the key", puts)
	}

	// With the key everything continues where it was.
	w.StartWorker(harness.WorkerOptions{Env: with})
	w.CLIWith("", with, "apply", "-f", "early.yaml")
	w.UntilPhase(time.Minute, early.id(), workflows.PhaseReady)
	if puts := s.Sim.Count(http.MethodPut, early.id()); puts != 1 {
		t.Errorf("%d PUTs after the key came, want one", puts)
	}

	// A CLI without the key shows the row, and sends nothing in clear.
	before := thing{group: "before", name: "before", interval: "0"}
	w.Write("before.yaml", before.manifest("small"))
	for name, env := range map[string][]string{"no keys": nil, "another key": other} {
		for _, args := range [][]string{{"get"}, {"describe", "early"}, {"why"}, {"get", early.id()}} {
			if result := w.CLIWith("", env, args...); result.Code != 0 || !strings.Contains(result.Out, "early") || !strings.Contains(result.Out+result.Err, missing) {
				t.Errorf("%s: want the row and the missing key in %s", name, result)
			}
		}
		for _, args := range [][]string{
			{"history", early.id()}, {"apply", "-f", "before.yaml"}, {"delete", "--yes", early.id()},
			{"plan", "-f", "before.yaml"}, {"reconcile", "--all"}, {"doctor"},
		} {
			if result := w.CLIWith("", env, args...); result.Code == 0 || !strings.Contains(result.Out+result.Err, missing) {
				t.Errorf("%s: want the missing key in %s", name, result)
			}
		}
	}
	if _, err := w.Status(before.id()); err == nil {
		t.Error("a CLI without the key started a workflow")
	}
	if status := w.UntilPhase(time.Minute, early.id(), workflows.PhaseReady); status.Deleting {
		t.Error("a CLI without the key deleted a resource")
	}
}

// TestKeyIsRemoved rotates the key, and moves all runs to another worker version: then
// nothing that runs needs the former key, also what is paused, and what holds a freeze.
func TestKeyIsRemoved(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{Converters: bothKeys(t)})
	quickPolls(w)
	s := scenarios{w}
	s.putGroup("removed")
	start := func(build, read, write string) *harness.Worker {
		env := keyEnv(read, write)
		w.Env = append(w.Env, env...)
		return w.StartWorker(harness.WorkerOptions{Env: append(env, "ARMATURE_WORKER_DEPLOYMENT=keys", "ARMATURE_WORKER_BUILD_ID="+build)})
	}
	former := start("one", "a", "a")
	active, paused := thing{"removed", "active", "1h"}, thing{"removed", "paused", "1h"}
	for _, r := range []thing{active, paused} {
		w.MustCLI("apply", "-f", w.Write(r.name+".yaml", r.manifest("small")), "--wait", "--timeout", "2m")
	}
	w.MustCLI("pause", paused.id(), "--reason", "test")
	w.MustCLI("freeze", "-l", "stage=none", "--reason", "test")
	former.Stop()

	rotated := []*harness.Worker{start("one", "ab", "b"), start("two", "ab", "b")}
	w.Until(time.Minute, "version two is promoted, once the server knows its task queues", func() (bool, string) {
		result := w.CLI("rollout", "promote", "two")
		return result.Code == 0, result.String()
	})
	if result := w.CLI("rollout", "status", "--wait", "--timeout", "3m"); result.Code != 0 {
		t.Fatalf("not everything moved: %s", result)
	}
	for _, worker := range rotated {
		worker.Stop()
	}
	start("two", "b", "b")
	for _, args := range [][]string{{"get"}, {"describe", "paused"}, {"reconcile", active.id(), "--wait", "--timeout", "2m"}, {"resume", paused.id()}, {"unfreeze", "-l", "stage=none"}} {
		if result := w.CLI(args...); result.Code != 0 {
			t.Errorf("without the former key: %s", result)
		}
	}
	w.MustReplay()
}
