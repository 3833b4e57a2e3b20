package starter

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/workflows"
	"github.com/google/go-cmp/cmp"
)

// TestApplyJSON verifies the document of an apply, its exit codes, and that it is the only
// output.
func TestApplyJSON(t *testing.T) {
	clusterWorkflow, databaseWorkflow := strings.ToLower(cluster), strings.ToLower(database)
	both := map[string]any{clusterWorkflow: workflows.ApplyResult{Generation: 3, Changed: true}, databaseWorkflow: workflows.ApplyResult{Generation: 1, Changed: true}}
	for name, c := range map[string]struct {
		reason  string
		answers map[string]any
		errs    map[string]error
		args    []string
		code    int
		golden  string
		// has is a part of a document whose rest depends on what is sent first.
		has string
	}{
		"applied": {reason: "the words do not change", answers: both, golden: "apply-json.txt"},
		"yaml":    {reason: "the same value", answers: both, args: []string{"-o", "yaml"}, golden: "apply-yaml.txt"},
		"refused": {
			reason: "what was refused is there with its message", code: cli.ExitFailed, golden: "apply-json-refused.txt",
			answers: map[string]any{databaseWorkflow: workflows.ApplyResult{Generation: 1, Paused: true}},
			errs:    map[string]error{clusterWorkflow: &backend.RefusedError{Kind: workflows.RefusedDeleting, Text: "adx is being deleted"}},
		},
		"failed": {
			reason: "one that was not reached", code: cli.ExitFailed, golden: "apply-json-failed.txt", answers: both,
			errs: map[string]error{clusterWorkflow: errors.New("the message is too large")},
		},
		"no worker": {
			reason: "there is a document where messages were sent", code: cli.ExitUnreachable, has: `"error": "kusto `,
			errs: map[string]error{clusterWorkflow: &backend.NoWorkerError{TaskQueue: "armature"}, databaseWorkflow: &backend.NoWorkerError{TaskQueue: "armature"}},
		},
		"bad input": {reason: "nothing was started, so there is no document", args: []string{"-f", "/no/such/file"}, code: cli.ExitBadInput},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.terminal = true
			w.temporal.answers, w.temporal.errs = c.answers, c.errs
			if code := w.run(append([]string{"apply", "-f", adx(t), "-o", "json"}, c.args...)...); code != c.code {
				t.Errorf("%s: exit code %d, want %d: %s", c.reason, code, c.code, w.err)
			}
			if c.golden == "" {
				if !strings.Contains(w.out.String(), c.has) || c.has == "" && w.out.Len() > 0 {
					t.Errorf("%s: %s", c.reason, w.out)
				}
				return
			}
			golden(t, c.golden, w.out.String())
			if c.code == 0 && !strings.Contains(w.err.String(), "kusto cluster adx  configured (generation 3)") {
				t.Errorf("%s: no progress on stderr: %s", c.reason, w.err)
			}
		})
	}
}

// TestApplySuperseded verifies that a wait names the later spec and its user, in its text
// and in its document, and ends as the later one does.
func TestApplySuperseded(t *testing.T) {
	ready := func(generation int64, by string) workflows.Status {
		return workflows.Status{
			Phase: workflows.PhaseReady, Generation: generation, AppliedBy: by,
			Condition: resource.Condition{Ready: true, Reason: resource.ReasonSucceeded, Message: "in sync", ObservedGeneration: generation, LastTransitionTime: noon()},
		}
	}
	for name, c := range map[string]struct {
		reason string
		now    workflows.Status
		text   string
		want   map[string]any
	}{
		"not":     {reason: "its own spec is in force", now: ready(2, "ana@laptop")},
		"later":   {reason: "the later spec is in force", now: ready(3, "bob@ci"), text: "kusto cluster adx  generation 2 was superseded: generation 3 by bob@ci replaced it\n", want: map[string]any{"generation": 3.0, "by": "bob@ci"}},
		"no user": {reason: "a client may name none", now: ready(4, ""), text: "generation 2 was superseded: generation 4 replaced it\n", want: map[string]any{"generation": 4.0}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, output := range []string{"table", "json"} {
				w := newWorld()
				w.temporal.answers = map[string]any{strings.ToLower(cluster): workflows.ApplyResult{Generation: 2, Changed: true}, strings.ToLower(database): workflows.ApplyResult{Generation: 1}}
				w.temporal.manage(t, cluster, c.now)
				w.temporal.manage(t, database, ready(1, "ana@laptop"))
				if code := w.run("apply", "-f", adx(t), "--wait", "-o", output); code != cli.ExitOK {
					t.Fatalf("%s: exit code %d: %s", c.reason, code, w.err)
				}
				if text := w.out.String() + w.err.String(); !strings.Contains(text, c.text) || strings.Contains(text, "was superseded") != (c.text != "") {
					t.Errorf("%s: %s", c.reason, text)
				}
				if output == "table" {
					continue
				}
				var document struct {
					Resources []struct {
						Name, Result, Phase string
						Condition           *resource.Condition
						SupersededBy        map[string]any
					}
				}
				if err := json.Unmarshal(w.out.Bytes(), &document); err != nil {
					t.Fatalf("%v of %s", err, w.out)
				}
				first := document.Resources[0]
				if diff := cmp.Diff(c.want, first.SupersededBy); diff != "" || first.Name != "adx" || first.Phase != "Ready" || first.Condition == nil || !first.Condition.Ready || document.Resources[1].SupersededBy != nil {
					t.Errorf("%s: %+v (-want +got):\n%s", c.reason, document, diff)
				}
			}
		})
	}
}

// TestApplyJSONOfPrune verifies the results of resources that a prune deletes, and of one
// that a plan file skips.
func TestApplyJSONOfPrune(t *testing.T) {
	w := newWorld()
	old := group + "/providers/Microsoft.Kusto/clusters/old"
	w.temporal.manage(t, old, workflows.Status{Phase: workflows.PhaseReady, Condition: resource.Condition{Ready: true, Reason: resource.ReasonSucceeded, LastTransitionTime: noon().Add(-time.Hour)}})
	w.temporal.answers = map[string]any{strings.ToLower(cluster): workflows.ApplyResult{Generation: 1, Changed: true}, strings.ToLower(database): workflows.ApplyResult{Generation: 1}, strings.ToLower(old): workflows.DeleteResult{Changed: true}}
	if code := w.run("apply", "-f", labelledAdx(t), "--prune", "-l", "stack=prod", "--yes", "-o", "json"); code != cli.ExitOK {
		t.Fatalf("exit code %d: %s", code, w.err)
	}
	golden(t, "apply-json-prune.txt", w.out.String())

	w = newWorld()
	file := t.TempDir() + "/stack.plan"
	w.temporal.plans = map[string]activities.PlanResourceResult{"telemetry": {Action: activities.PlanBlocked, Message: "its owner is absent"}}
	w.run("plan", "-f", labelledAdx(t), "--out", file)
	w.out.Reset()
	w.temporal.answers = map[string]any{strings.ToLower(cluster): workflows.ApplyResult{Generation: 1, Changed: true}}
	if code := w.run("apply", "--plan-file", file, "-o", "json"); code != cli.ExitOK || !strings.Contains(w.out.String(), `"result": "skipped"`) {
		t.Errorf("exit code %d: %s%s", code, w.out, w.err)
	}
}
