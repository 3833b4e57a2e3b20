package starter

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/starter/internal/wait"
	"github.com/armature-io/armature/workflows"
)

func TestCompare(t *testing.T) {
	ready := resource.Condition{Ready: true, ObservedGeneration: 2}
	cases := map[string]struct {
		reason  string
		awaited wait.Resource
		view    backend.View
		goal    wait.Goal
		done    bool
		blocker string
	}{
		"ready":             {reason: "condition of the current generation", view: backend.View{Status: workflows.Status{Generation: 2, Condition: ready}}, goal: wait.Ready, done: true},
		"old condition":     {reason: "a newer spec is not applied yet", view: backend.View{Status: workflows.Status{Generation: 3, Condition: ready}}, goal: wait.Ready},
		"applied later":     {reason: "the result of apply is newer than the status", awaited: wait.Resource{MinGeneration: 3}, view: backend.View{Status: workflows.Status{Generation: 2, Condition: ready}}, goal: wait.Ready},
		"pass not run":      {reason: "reconcile --wait means that pass", awaited: wait.Resource{MinPass: 5}, view: backend.View{Status: workflows.Status{Generation: 2, Pass: 4, Condition: ready}}, goal: wait.Ready},
		"stale ready":       {reason: "search attributes are enough for a plain wait", view: backend.View{Status: workflows.Status{Condition: ready}, Stale: true}, goal: wait.Ready, done: true},
		"stale after apply": {reason: "search attributes know no generation", awaited: wait.Resource{MinGeneration: 1}, view: backend.View{Status: workflows.Status{Condition: ready}, Stale: true}, goal: wait.Ready},
		"failed":            {reason: "it is not retried by itself", view: backend.View{Status: workflows.Status{Phase: workflows.PhaseFailed}}, goal: wait.Ready, blocker: "`armature reconcile`"},
		"paused":            {reason: "no pass starts until resume", awaited: wait.Resource{MinPass: 5}, view: backend.View{Status: workflows.Status{Generation: 2, Pass: 4, Paused: true, Condition: ready}}, goal: wait.Ready, blocker: "paused"},
		"paused and ready":  {reason: "the goal is reached", view: backend.View{Status: workflows.Status{Generation: 2, Paused: true, Condition: ready}}, goal: wait.Ready, done: true},
		"failed before":     {reason: "the failure is of an older spec", awaited: wait.Resource{MinGeneration: 1}, view: backend.View{Status: workflows.Status{Phase: workflows.PhaseFailed}}, goal: wait.Ready},
		"deleting":          {reason: "it will not become Ready", view: backend.View{Status: workflows.Status{Deleting: true, Condition: ready}}, goal: wait.Ready, blocker: "being deleted"},
		"once":              {reason: "a run of --once that ended Ready", view: backend.View{Status: workflows.Status{Generation: 2, Condition: ready}, Unmanaged: true, Ended: "Completed"}, goal: wait.Ready, done: true},
		"terminated":        {reason: "it is no longer managed", view: backend.View{Unmanaged: true, Stale: true, Ended: "Terminated"}, goal: wait.Ready, blocker: "Terminated"},
		"never applied":     {reason: "there is nothing to wait for", view: backend.View{Unmanaged: true}, goal: wait.Ready, blocker: "not managed"},
		"deleted":           {reason: "the workflow ended with the deletion", view: backend.View{Status: workflows.Status{Deleted: true}, Unmanaged: true, Ended: "Completed"}, goal: wait.Deleted, done: true},
		"not managed":       {reason: "there is nothing to delete", view: backend.View{Unmanaged: true}, goal: wait.Deleted, done: true},
		"ended otherwise":   {reason: "a terminated workflow did not delete", view: backend.View{Unmanaged: true, Ended: "Terminated"}, goal: wait.Deleted, blocker: "did not delete"},
		"going":             {reason: "Azure still has it", view: backend.View{Status: workflows.Status{Deleting: true}}, goal: wait.Deleted},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := wait.Compare(tc.awaited, tc.view, tc.goal)
			if got.Done != tc.done || !strings.Contains(got.Blocker, tc.blocker) || (tc.blocker == "") != (got.Blocker == "") {
				t.Errorf("%s: done %v, blocker %q; want %v, %q", tc.reason, got.Done, got.Blocker, tc.done, tc.blocker)
			}
		})
	}
}

