package starter

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
)

// Memory returns the spec of a record, and the error of its workflow.
func (f *fakeTemporal) Memory(_ context.Context, workflowID string) (activities.WorkflowMemory, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.silent {
		return activities.WorkflowMemory{}, &backend.NoWorkerError{TaskQueue: "armature"}
	}
	for _, r := range f.records {
		if r.WorkflowID == workflowID {
			return activities.WorkflowMemory{Desired: &resource.Desired{ID: r.ID, Name: r.Name, APIVersion: "2023-08-15", Owner: r.ID.Owner()}}, f.errs[workflowID]
		}
	}
	return activities.WorkflowMemory{}, backend.ErrNotManaged
}

// TestDrift compares what is managed without manifests: its codes are those of plan, and
// nothing is sent but dry runs.
func TestDrift(t *testing.T) {
	cases := map[string]struct {
		reason string
		plans  map[string]activities.PlanResourceResult
		failed string
		silent bool
		args   []string
		exit   int
		want   []string
		sent   int
	}{
		"InSync": {reason: "nothing differs", sent: 2, want: []string{"No changes: 2 in sync"}},
		"Changed": {reason: "a value differs", exit: 2, sent: 2, plans: map[string]activities.PlanResourceResult{"telemetry": {
			Action: activities.PlanUpdate, Reason: resource.ReasonDrift, Managed: true, Held: "ada@host froze everything",
			Differences: []resource.Difference{{Path: "properties.size", Observed: "1", Desired: "2", Rule: "changed"}},
		}}, want: []string{"~ ", "properties.size: 1 -> 2", "held: ada@host froze everything", "Drift: 1 to update, 1 in sync"}},
		"Observed": {reason: "a policy that only reports does report", exit: 2, sent: 2, plans: map[string]activities.PlanResourceResult{"telemetry": {
			Action: activities.PlanNone, Reason: resource.ReasonDriftDetected, Managed: true,
			Differences: []resource.Difference{{Path: "properties.size", Observed: "1", Desired: "2", Rule: "changed"}},
		}}, want: []string{"properties.size: 1 -> 2", "policy observe", "Drift: 1 to update"}},
		"Failed": {reason: "one resource that cannot be compared does not hide the others", exit: 1, sent: 1, failed: "telemetry", want: []string{"error CheckFailed: the query failed", "1 resource could not be compared"}},
		"Ended": {reason: "a resource that is managed no longer is left out", sent: 2, plans: map[string]activities.PlanResourceResult{"telemetry": {Action: activities.PlanCreate}},
			want: []string{"No changes: 1 in sync"}},
		"Name":    {reason: "one resource", args: []string{"adx/telemetry"}, sent: 1, want: []string{"No changes: 1 in sync"}},
		"Unknown": {reason: "an error is never 2", args: []string{"nothing"}, exit: 1, want: []string{"nothing"}},
		"Silent":  {reason: "nor is a missing worker", silent: true, exit: 1, want: []string{"no worker"}},
		"BadFlag": {reason: "nor a bad flag", args: []string{"--what"}, exit: 1, want: []string{"--what"}},
		"JSON":    {reason: "programs get the form of plan", args: []string{"-o", "json"}, sent: 2, want: []string{`"summary"`, `"none": 2`}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.temporal.plans, w.temporal.silent = c.plans, c.silent
			w.temporal.records = []backend.Record{backend.RecordOf(mustID(t, cluster)), backend.RecordOf(mustID(t, database))}
			if c.failed != "" {
				w.temporal.errs = map[string]error{backend.RecordOf(mustID(t, database)).WorkflowID: errors.New("the query failed")}
			}
			exit := w.run(append([]string{"drift"}, c.args...)...)
			out := w.out.String() + w.err.String()
			if exit != c.exit {
				t.Errorf("%s: exit %d, want %d\n%s", c.reason, exit, c.exit, out)
			}
			for _, part := range c.want {
				if !strings.Contains(out, part) {
					t.Errorf("%s: no %q in\n%s", c.reason, part, out)
				}
			}
			if len(w.temporal.sent) != c.sent {
				t.Errorf("%s: sent %v, want %d dry runs", c.reason, w.temporal.sent, c.sent)
			}
		})
	}
}

