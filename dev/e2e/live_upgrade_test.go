package e2e

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"

	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/workflows"
)

// liveUpgradeFrom is the commit before runs wrote summaries and followed an order of
// commands: the last one whose workers know neither.
const liveUpgradeFrom = "8bc313c501a953ed3b6f9d24871a53c580b69a95"

// TestLiveUpgrade replaces the worker of an earlier commit by this one while resources are
// managed, and takes the upgrade back: once without worker versions, once with them.
func TestLiveUpgrade(t *testing.T) {
	t.Parallel()
	old, err := harness.BuildCommit(t.Context(), liveUpgradeFrom, filepath.Join(t.TempDir(), "old"))
	if errors.Is(err, harness.ErrNoCommit) {
		t.Skipf("%v (a shallow clone?): `git fetch --unshallow` makes this test run", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, play := range map[string]func(*testing.T, harness.Binaries){
		"replaced": playReplacedWorker, "versions": playVersionsBack,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			play(t, old)
		})
	}
}

// upgrade is a world with an older worker and CLI and those of this tree.
type upgrade struct {
	scenarios
	old harness.Binaries
	new harness.Binaries
}

func newUpgrade(t *testing.T, old harness.Binaries) upgrade {
	t.Helper()
	w := harness.New(t, binaries, harness.Options{})
	quickPolls(w)
	return upgrade{scenarios{w}, old, binaries}
}

// with applies resources with the CLI of one side.
func (u upgrade) with(b harness.Binaries, names ...string) []string {
	u.T.Helper()
	u.Binaries.CLI = b.CLI
	var ids []string
	for _, name := range names {
		r := thing{group: "live", name: name, interval: "1h"}
		u.apply(r, "small")
		ids = append(ids, r.id())
	}
	u.Binaries.CLI = u.new.CLI
	return ids
}

// pass requests a pass of each resource and waits for it. A worker that was killed may
// hold the workflow task of a resource for longer than a command waits by default.
func (u upgrade) pass(ids ...string) {
	u.T.Helper()
	for _, id := range ids {
		u.MustCLI("reconcile", id, "--wait", "--timeout", "60s", "--worker-timeout", "60s")
	}
}

// failedTasks returns the workflow tasks of a resource's run that failed for another reason
// than the end of their worker.
func (u upgrade) failedTasks(id string) []string {
	u.T.Helper()
	var failed []string
	for _, event := range u.History(id).GetEvents() {
		if event.GetEventType() == enumspb.EVENT_TYPE_WORKFLOW_TASK_FAILED {
			failed = append(failed, event.GetWorkflowTaskFailedEventAttributes().GetFailure().GetMessage())
		}
	}
	return failed
}

// wantNoFailures checks that no task of the resources failed.
func (u upgrade) wantNoFailures(when string, ids ...string) {
	u.T.Helper()
	for _, id := range ids {
		if failed := u.failedTasks(id); len(failed) > 0 {
			u.T.Errorf("%s: tasks of %s failed: %v", when, id, failed)
		}
	}
}

// playReplacedWorker kills the older worker, starts the new one, and takes that back:
// without worker versions.
func playReplacedWorker(t *testing.T, old harness.Binaries) {
	u := newUpgrade(t, old)
	u.putGroup("live")
	first := u.StartWorker(harness.WorkerOptions{Binary: old.Worker})
	began := u.with(u.old, "a", "b", "paused")
	for _, id := range began {
		u.UntilPhase(60*time.Second, id, workflows.PhaseReady)
	}
	u.MustCLI("pause", began[2])
	// A CLI that was upgraded before the workers.
	newer := u.with(u.new, "newer-cli")
	u.UntilPhase(60*time.Second, newer[0], workflows.PhaseReady)
	u.UntilWoken(newer[0])
	u.Record(newer[0], "created-newer-starter")
	u.MustCLI("plan", "-f", u.Write("newer-cli.yaml", thing{group: "live", name: "newer-cli", interval: "1h"}.manifest("small")))
	first.Kill()

	second := u.StartWorker(harness.WorkerOptions{})
	u.pass(began[0], began[1], newer[0])
	u.MustCLI("resume", began[2])
	u.UntilPhase(60*time.Second, began[2], workflows.PhaseReady)
	created := u.with(u.new, "created")
	u.UntilPhase(60*time.Second, created[0], workflows.PhaseReady)
	all := append(append(append([]string{}, began...), newer...), created...)
	u.wantNoFailures("after the upgrade", all...)
	second.Kill()

	// Back: what the older worker began, it continues. What the new one wrote summaries for
	// waits for it: its tasks fail, and nothing changes in Azure.
	third := u.StartWorker(harness.WorkerOptions{Binary: old.Worker})
	u.pass(began...)
	u.wantNoFailures("after going back", began...)
	u.CLI("reconcile", created[0])
	u.Until(60*time.Second, "the older worker cannot continue a run of the new one", func() (bool, string) {
		failed := u.failedTasks(created[0])
		return strings.Contains(strings.Join(failed, " "), "TMPRL1100"), fmt.Sprint(failed)
	})
	u.Until(60*time.Second, "the server refuses updates of it", func() (bool, string) {
		shown := u.CLI("describe", created[0])
		return strings.Contains(shown.Out, "(NonDeterministicError, attempt "), shown.String()
	})
	third.Kill()

	u.StartWorker(harness.WorkerOptions{})
	u.pass(all...)
	u.wantNoFailures("after the second upgrade", began...)
}

// playVersionsBack upgrades with worker versions and makes the older version current again:
// runs stay where they began, so none fails.
func playVersionsBack(t *testing.T, old harness.Binaries) {
	const deployment = "armature-live"
	u := newUpgrade(t, old)
	u.putGroup("live")
	version := func(b harness.Binaries, build string) harness.WorkerOptions {
		return harness.WorkerOptions{Binary: b.Worker, Env: []string{"TEMPORAL_DEPLOYMENT_NAME=" + deployment, "TEMPORAL_WORKER_BUILD_ID=" + build}}
	}
	u.StartWorker(version(old, "old"))
	setCurrent(u.World, deployment, "old")
	began := u.with(u.old, "a")
	u.UntilPhase(60*time.Second, began[0], workflows.PhaseReady)
	u.StartWorker(version(u.new, "new"))
	setCurrent(u.World, deployment, "new")
	onNew := u.with(u.new, "b")
	u.UntilPhase(60*time.Second, onNew[0], workflows.PhaseReady)
	onVersion(u.World, onNew[0], deployment, "new")
	u.pass(append(began, onNew...)...)

	setCurrent(u.World, deployment, "old")
	after := u.with(u.new, "c")
	u.UntilPhase(60*time.Second, after[0], workflows.PhaseReady)
	onVersion(u.World, after[0], deployment, "old")
	all := append(append(append([]string{}, began...), onNew...), after...)
	u.pass(all...)
	u.wantNoFailures("after going back", all...)
}
