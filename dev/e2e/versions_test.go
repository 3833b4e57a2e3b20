package e2e

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/workflows"
)

// TestWorkerVersions moves a resource from one worker version to the next: at
// continue-as-new, and without a request to ARM.
func TestWorkerVersions(t *testing.T) {
	t.Parallel()
	const deployment = "armature-e2e"
	w := harness.New(t, binaries, harness.Options{})
	version := func(build string) harness.WorkerOptions {
		return harness.WorkerOptions{Env: []string{"TEMPORAL_DEPLOYMENT_NAME=" + deployment, "TEMPORAL_WORKER_BUILD_ID=" + build}}
	}
	first := w.StartWorker(version("one"))
	setCurrent(w, deployment, "one")
	s := scenarios{w}
	r := s.start(t, "moved", "1h")
	onVersion(w, r.id(), deployment, "one")
	run, before := w.RunID(r.id()), w.Sim.Counters().ByID[strings.ToLower(r.id())]

	w.StartWorker(version("two"))
	setCurrent(w, deployment, "two")
	// While paused, a message wakes the idle workflow and causes no request; the
	// server reports the new version some moments after it was set.
	w.MustCLI("pause", r.id())
	w.Until(60*time.Second, "another run", func() (bool, string) {
		result := w.MustCLI("reconcile", r.id())
		return w.RunID(r.id()) != run, result.Out
	})
	onVersion(w, r.id(), deployment, "two")
	plan(w, 2, "-f", w.Write("versions.yaml", thing{group: "moved", name: "other", interval: "1h"}.manifest("small")))
	runs, _, _ := w.WorkflowEvents(fmt.Sprintf("WorkflowType = '%s' AND TemporalWorkerDeploymentVersion = '%s:two'", workflows.PlanResourceWorkflow, deployment))
	if runs != 1 {
		t.Errorf("%d plans were made by the current version, want 1", runs)
	}
	if code := first.Stop(); code != 0 {
		t.Errorf("the first worker exits with %d, want 0", code)
	}
	status := w.UntilPhase(30*time.Second, r.id(), workflows.PhasePaused)
	if status.Generation != 1 || !status.Condition.Ready {
		t.Errorf("the second version starts with %+v, want the state of the first", status)
	}
	if now := w.Sim.Counters().ByID[strings.ToLower(r.id())]; !maps.Equal(now, before) {
		t.Errorf("the move cost requests to ARM: %v before, %v after", before, now)
	}
	w.MustCLI("resume", r.id())
	w.UntilPhase(30*time.Second, r.id(), workflows.PhaseReady)
}

// setCurrent makes a version the one for new workflows, as soon as the server
// knows its worker.
func setCurrent(w *harness.World, deployment, build string) {
	w.T.Helper()
	handle := w.Client.WorkerDeploymentClient().GetHandle(deployment)
	w.Until(30*time.Second, "version "+build+" is current", func() (bool, string) {
		_, err := handle.SetCurrentVersion(w.T.Context(), client.WorkerDeploymentSetCurrentVersionOptions{BuildID: build})
		return err == nil, fmt.Sprint(err)
	})
}

// onVersion waits until a workflow runs on a version.
func onVersion(w *harness.World, id, deployment, build string) {
	w.T.Helper()
	w.Until(30*time.Second, id+" runs on version "+build, func() (bool, string) {
		description, err := w.Client.DescribeWorkflowExecution(w.T.Context(), w.WorkflowID(id), "")
		if err != nil {
			return false, err.Error()
		}
		version := description.GetWorkflowExecutionInfo().GetVersioningInfo().GetDeploymentVersion()
		return version.GetDeploymentName() == deployment && version.GetBuildId() == build, version.String()
	})
}
