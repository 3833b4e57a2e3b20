package starter

import (
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/workflows"
)

func TestUnansweredQueriesAreBounded(t *testing.T) {
	w := newWorld()
	for range 3 * backend.MaxUnanswered {
		w.temporal.manage(t, cluster, readyStatus())
	}
	w.temporal.silent = true
	if code := w.run("get"); code != cli.ExitOK {
		t.Fatalf("exit code %d: %s", code, w.err)
	}
	if n := w.temporal.asked; n > 2*backend.MaxUnanswered {
		t.Errorf("%d queries waited for their timeout, want about %d", n, backend.MaxUnanswered)
	}
}

func TestSendNeedsRunningWorkflow(t *testing.T) {
	for _, command := range []string{"delete", "pause", "resume", "reconcile"} {
		t.Run(command, func(t *testing.T) {
			w := newWorld()
			w.temporal.manage(t, cluster, readyStatus())
			w.temporal.end("Completed", readyStatus())
			if code := w.run(command, cluster); code != cli.ExitFailed || !strings.Contains(w.err.String(), "nothing was started") {
				t.Errorf("exit code %d: %s", code, w.err)
			}
			if len(w.temporal.sent) > 0 {
				t.Errorf("sent %v to a workflow that ended", w.temporal.sent)
			}
		})
	}
}

// TestNoWorkerNamesWorkflowQueue verifies that the message names the queue of the
// workflow, not the queue of the flag.
func TestNoWorkerNamesWorkflowQueue(t *testing.T) {
	w := newWorld()
	w.temporal.manage(t, cluster, readyStatus())
	w.temporal.change(t, cluster, func(r *backend.Record) { r.TaskQueue = "q7" })
	w.temporal.errs = map[string]error{strings.ToLower(cluster): &backend.NoWorkerError{TaskQueue: "armature"}}
	if code := w.run("resume", "adx"); code != cli.ExitUnreachable || !strings.Contains(w.err.String(), "no worker responds on task queue q7") {
		t.Errorf("exit code %d: %s", code, w.err)
	}
}

// TestStuckWorkflowIsNotMissingWorker verifies that the description of a workflow is read
// where no worker responds: a list shows a failing workflow task late.
func TestStuckWorkflowIsNotMissingWorker(t *testing.T) {
	w := newWorld()
	w.temporal.manage(t, cluster, readyStatus())
	w.temporal.described = "its workflow task fails (attempt 3)"
	w.temporal.silent = true
	w.temporal.errs = map[string]error{strings.ToLower(cluster): &backend.NoWorkerError{TaskQueue: "armature"}}
	if code := w.run("get"); code != cli.ExitOK || !strings.Contains(w.out.String()+w.err.String(), "1 resource is stuck") || strings.Contains(w.err.String(), "no worker responds") {
		t.Errorf("get: exit code %d:\n%s%s", code, w.out, w.err)
	}
	w.err.Reset()
	if code := w.run("resume", "adx"); code != cli.ExitUnreachable || !strings.Contains(w.err.String(), "its workflow task fails (attempt 3): workers on task queue") {
		t.Errorf("resume: exit code %d: %s", code, w.err)
	}
}

// TestStepIsNotMissingWorker verifies that a worker that is busy with a step of the resource
// is not reported as missing.
func TestStepIsNotMissingWorker(t *testing.T) {
	w := newWorld()
	w.temporal.manage(t, cluster, readyStatus())
	w.temporal.silent, w.temporal.stepSince = true, noon().Add(-4*time.Second)
	for command, want := range map[string]string{
		"describe": "runs a step since 11:59:56Z (4s ago) and responds after it; the status is from before",
		"why":      "a worker on task queue armature runs a step of it and responds after it",
	} {
		w.out.Reset()
		w.err.Reset()
		if code := w.run(command, "adx"); code != cli.ExitOK || !strings.Contains(w.out.String(), want) || strings.Contains(w.out.String()+w.err.String(), "start a worker") {
			t.Errorf("%s: exit code %d, want %q:\n%s%s", command, code, want, w.out, w.err)
		}
	}
	if code := w.run("get", "-o", "wide"); code != cli.ExitOK || !strings.Contains(w.err.String(), "workers run a step of 1 resource and respond after it") {
		t.Errorf("get: exit code %d: %s", code, w.err)
	}
}

// TestErrorThatIsWoken verifies that describe and why state what starts the next pass of a
// block with severity Error: also a change of what it waits for.
func TestErrorThatIsWoken(t *testing.T) {
	w := sampleWorld(t)
	status := blockedStatus(t)
	status.Phase, status.Condition.Severity, status.NextTry = workflows.PhaseFailed, resource.SeverityError, time.Time{}
	w.temporal.manage(t, database, status)
	for command, want := range map[string]string{
		"describe": "only after apply, reconcile or resume, or when what it waits for changes",
		"why":      "adx/telemetry checks again when adx changes; `armature reconcile adx/telemetry` retries now",
	} {
		w.out.Reset()
		if code := w.run(command, database); code != cli.ExitOK || !strings.Contains(w.out.String(), want) {
			t.Errorf("%s: exit code %d, want %q:\n%s", command, code, want, w.out)
		}
	}
}
