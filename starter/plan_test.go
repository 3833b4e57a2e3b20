package starter

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
)

// Plan returns the prepared result of a resource name, in sync by default.
func (f *fakeTemporal) Plan(_ context.Context, workflowID string, in activities.PlanResourceInput) (activities.PlanResourceResult, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.silent {
		return activities.PlanResourceResult{}, &backend.NoWorkerError{TaskQueue: "armature"}
	}
	if err := f.errs[in.Desired.ID.WorkflowID()]; err != nil && in.Desired.APIVersion == "" {
		return activities.PlanResourceResult{}, err
	}
	f.sent = append(f.sent, "plan "+in.Desired.ID.Name())
	f.inputs = append(f.inputs, in)
	f.runs = append(f.runs, workflowID)
	result, known := f.plans[in.Desired.ID.Name()]
	if !known {
		result = activities.PlanResourceResult{Action: activities.PlanNone, Reason: resource.ReasonInSync, Managed: true}
	}
	result.APIVersion = in.Desired.APIVersion
	if result.Fingerprint == "" {
		result.Fingerprint = "f"
	}
	return result, nil
}

// PlanDeletion returns the prepared facts of a resource name; by default the resource exists,
// is managed, and nothing refuses its deletion.
func (f *fakeTemporal) PlanDeletion(_ context.Context, _, _ string, in activities.PlanDeletionInput) (activities.PlanDeletionResult, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.silent {
		return activities.PlanDeletionResult{}, &backend.NoWorkerError{TaskQueue: "armature"}
	}
	if facts, known := f.deletions[in.ID.Name()]; known {
		return facts, nil
	}
	facts := activities.PlanDeletionResult{Managed: true, Exists: true, APIVersion: "2023-08-15"}
	for _, r := range f.records {
		if r.ID.Equal(in.ID) {
			facts.Policy, facts.Managed = r.Policy, r.Running
		}
	}
	if statuses := f.statuses[in.ID.WorkflowID()]; len(statuses) > 0 && statuses[0].Deletion != nil {
		facts.Settings = *statuses[0].Deletion
	}
	return facts, nil
}

// StartStack records the stack.
func (f *fakeTemporal) StartStack(_ context.Context, _ string, stack activities.Stack) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stacks = append(f.stacks, stack)
	return nil
}

