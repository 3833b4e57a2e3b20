package starter

import (
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/workflows"
)

// stuck returns the status of a resource without its secret.
func stuck(t *testing.T, id string, pass int64) workflows.Status {
	t.Helper()
	return workflows.Status{
		ID: mustID(t, id), Phase: workflows.PhaseNotReady, Generation: 1, Pass: pass, NextTry: noon().Add(time.Duration(pass) * 5 * time.Second),
		Condition: resource.Condition{Reason: resource.ReasonSecretNotFound, Severity: resource.SeverityWarning, Message: "no secret env:PW", ObservedGeneration: 1},
	}
}

// TestWaitForAPerson checks that a wait ends when only a person helps, after one more
// try, and that it names the person.
func TestWaitForAPerson(t *testing.T) {
	cases := map[string]struct {
		reason  string
		args    []string
		cluster []workflows.Status
		code    int
		texts   []string
	}{
		"wait": {
			reason: "the second pass had the same result", args: []string{"wait", "--timeout", "5m"},
			cluster: []workflows.Status{stuck(t, cluster, 3), stuck(t, cluster, 4)}, code: cli.ExitFailed,
			texts: []string{
				"2 of 2 resources not Ready", "and waiting longer does not help", "no secret env:PW (the operator of the worker must act)",
				"(it waits for adx: the operator of the worker must act)",
			},
		},
		"no other try": {
			reason: "the next try may succeed", args: []string{"wait", "--timeout", "3s"},
			cluster: []workflows.Status{stuck(t, cluster, 3)}, code: cli.ExitFailed, texts: []string{"not Ready after 3s; `armature"},
		},
		"provided meanwhile": {
			reason: "the next try succeeded", args: []string{"wait", "adx", "--timeout", "5m"},
			cluster: []workflows.Status{stuck(t, cluster, 3), readyStatus()}, texts: []string{"1 resource Ready"},
		},
		"apply": {
			reason: "its own pass counts", args: []string{"apply", "-f", "MANIFESTS", "--wait", "--timeout", "5m"},
			cluster: []workflows.Status{stuck(t, cluster, 1)}, code: cli.ExitFailed, texts: []string{"the operator of the worker must act"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.temporal.moving = true
			w.temporal.manage(t, cluster, tc.cluster...)
			waiting := blockedStatus(t)
			waiting.Generation = waiting.Condition.ObservedGeneration
			w.temporal.manage(t, database, waiting)
			w.temporal.answers = map[string]any{
				strings.ToLower(cluster):  workflows.ApplyResult{Generation: 1, Changed: true},
				strings.ToLower(database): workflows.ApplyResult{Generation: 1, Changed: true},
			}
			folder := adx(t)
			for i, arg := range tc.args {
				tc.args[i] = strings.ReplaceAll(arg, "MANIFESTS", folder)
			}
			if code := w.run(tc.args...); code != tc.code {
				t.Errorf("%s: exit code %d, want %d", tc.reason, code, tc.code)
			}
			for _, text := range tc.texts {
				if !strings.Contains(w.out.String()+w.err.String(), text) {
					t.Errorf("%s: output lacks %q:\n%s%s", tc.reason, text, w.out, w.err)
				}
			}
		})
	}
}

// TestWaitForADeletionThatEnds checks that a wait for a deletion ends when the deletion
// was taken back, or the resource forgotten.
func TestWaitForADeletionThatEnds(t *testing.T) {
	deleted := deleting(blockedStatus(t))
	deleted.ID = mustID(t, cluster)
	kept := readyStatus()
	kept.ID = deleted.ID
	t.Run("taken back", func(t *testing.T) {
		w := newWorld()
		w.temporal.moving = true
		w.temporal.manage(t, cluster, deleted, kept)
		if code := w.run("wait", "adx", "--for", "deleted", "--timeout", "5m"); code != cli.ExitFailed || !strings.Contains(w.err.String(), "its deletion was taken back") {
			t.Errorf("exit code %d: %s", code, w.err)
		}
	})
	t.Run("forgotten", func(t *testing.T) {
		w := newWorld()
		w.temporal.manage(t, cluster, deleted)
		forgotten := workflows.Status{ID: deleted.ID, Phase: workflows.PhaseDeleting, Condition: resource.Condition{Reason: resource.ReasonDetached}}
		after := w.after
		w.after = func(d time.Duration) <-chan time.Time {
			w.temporal.end("Completed", forgotten)
			return after(d)
		}
		if code := w.run("wait", "adx", "--for", "deleted", "--timeout", "5m"); code != cli.ExitFailed || !strings.Contains(w.err.String(), "was not deleted") {
			t.Errorf("exit code %d: %s", code, w.err)
		}
	})
}
