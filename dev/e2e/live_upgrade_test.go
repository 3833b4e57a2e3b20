package e2e

import (
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"

	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/workflows"
)

// upgrade is a world in which the worker is replaced while resources are managed.
type upgrade struct {
	scenarios
}

func newUpgrade(t *testing.T) upgrade {
	t.Helper()
	w := harness.New(t, binaries, harness.Options{})
	quickPolls(w)
	u := upgrade{scenarios{w}}
	u.putGroup("live")
	return u
}

// manage applies resources and waits until they are Ready.
func (u upgrade) manage(names ...string) []string {
	u.T.Helper()
	var ids []string
	for _, name := range names {
		r := thing{group: "live", name: name, interval: "1h"}
		u.apply(r, "small")
		ids = append(ids, r.id())
	}
	for _, id := range ids {
		u.UntilPhase(60*time.Second, id, workflows.PhaseReady)
	}
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

// wantNoFailures checks that no workflow task of the resources failed for another reason
// than the end of their worker.
func (u upgrade) wantNoFailures(when string, ids ...string) {
	u.T.Helper()
	for _, id := range ids {
		for _, event := range u.History(id).GetEvents() {
			if event.GetEventType() == enumspb.EVENT_TYPE_WORKFLOW_TASK_FAILED {
				u.T.Errorf("%s: a task of %s failed: %v", when, id, event.GetWorkflowTaskFailedEventAttributes().GetFailure().GetMessage())
			}
		}
	}
}

// TestReplacedWorker kills the worker and starts another process of it, without worker
// versions: it replays what the first one began.
func TestReplacedWorker(t *testing.T) {
	t.Parallel()
	u := newUpgrade(t)
	first := u.StartWorker(harness.WorkerOptions{})
	began := u.manage("a", "b", "paused")
	u.MustCLI("pause", began[2])
	first.Kill()

	u.StartWorker(harness.WorkerOptions{})
	u.pass(began[:2]...)
	u.MustCLI("resume", began[2])
	u.UntilPhase(60*time.Second, began[2], workflows.PhaseReady)
	all := append(began, u.manage("created")...)
	u.pass(all...)
	u.wantNoFailures("after the replacement", all...)
}

// TestVersionsBack upgrades with worker versions and makes the older version current again:
// runs stay where they began, so none fails.
func TestVersionsBack(t *testing.T) {
	t.Parallel()
	const deployment = "armature-live"
	u := newUpgrade(t)
	version := func(build string) harness.WorkerOptions {
		return harness.WorkerOptions{Env: []string{"TEMPORAL_DEPLOYMENT_NAME=" + deployment, "TEMPORAL_WORKER_BUILD_ID=" + build}}
	}
	u.StartWorker(version("old"))
	setCurrent(u.World, deployment, "old")
	all := u.manage("a")
	u.StartWorker(version("new"))
	setCurrent(u.World, deployment, "new")
	onNew := u.manage("b")
	onVersion(u.World, onNew[0], deployment, "new")
	all = append(all, onNew...)
	u.pass(all...)

	setCurrent(u.World, deployment, "old")
	after := u.manage("c")
	onVersion(u.World, after[0], deployment, "old")
	all = append(all, after...)
	u.pass(all...)
	u.wantNoFailures("after going back", all...)
}