func TestWaitReady(t *testing.T) {
	w := newWorld()
	w.temporal.moving = true
	later := blockedStatus(t)
	later.Condition.Message += " (read 13s ago)"
	w.temporal.manage(t, database, blockedStatus(t), later, readyStatus())
	w.temporal.manage(t, cluster, readyStatus())
	if code := w.run("wait"); code != cli.ExitOK {
		t.Fatalf("exit code %d: %s", code, w.err)
	}
	golden(t, "wait.txt", w.out.String())
}

func TestWaitTimeout(t *testing.T) {
	w := newWorld()
	w.temporal.manage(t, database, blockedStatus(t))
	w.temporal.manage(t, cluster, readyStatus())
	if code := w.run("wait", "--timeout", "3s"); code != cli.ExitFailed {
		t.Errorf("exit code %d", code)
	}
	golden(t, "wait-timeout.txt", w.out.String()+w.err.String())
}

func TestWaitInterrupted(t *testing.T) {
	w := newWorld()
	w.temporal.manage(t, database, blockedStatus(t))
	ctx, cancel := context.WithCancel(context.Background())
	w.after = func(time.Duration) <-chan time.Time { cancel(); return nil }
	if code := run(ctx, w.app, []string{"wait"}); code != cli.ExitFailed || !strings.Contains(w.err.String(), "the workflows continue") {
		t.Errorf("code %d: %s", code, w.err)
	}
}

func TestWaitOnTerminal(t *testing.T) {
	w := newWorld()
	w.temporal.moving = true
	w.terminal = true
	w.temporal.manage(t, database, blockedStatus(t), readyStatus())
	if code := w.run("wait"); code != cli.ExitOK {
		t.Fatalf("exit code %d: %s", code, w.err)
	}
	if !strings.Contains(w.out.String(), "Blocked 2m10s, waits for adx: the cluster adx is…") {
		t.Errorf("a narrow line lacks the reason of the wait:\n%q", w.out)
	}
	if !strings.Contains(w.out.String(), "\x1b[2A\r\x1b[J") {
		t.Errorf("the block of two lines is not redrawn:\n%q", w.out)
	}
	for _, line := range strings.Split(w.out.String(), "\n") {
		if n := len([]rune(line)); n > 90 {
			t.Errorf("a line of %d characters wraps and breaks the redraw: %q", n, line)
		}
	}
}

func TestApplyWait(t *testing.T) {
	w := newWorld()
	w.temporal.moving = true
	old := readyStatus()
	fresh := readyStatus()
	fresh.Generation, fresh.Condition.ObservedGeneration = 2, 2
	w.temporal.manage(t, cluster, old, fresh)
	w.temporal.manage(t, database, fresh)
	w.temporal.answers = map[string]any{
		strings.ToLower(cluster):  workflows.ApplyResult{Generation: 2, Changed: true},
		strings.ToLower(database): workflows.ApplyResult{Generation: 2},
	}
	if code := w.run("apply", "-f", adx(t), "--wait"); code != cli.ExitOK {
		t.Fatalf("exit code %d: %s", code, w.err)
	}
	if !strings.Contains(w.out.String(), "2 resources Ready after 1s") {
		t.Errorf("the Ready of an older generation counted:\n%s", w.out)
	}
}

