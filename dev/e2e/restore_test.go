package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/dev/temporaldev"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// restored is a world whose Temporal database was restored from a backup: since the backup
// one resource was deleted, one changed, and everything was frozen. Its workflows start
// passes by themselves every few seconds.
type restored struct {
	scenarios
	deleted, changed, steady thing
}

// backUpAndRestore plays it with workers of the options.
func backUpAndRestore(t *testing.T, group string, options harness.WorkerOptions) restored {
	t.Helper()
	w := harness.New(t, binaries, harness.Options{})
	r := restored{scenarios: scenarios{w}}
	r.putGroup(group)
	r.deleted, r.changed, r.steady = thing{group, group + "-deleted", "1m"}, thing{group, group + "-changed", "1m"}, thing{group, group + "-steady", "1m"}
	worker := w.StartWorker(options)
	for _, one := range []thing{r.deleted, r.changed, r.steady} {
		file := w.Write(one.name+".yaml", strings.Replace(one.manifest("small"), "reconcile:", "labels: {part: "+one.name+"}\nreconcile:", 1))
		w.MustCLI("apply", "-f", file, "--wait", "--timeout", "30s")
		w.SetInterval(filepath.Join(w.Folder, one.name+".yaml"), 3*time.Second)
		w.UntilPhase(20*time.Second, one.id(), workflows.PhaseReady)
	}
	worker.Stop()
	w.RestartTemporal(func() { r.copyDatabase("temporal", "backup") })

	worker = w.StartWorker(options)
	w.MustCLI("delete", r.deleted.id(), "--yes")
	w.MustCLI("wait", r.deleted.id(), "--for", "deleted", "--timeout", "30s")
	r.apply(r.changed, "large")
	r.Until(20*time.Second, "the change is in Azure", func() (bool, string) {
		return r.Sim.Count(http.MethodPut, r.changed.id()) == 2, "no second PUT"
	})
	w.UntilPhase(20*time.Second, r.changed.id(), workflows.PhaseReady)
	w.MustCLI("freeze", "--reason", "after the backup")
	worker.Kill()
	w.RestartTemporal(func() { r.copyDatabase("backup", "temporal") })
	r.Sim.Reset()
	return r
}

// copyDatabase copies the database of the stopped Temporal server between two folders.
func (r restored) copyDatabase(from, to string) {
	r.T.Helper()
	from, to = filepath.Join(r.Folder, from), filepath.Join(r.Folder, to)
	if err := os.MkdirAll(to, 0o750); err != nil {
		r.T.Fatal(err)
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		content, err := os.ReadFile(filepath.Join(from, temporaldev.DatabaseFile+suffix))
		target := filepath.Join(to, temporaldev.DatabaseFile+suffix)
		if os.IsNotExist(err) {
			err = os.RemoveAll(target)
		} else if err == nil {
			err = os.WriteFile(target, content, 0o600)
		}
		if err != nil {
			r.T.Fatal(err)
		}
	}
}

// wantWrites checks the PUTs since the restore, and that nothing was deleted.
func (r restored) wantWrites(when string, want map[thing]int) {
	r.T.Helper()
	for _, one := range []thing{r.deleted, r.changed, r.steady} {
		if puts := r.Sim.Count(http.MethodPut, one.id()); puts != want[one] {
			r.T.Errorf("%s: %d PUTs of %s, want %d\n%s", when, puts, one.name, want[one], r.HistoryLines(one.id()))
		}
		if deletes := r.Sim.Count(http.MethodDelete, one.id()); deletes != 0 {
			r.T.Errorf("%s: %d DELETEs of %s", when, deletes, one.name)
		}
	}
}

// untilReason waits until a pass after the restore ended with the reason.
func (r restored) untilReason(one thing, reason resource.Reason) {
	r.T.Helper()
	r.UntilStatus(40*time.Second, one.id(), "is "+string(reason), func(status workflows.Status) bool {
		return status.Condition.Reason == reason
	})
}