func TestPlan(t *testing.T) {
	changed := activities.PlanResourceResult{
		Action: activities.PlanUpdate, Reason: resource.ReasonDrift, Managed: true, More: 2, Drops: []string{"identity"},
		Message:     `sku.name is "S1", wanted "S2" (and 3 more)`,
		Differences: []resource.Difference{{Path: "sku.name", Desired: `"S2"`, Observed: `"S1"`, Rule: "value"}},
	}
	cases := map[string]struct {
		reason string
		plans  map[string]activities.PlanResourceResult
		args   []string
		// stale is managed with the label and has no manifest.
		stale  string
		silent bool
		code   int
		golden string
		err    string
	}{
		"InSync": {reason: "exit code 0: nothing to do", code: 0, golden: "plan-in-sync.txt"},
		"Takeover": {
			reason: "what exists as it should is no change, but apply begins to manage it",
			plans:  map[string]activities.PlanResourceResult{"adx": {Action: activities.PlanNone, Reason: resource.ReasonInSync}}, golden: "plan-takeover.txt",
		},
		"Changes": {
			reason: "exit code 2, each path, what the PUT removes", code: 2, golden: "plan-changes.txt",
			plans: map[string]activities.PlanResourceResult{"adx": changed, "telemetry": {Action: activities.PlanCreate, Reason: resource.ReasonNotFound}},
		},
		"CreateAll": {
			reason: "each after its dependencies", code: 2, golden: "plan-create.txt",
			plans: map[string]activities.PlanResourceResult{
				"adx":       {Action: activities.PlanCreate, Reason: resource.ReasonNotFound},
				"telemetry": {Action: activities.PlanCreate, Reason: resource.ReasonNotFound, After: []resource.ID{mustID(t, cluster)}},
			},
		},
		"Blocked": {
			reason: "what a blocked resource needs is unknown: no exit code 0", code: 2, golden: "plan-blocked.txt",
			plans: map[string]activities.PlanResourceResult{"telemetry": {
				Action: activities.PlanBlocked, Reason: resource.ReasonReconciliationBlocked, WaitingFor: []resource.ID{mustID(t, cluster)},
				Message: `Owner "adx" (Microsoft.Kusto/clusters) is in provisioning state "Updating"`,
			}},
		},
		"Error": {
			reason: "an error outweighs changes", code: 1, golden: "plan-error.txt", err: "armature: 1 resource could not be planned, see above\n",
			plans: map[string]activities.PlanResourceResult{
				"adx":       {Action: activities.PlanError, Reason: "AuthorizationFailed", Message: "no right to read it"},
				"telemetry": {Action: activities.PlanCreate},
			},
		},
		"NotTaken": {
			reason: "a warning of a resource in sync is shown", golden: "plan-not-taken.txt",
			plans: map[string]activities.PlanResourceResult{"adx": {
				Action: activities.PlanNone, Reason: resource.ReasonChangeNotTaken, Severity: resource.SeverityWarning, Managed: true,
				Message: "Azure accepted the last PUT and kept its own value of sku.name",
			}},
		},
		"Owned": {
			reason: "a value of another owner is no change, and the plan names the owner", golden: "plan-owned.txt",
			plans: map[string]activities.PlanResourceResult{"adx": {
				Action: activities.PlanNone, Reason: resource.ReasonInSync, Managed: true, Message: "In sync: Azure matches the manifest",
				Findings: activities.Findings{Owned: []string{"sku.capacity belongs to autoscale setting a1"}, Kept: []string{"properties.size"}},
			}},
		},
		"Prune": {
			reason: "what no manifest names is deleted", args: []string{"--prune", "-l", "stack=prod"}, stale: group + "/providers/Microsoft.Kusto/clusters/old",
			code: 2, golden: "plan-prune.txt",
		},
		"NoWorker": {reason: "every error of plan has exit code 1", silent: true, code: 1},
		"BadFlag":  {reason: "also a bad flag, or a script would take it for changes", args: []string{"--no-such"}, code: 1},
		"BadArg":   {reason: "also an argument", args: []string{"adx"}, code: 1},
		"BadInput": {reason: "also a bad manifest", args: []string{"-f", "/no/such/file"}, code: 1},
		"BadPrune": {reason: "also flags that contradict each other", args: []string{"--prune"}, code: 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.temporal.plans, w.temporal.silent = c.plans, c.silent
			if c.stale != "" {
				w.temporal.manage(t, c.stale)
				w.temporal.records[0].Labels = []string{"stack=prod"}
			}
			folder := labelledAdx(t)
			if code := w.run(append([]string{"plan", "-f", folder}, c.args...)...); code != c.code {
				t.Errorf("%s: exit code %d, want %d; %s", c.reason, code, c.code, w.err)
			}
			if c.golden != "" {
				golden(t, c.golden, w.out.String())
				if w.err.String() != c.err {
					t.Errorf("%s: stderr %q, want %q", c.reason, w.err, c.err)
				}
			}
			if len(w.temporal.started) != 0 || len(w.temporal.sent) > 2 {
				t.Errorf("a plan sent %v and started %v", w.temporal.sent, w.temporal.started)
			}
		})
	}
}

// labelledAdx returns adx with a label of its stack.
func labelledAdx(t *testing.T) string {
	t.Helper()
	return manifests(t, map[string]string{"adx.yaml": `type: Microsoft.Kusto/clusters@2023-08-15
name: adx
owner: ` + group + `
labels: {stack: prod}
body: {location: westus2, sku: {name: S2, tier: Standard}}
---
type: Microsoft.Kusto/clusters/databases@2023-08-15
name: telemetry
owner: adx
labels: {stack: prod}
body: {location: westus2, kind: ReadWrite}
`})
}