// TestDriftForPipelines checks the formats for test reports and code scanning: one case for each
// resource, and the place of each difference in the manifests of -f.
func TestDriftForPipelines(t *testing.T) {
	changed := activities.PlanResourceResult{Action: activities.PlanUpdate, Reason: resource.ReasonDrift, Managed: true, Findings: activities.Findings{Foreign: []string{"identity: x"}}, Differences: []resource.Difference{
		{Path: "kind", Observed: "ReadOnly", Desired: "ReadWrite", Rule: "changed"}, {Path: "properties.text", Parts: []resource.DifferencePart{{Path: "a", Observed: "1", Desired: "2"}}},
	}}
	folder := adx(t)
	file := filepath.Join(folder, "adx.yaml")
	for name, c := range map[string]struct {
		reason string
		args   []string
		failed bool
		exit   int
		want   []string
		not    []string
	}{
		"JUnit": {
			reason: "a case fails, the other passes", args: []string{"-o", "junit", "-f", folder}, exit: 2,
			want: []string{
				`<testsuites name="armature drift" tests="2" failures="1" errors="0">`, `<testcase name="kusto cluster adx" classname="` + cluster + `" file="` + file + `"></testcase>`,
				`<failure message="2 differences" type="drift">` + file + ":9:", `: warning: body.kind: ReadOnly -&gt; ReadWrite (changed)`, `properties.text: a: 1 -&gt; 2`,
			},
			not: []string{"identity"},
		},
		"JUnit of names":   {reason: "no manifest is named", args: []string{"-o", "junit"}, exit: 2, want: []string{`<testcase name="kusto cluster adx" classname="` + cluster + `"></testcase>`, "kind: ReadOnly -&gt; ReadWrite"}, not: []string{"file="}},
		"JUnit of failure": {reason: "an error is no failure", args: []string{"-o", "junit"}, failed: true, exit: 1, want: []string{`failures="0" errors="1"`, `<error message="it could not be compared" type="not-compared">`, "the query failed"}},
		"SARIF": {
			reason: "a result at its line", args: []string{"-o", "sarif", "-f", folder, "--foreign"}, exit: 2,
			want: []string{
				`"ruleId": "drift"`, `"level": "warning"`, `"uri": "` + "file://" + file + `"`, `"startLine": 9`, `"fullyQualifiedName": "` + database + `"`,
				`"text": "kusto database adx/telemetry: body.kind: ReadOnly -> ReadWrite (changed)"`, `"ruleId": "foreign-value"`, "identity: x",
			},
		},
		"SARIF of names": {reason: "the resource is the place", args: []string{"-o", "sarif"}, exit: 2, want: []string{`"fullyQualifiedName": "` + database + `"`}, not: []string{"physicalLocation", "foreign-value"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.temporal.plans = map[string]activities.PlanResourceResult{"telemetry": changed}
			for _, id := range []string{cluster, database} {
				w.temporal.manage(t, id, readyStatus())
			}
			if c.failed {
				w.temporal.errs = map[string]error{mustID(t, database).WorkflowID(): errors.New("the query failed")}
			}
			exit := w.run(append([]string{"drift"}, c.args...)...)
			out := w.out.String()
			if exit != c.exit {
				t.Errorf("%s: exit %d, want %d\n%s%s", c.reason, exit, c.exit, out, w.err)
			}
			for _, part := range c.want {
				if !strings.Contains(out, part) {
					t.Errorf("%s: no %q in\n%s", c.reason, part, out)
				}
			}
			for _, part := range c.not {
				if strings.Contains(out, part) {
					t.Errorf("%s: %q in\n%s", c.reason, part, out)
				}
			}
		})
	}
}