func TestReconcileWait(t *testing.T) {
	w := newWorld()
	before, after := readyStatus(), readyStatus()
	after.Pass = 5
	w.temporal.manage(t, cluster, before, before, after)
	w.temporal.answers = map[string]any{strings.ToLower(cluster): workflows.ReconcileResult{Pass: 5}}
	if code := w.run("reconcile", "adx", "--wait", "--force", "--reason", "INC-42"); code != cli.ExitOK {
		t.Fatalf("exit code %d: %s", code, w.err)
	}
	if !strings.Contains(w.out.String(), "reconciling (pass 5)") || !strings.Contains(w.out.String(), "Ready after 2s") {
		t.Errorf("it did not wait for pass 5:\n%s", w.out)
	}
	want := workflows.ReconcileInput{Force: true, Reason: "INC-42", By: "ana@laptop"}
	if w.temporal.inputs[0] != want {
		t.Errorf("sent %+v, want %+v", w.temporal.inputs[0], want)
	}
}

// TestWaitSelector verifies that a selector that chooses nothing fails a wait for
// Ready, and not a wait for a deletion.
func TestWaitSelector(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		args   []string
		code   int
		text   string
	}{
		"chosen":        {reason: "only what has the labels", args: []string{"wait", "-l", "team=data"}, code: cli.ExitOK, text: "1 resource Ready"},
		"none ready":    {reason: "a typo in the selector", args: []string{"wait", "-l", "stack=prdo"}, code: cli.ExitFailed, text: "no managed resource matches"},
		"none deleted":  {reason: "everything is deleted already", args: []string{"wait", "-l", "stack=prdo", "--for", "deleted"}, code: cli.ExitOK, text: "nothing to wait for"},
		"bad selector":  {reason: "shows the form", args: []string{"wait", "-l", "prod"}, code: cli.ExitBadInput, text: "key=value"},
		"name and file": {reason: "one or the other", args: []string{"wait", "-l", "a=b", "-f", "x"}, code: cli.ExitBadInput, text: "cannot be combined"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			status := readyStatus()
			status.Labels = map[string]string{"team": "data"}
			w.temporal.manage(t, cluster, status)
			w.temporal.manage(t, vnet, blockedStatus(t))
			w.temporal.change(t, vnet, func(r *backend.Record) { r.Labels = []string{"stack=prod"} })
			if code := w.run(tc.args...); code != tc.code || !strings.Contains(w.out.String()+w.err.String(), tc.text) {
				t.Errorf("%s: exit code %d, want %d and %q:\n%s%s", tc.reason, code, tc.code, tc.text, w.out, w.err)
			}
		})
	}
}

// TestWaitPendingPass verifies that a wait does not show the old condition of a
// resource whose next pass it waits for.
func TestWaitPendingPass(t *testing.T) {
	v := backend.View{Status: workflows.Status{Generation: 3, Condition: resource.Condition{Ready: true, ObservedGeneration: 2}}}
	if got := wait.Compare(wait.Resource{}, v, wait.Ready); got.Done || got.Pending == "" {
		t.Errorf("outcome is %+v, want a pending pass", got)
	}
}

// TestWaitDeletedBefore verifies that a deletion of what Azure no longer has shows the
// workflow's sentence.
func TestWaitDeletedBefore(t *testing.T) {
	w := newWorld()
	w.temporal.manage(t, cluster, readyStatus())
	final := workflows.Status{ID: mustID(t, cluster), Deleted: true, Phase: workflows.PhaseDeleting, Condition: resource.Condition{Reason: resource.ReasonDeleted, Message: "the resource does not exist"}}
	w.temporal.end("Completed", final)
	w.run("wait", cluster, "--for", "deleted")
	if !strings.Contains(w.out.String(), "adx  Deleted: the resource does not exist") {
		t.Errorf("the log is\n%s", w.out)
	}
}

// TestWaitObserved verifies that a wait ends at drift of a resource that is only observed.
func TestWaitObserved(t *testing.T) {
	w := newWorld()
	w.temporal.manage(t, cluster, workflows.Status{Phase: workflows.PhaseNotReady, Generation: 1, Condition: resource.Condition{
		Reason: resource.ReasonDriftDetected, Severity: resource.SeverityWarning, ObservedGeneration: 1,
	}})
	if code := w.run("wait", "adx"); code != 1 || !strings.Contains(w.out.String()+w.err.String(), "policy observe reports drift and changes nothing") {
		t.Errorf("exit code %d: %s %s", code, w.out, w.err)
	}
}