// TestPlanFormats verifies the plan in each format.
func TestPlanFormats(t *testing.T) {
	for _, output := range cli.Formats() {
		t.Run(output, func(t *testing.T) {
			w := newWorld()
			w.temporal.plans = map[string]activities.PlanResourceResult{"telemetry": {
				Action: activities.PlanUpdate, Reason: resource.ReasonDrift, Managed: true, Message: `sku.name is "S1", wanted "S2"`,
				Differences: []resource.Difference{{Path: "sku.name", Desired: `"S2"`, Observed: `"S1"`, Rule: "value"}},
			}}
			if code := w.run("plan", "-f", labelledAdx(t), "-o", output); code != exitChanges {
				t.Errorf("exit code %d: %s", code, w.err)
			}
			golden(t, "plan-as-"+output+".txt", w.out.String())
		})
	}
}

// TestPlanJSON verifies the JSON of a plan, and the inputs of the dry runs.
func TestPlanJSON(t *testing.T) {
	w := newWorld()
	w.temporal.plans = map[string]activities.PlanResourceResult{"adx": {Action: activities.PlanCreate}}
	if code := w.run("plan", "-f", labelledAdx(t), "-o", "json"); code != 2 {
		t.Errorf("exit code %d: %s", code, w.err)
	}
	var got struct {
		Resources []struct{ ID, Name, Action, Fingerprint string }
		Summary   map[string]int
	}
	if err := json.Unmarshal(w.out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Resources) != 2 || got.Resources[0].ID != cluster || got.Resources[0].Action != "create" || got.Summary["create"] != 1 || got.Summary["none"] != 1 {
		t.Errorf("got %+v of\n%s", got, w.out)
	}
	for i, in := range w.temporal.inputs {
		in := in.(activities.PlanResourceInput)
		if in.Desired.Name == "telemetry" && (len(in.Together) != 1 || in.Together[0].String() != cluster) {
			t.Errorf("the worker does not learn that the owner is part of the plan: %+v", in.Together)
		}
		if !strings.HasPrefix(w.temporal.runs[i], "plan:") {
			t.Errorf("workflow ID %s", w.temporal.runs[i])
		}
	}
	if w.temporal.runs[0] == w.temporal.runs[1] {
		t.Error("two runs have one workflow ID")
	}
}

// TestPlanColors verifies that only a terminal gets colors.
func TestPlanColors(t *testing.T) {
	w := newWorld()
	w.color = true
	w.temporal.plans = map[string]activities.PlanResourceResult{"adx": {Action: activities.PlanCreate}}
	w.run("plan", "-f", labelledAdx(t))
	if !strings.Contains(w.out.String(), "\x1b[32m+ kusto cluster adx") {
		t.Errorf("no color in %q", w.out)
	}
}

// TestPlanPrunePolicy verifies that a plan shows the effect of a policy on a deletion, and
// refuses what a prune refuses.
func TestPlanPrunePolicy(t *testing.T) {
	for policy, c := range map[resource.Policy]struct {
		want string
		code int
	}{
		resource.PolicyManage:         {"- kusto cluster old  delete\n", exitChanges},
		resource.PolicyDetachOnDelete: {"= kusto cluster old  kept: it is no longer managed and stays in Azure (policy detach-on-delete)\n", exitChanges},
		resource.PolicyObserve:        {"= kusto cluster old  kept: it is no longer managed and stays in Azure (policy observe)\n", exitChanges},
		resource.PolicyProtect:        {"x kusto cluster old  refused: Protected\n", cli.ExitFailed},
	} {
		t.Run(string(policy), func(t *testing.T) {
			w := newWorld()
			w.temporal.manage(t, group+"/providers/Microsoft.Kusto/clusters/old")
			w.temporal.records[0].Labels, w.temporal.records[0].Policy = []string{"stack=prod"}, policy
			args := []string{"plan", "-f", labelledAdx(t), "--prune", "-l", "stack=prod"}
			if code := w.run(args...); code != c.code || !strings.HasPrefix(w.out.String(), c.want) {
				t.Errorf("exit code %d:\n%s want\n%s", code, w.out, c.want)
			}
			if code := w.run(append(args, "--keep-going")...); code != exitChanges {
				t.Errorf("with --keep-going: exit code %d: %s", code, w.err)
			}
		})
	}
}