// TestRestore plays docs/upgrade.md: back up, change, restore, start frozen, drift, release.
// Nothing is written before the release, by two workers and after a restart, and then only
// what was confirmed.
//
//guard:start-frozen
func TestRestore(t *testing.T) {
	t.Parallel()
	r := backUpAndRestore(t, "restore", harness.WorkerOptions{})
	frozen := harness.WorkerOptions{Args: []string{"--start-frozen=2026-11-22"}}
	first := r.StartWorker(frozen)
	r.StartWorker(frozen)
	r.untilReason(r.deleted, resource.ReasonFrozen)
	r.untilReason(r.changed, resource.ReasonFrozen)
	first.Kill()
	first = r.StartWorker(frozen)
	r.wantWrites("frozen", nil)
	for command, part := range map[string]string{"get": "start-frozen 2026-11-22", "doctor": "writes are frozen: everything by worker@", "why": "armature unfreeze"} {
		r.Until(20*time.Second, command+" shows the freeze", func() (bool, string) {
			shown := r.CLI(command)
			return strings.Contains(shown.Out+shown.Err, part), shown.String()
		})
	}
	var drift harness.Result
	r.Until(30*time.Second, "drift finds a worker after the kill", func() (bool, string) {
		drift = r.CLI("drift")
		return drift.Code == 2, drift.String()
	})
	for _, part := range []string{"+ example thing " + r.deleted.name, "properties.size: \"large\" -> \"small\"", "1 in sync"} {
		if drift.Code != 2 || !strings.Contains(drift.Out, part) {
			t.Errorf("want exit code 2 and %q of %s", part, drift)
		}
	}

	r.Sim.Patch(r.steady.id(), map[string]any{"properties": map[string]any{"size": "drifted"}})
	r.MustCLI("unfreeze", "-l", "part="+r.steady.name)
	r.Until(30*time.Second, "what was released is corrected", func() (bool, string) {
		return r.Sim.Count(http.MethodPut, r.steady.id()) == 1, r.HistoryLines(r.steady.id())
	})
	r.wantWrites("one part is released", map[thing]int{r.steady: 1})
	r.MustCLI("forget", r.deleted.id(), "--yes")
	r.apply(r.changed, "large")
	r.Until(20*time.Second, "all is confirmed", func() (bool, string) {
		drift = r.CLI("drift")
		return drift.Code == 0, drift.String()
	})
	r.MustCLI("unfreeze")
	r.RecordWorkflow(workflows.FreezeWorkflowID, "", "start-frozen")
	first.Kill()
	r.StartWorker(frozen)
	r.Sim.Patch(r.steady.id(), map[string]any{"properties": map[string]any{"size": "drifted"}})
	r.Until(30*time.Second, "a restart after the release does not freeze again", func() (bool, string) {
		return r.Sim.Count(http.MethodPut, r.steady.id()) == 2, r.HistoryLines(r.steady.id())
	})
	r.UntilPhase(20*time.Second, r.changed.id(), workflows.PhaseReady)
	r.wantWrites("all is released", map[thing]int{r.steady: 2})
}

// TestRestoreFenced restores without start-frozen. The records keep what was changed and what
// was deleted; an apply makes the restored state the newest again.
//
//guard:generation-fence
func TestRestoreFenced(t *testing.T) {
	t.Parallel()
	options := harness.WorkerOptions{Env: []string{"ARMATURE_GENERATION_FENCE=blob", "ARMATURE_GENERATION_FENCE_CONTAINER=" + startContainer(t)}}
	r := backUpAndRestore(t, "fence", options)
	r.StartWorker(options)
	r.untilReason(r.changed, resource.ReasonOlderThanRecorded)
	r.untilReason(r.deleted, resource.ReasonOlderThanRecorded)
	r.wantWrites("restored", nil)
	if shown := r.CLI("why", r.changed.id()); !strings.Contains(shown.Out, "apply the manifest that is meant") {
		t.Errorf("no advice in %s", shown)
	}
	r.apply(r.changed, "small")
	r.Until(30*time.Second, "the apply is the newest", func() (bool, string) {
		return r.Sim.Count(http.MethodPut, r.changed.id()) == 1, r.HistoryLines(r.changed.id())
	})
	r.UntilPhase(20*time.Second, r.changed.id(), workflows.PhaseReady)
	r.Sim.Patch(r.steady.id(), map[string]any{"properties": map[string]any{"size": "drifted"}})
	r.Until(30*time.Second, "what did not change since the backup is corrected as ever", func() (bool, string) {
		return r.Sim.Count(http.MethodPut, r.steady.id()) == 1, r.HistoryLines(r.steady.id())
	})
}

// TestReadOnly serves a task queue by a read-only worker with a client that may not even
// write: an apply ends in words, and a plan and a drift show the differences.
//
//guard:read-only
func TestReadOnly(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{})
	s := scenarios{w}
	s.putGroup("read-only")
	r := thing{group: "read-only", name: "read-only", interval: "1m"}
	w.StartWorker(harness.WorkerOptions{Args: []string{"--read-only"}})
	planned := s.CLI("plan", "-f", s.Write("plan.yaml", r.manifest("small")))
	if planned.Code != 2 || !strings.Contains(planned.Out, "create; held: this worker is read-only") {
		t.Errorf("want exit code 2 and why it is held of %s", planned)
	}
	s.apply(r, "small")
	s.UntilStatus(30*time.Second, r.id(), "is read-only", func(status workflows.Status) bool {
		return status.Condition.Reason == resource.ReasonReadOnly && status.Phase == workflows.PhaseBlocked
	})
	s.MustCLI("delete", r.id(), "--yes")
	s.MustCLI("wait", r.id(), "--for", "deleted", "--timeout", "30s") // it never existed
	if shown := s.CLI("doctor"); !strings.Contains(shown.Out, "the worker is read-only") {
		t.Errorf("doctor does not name it: %s", shown)
	}
	for _, request := range s.Sim.Requests("") {
		if request.Method != http.MethodGet && request.Method != http.MethodHead {
			t.Errorf("a read-only worker sent %s %s", request.Method, request.ID)
		}
	}
}
