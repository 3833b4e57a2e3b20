package starter

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

const oldCluster = group + "/providers/Microsoft.Kusto/clusters/old"

// planWorld returns a world with a plan of adx (an update), telemetry and old (a deletion) in a
// file.
func planWorld(t *testing.T, telemetry activities.PlanAction) (*world, string) {
	t.Helper()
	w := newWorld()
	w.temporal.plans = map[string]activities.PlanResourceResult{
		"adx":       {Action: activities.PlanUpdate, Fingerprint: "a1", Managed: true, Generation: 1},
		"telemetry": {Action: telemetry, Fingerprint: "t1"},
	}
	w.temporal.manage(t, oldCluster)
	w.temporal.records[0].Labels, w.temporal.records[0].Policy = []string{"stack=prod"}, resource.PolicyManage
	w.temporal.answers = map[string]any{
		strings.ToLower(cluster):    workflows.ApplyResult{Generation: 2, Changed: true},
		strings.ToLower(database):   workflows.ApplyResult{Generation: 1, Changed: true},
		strings.ToLower(oldCluster): workflows.DeleteResult{Changed: true},
	}
	file := filepath.Join(t.TempDir(), "stack.plan")
	if code := w.run("plan", "-f", labelledAdx(t), "--prune", "-l", "stack=prod", "--out", file); code != 2 || !strings.Contains(w.err.String(), file) {
		t.Fatalf("plan: exit code %d, %s", code, w.err)
	}
	w.temporal.sent = nil
	w.out.Reset()
	w.err.Reset()
	return w, file
}

func TestApplyPlanFile(t *testing.T) {
	cases := map[string]struct {
		reason    string
		telemetry activities.PlanAction
		// change is what happens between the plan and the apply.
		change func(*testing.T, *world, string)
		args   []string
		code   int
		// started and deleted are what is sent.
		started, deleted []string
		want             []string
	}{
		"Unchanged": {
			reason: "exactly the plan: what it showed, and the deletion", started: []string{"apply adx", "apply telemetry"}, deleted: []string{"delete old"},
		},
		"Blocked": {
			reason: "the plan did not show what a blocked resource needs, so it is skipped", telemetry: activities.PlanBlocked,
			started: []string{"apply adx"}, deleted: []string{"delete old"}, want: []string{"telemetry  skipped: it was blocked in the plan"},
		},
		"OtherValue": {
			reason: "the same action on another value is another plan", code: 1, want: []string{"adx  was planned to be updated with other values", "1 resource changed since it was made", "nothing was started"},
			change: func(_ *testing.T, w *world, _ string) {
				w.temporal.plans["adx"] = activities.PlanResourceResult{Action: activities.PlanUpdate, Fingerprint: "a2"}
			},
		},
		"CreatedByOtherTool": {
			reason: "another tool created it after the plan", code: 1, want: []string{"telemetry  was planned to be created"},
			change: func(_ *testing.T, w *world, _ string) { delete(w.temporal.plans, "telemetry") },
		},
		"NoLongerManaged": {
			reason: "the deletion is not to be sent twice", code: 1, want: []string{"old  is no longer managed"},
			change: func(_ *testing.T, w *world, _ string) { w.temporal.records[0].Running = false },
		},
		"OtherPolicy": {
			reason: "its policy now keeps it in Azure", code: 1, want: []string{"the policy was manage in the plan and is detach-on-delete"},
			change: func(_ *testing.T, w *world, _ string) { w.temporal.records[0].Policy = resource.PolicyDetachOnDelete },
		},
		"Edited": {
			reason: "an edited plan was never shown", code: 2, want: []string{"it was edited"},
			change: func(t *testing.T, _ *world, file string) { rewrite(t, file, `westus2`, `eastus`) },
		},
		"OtherFormat": {
			reason: "a plan of another armature", code: 2, want: []string{"its format is 7"},
			change: func(t *testing.T, _ *world, file string) { rewrite(t, file, `"format": 1`, `"format": 7`) },
		},
		"NoPlan":  {reason: "a file of another kind", code: 2, want: []string{"unknown field"}, change: func(t *testing.T, _ *world, file string) { rewrite(t, file, `"format"`, `"version"`) }},
		"WithF":   {reason: "one source only", code: 2, args: []string{"-f", "x"}, want: []string{"cannot be combined with --filename"}},
		"WithOne": {reason: "a plan is for what stays managed", code: 2, args: []string{"--once"}, want: []string{"cannot be combined with --once"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if c.telemetry == "" {
				c.telemetry = activities.PlanCreate
			}
			w, file := planWorld(t, c.telemetry)
			if c.change != nil {
				c.change(t, w, file)
			}
			code := w.run(append([]string{"apply", "--plan-file", file}, c.args...)...)
			output := w.out.String() + w.err.String()
			if code != c.code {
				t.Errorf("%s: exit code %d, want %d: %s", c.reason, code, c.code, output)
			}
			slices.Sort(w.temporal.started)
			deleted := slices.DeleteFunc(w.temporal.sent, func(s string) bool { return strings.HasPrefix(s, "plan ") })
			if !slices.Equal(w.temporal.started, c.started) || !slices.Equal(deleted, c.deleted) {
				t.Errorf("%s: started %v, deleted %v", c.reason, w.temporal.started, deleted)
			}
			for _, text := range c.want {
				if !strings.Contains(output, text) {
					t.Errorf("%s: output lacks %q:\n%s", c.reason, text, output)
				}
			}
		})
	}
}

// rewrite edits a file.
func rewrite(t *testing.T, file, old, replacement string) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(raw), old, replacement, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestPlanFileNeedsCompletePlan verifies that a plan with an error is not written.
func TestPlanFileNeedsCompletePlan(t *testing.T) {
	w := newWorld()
	w.temporal.plans = map[string]activities.PlanResourceResult{"adx": {Action: activities.PlanError, Message: "no right"}}
	file := filepath.Join(t.TempDir(), "stack.plan")
	code := w.run("plan", "-f", labelledAdx(t), "--out", file)
	if _, err := os.Stat(file); code != 1 || err == nil || !strings.Contains(w.err.String(), "was not written") {
		t.Errorf("exit code %d, file %v: %s", code, err, w.err)
	}
}
