package starter

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/plan"
)

// TestPlanShowsSettings verifies that what an apply changes without a PUT is a change, in
// every format and in a plan file.
func TestPlanShowsSettings(t *testing.T) {
	w := newWorld()
	w.temporal.plans = map[string]activities.PlanResourceResult{"adx": {
		Action: activities.PlanNone, Reason: resource.ReasonInSync, Managed: true, Message: "in sync", Generation: 2,
		Settings: []resource.SpecChange{{Path: "api-version", Before: `"2023-05-02"`, After: `"2023-08-15"`}, {Path: "reconcile.policy", Before: `"protect"`, After: `"manage"`}},
	}}
	file := filepath.Join(t.TempDir(), "stack.plan")
	if code := w.run("plan", "-f", labelledAdx(t), "--out", file); code != exitChanges {
		t.Errorf("exit code %d, want %d: %s", code, exitChanges, w.err)
	}
	golden(t, "plan-settings.txt", w.out.String())
	if parsed, err := plan.ReadFile(file); err != nil || parsed.Steps[0].Action != activities.PlanConfigure {
		t.Errorf("the plan file has %+v, %v", parsed.Steps, err)
	}
	w.out.Reset()
	if code := w.run("apply", "--plan-file", file); code != 0 || len(w.temporal.started) != 2 {
		t.Errorf("exit code %d, started %v: %s", code, w.temporal.started, w.err)
	}
	// Another user has applied the settings meanwhile.
	w.temporal.plans = nil
	if code := w.run("apply", "--plan-file", file); code != 1 || !strings.Contains(w.err.String(), "kusto cluster adx  was planned to be configured only") {
		t.Errorf("exit code %d: %s", code, w.err)
	}
}

// TestPlanShowsBodies verifies that wide shows what is created, and table does not.
func TestPlanShowsBodies(t *testing.T) {
	folder := manifests(t, map[string]string{"sql.yaml": `type: Microsoft.Sql/servers@2023-08-01
name: sql
owner: ` + group + `
body:
  location: westus2
  tags: {a.b: 'x'}
  properties:
    administratorLogin: ada
    administratorLoginPassword: {$secret: 'env:ARMATURE_SECRET_SQL'}
    version: '12.0'
`})
	for output, want := range map[string]string{
		"table": "",
		"wide":  "    location: \"westus2\"\n    properties.administratorLogin: \"ada\"\n    properties.administratorLoginPassword: {\"$secret\":\"env:ARMATURE_SECRET_SQL\"}\n    properties.version: \"12.0\"\n    tags['a.b']: \"x\"\n",
	} {
		w := newWorld()
		w.temporal.plans = map[string]activities.PlanResourceResult{"sql": {Action: activities.PlanCreate}}
		if code := w.run("plan", "-f", folder, "-o", output); code != exitChanges || w.out.String() != "+ SQL server sql  create\n"+want+"\nPlan: 1 to create, 0 in sync.\n" {
			t.Errorf("%s: exit code %d:\n%s%s", output, code, w.out, w.err)
		}
	}
}

// TestPlanShowsJSON verifies that of texts that contain JSON the members that differ are
// shown.
func TestPlanShowsJSON(t *testing.T) {
	w := newWorld()
	w.temporal.plans = map[string]activities.PlanResourceResult{"adx": {Action: activities.PlanUpdate, Managed: true, Differences: []resource.Difference{{
		Path: "properties.document", Desired: `{"a":1,"b":2}`, Observed: `{"a":2}`, Rule: "value",
		Parts: []resource.DifferencePart{{Path: "a", Desired: "1", Observed: "2"}, {Path: "b", Desired: "2", Observed: "absent"}}, MoreParts: 1,
	}}}}
	want := "    properties.document: its JSON differs\n        a: 2 -> 1\n        b: absent -> 2\n        and 1 more member\n"
	if code := w.run("plan", "-f", labelledAdx(t)); code != exitChanges || !strings.Contains(w.out.String(), want) {
		t.Errorf("exit code %d:\n%s%s", code, w.out, w.err)
	}
}

// TestPlanWarnsOfOtherPlaces verifies that a resource to create is compared with managed
// ones of the same type, name and labels: its owner may have changed.
func TestPlanWarnsOfOtherPlaces(t *testing.T) {
	const elsewhere = "/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg2/providers/Microsoft."
	for name, c := range map[string]struct {
		reason  string
		managed string
		labels  []string
		known   bool
		want    bool
	}{
		"the same":      {reason: "its owner changed", managed: "Kusto/clusters/adx", labels: []string{"stack=prod"}, want: true},
		"other labels":  {reason: "another environment", managed: "Kusto/clusters/adx", labels: []string{"stack=test"}},
		"another type":  {reason: "names repeat between types", managed: "Storage/storageAccounts/adx", labels: []string{"stack=prod"}},
		"another name":  {reason: "another resource", managed: "Kusto/clusters/adx2", labels: []string{"stack=prod"}},
		"managed there": {reason: "it is created again where it was", managed: "Kusto/clusters/adx", labels: []string{"stack=prod"}, known: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.temporal.plans = map[string]activities.PlanResourceResult{"adx": {Action: activities.PlanCreate, Managed: c.known}}
			w.temporal.manage(t, elsewhere+c.managed)
			w.temporal.records[0].Labels = c.labels
			if code := w.run("plan", "-f", labelledAdx(t)); code != exitChanges {
				t.Errorf("exit code %d: %s", code, w.err)
			}
			if got := strings.Contains(w.out.String(), "warning: owner: "+elsewhere+c.managed+" is managed too"); got != c.want {
				t.Errorf("%s: warning %t, want %t:\n%s", c.reason, got, c.want, w.out)
			}
		})
	}
}

// TestPlanWithErrorsIsShown verifies that a plan that cannot be written is still shown.
func TestPlanWithErrorsIsShown(t *testing.T) {
	w := newWorld()
	w.temporal.plans = map[string]activities.PlanResourceResult{"adx": {Action: activities.PlanError, Reason: "AuthorizationFailed", Message: "no right to read it"}}
	file := filepath.Join(t.TempDir(), "stack.plan")
	if code := w.run("plan", "-f", labelledAdx(t), "--out", file, "-o", "markdown"); code != 1 || !strings.Contains(w.out.String(), "no right to read it") {
		t.Errorf("exit code %d:\n%s%s", code, w.out, w.err)
	}
	if _, err := os.Stat(file); err == nil || !strings.Contains(w.err.String(), "was not written") {
		t.Errorf("%v: %s", err, w.err)
	}
}
