package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/workflows"
)

// dryRunAnswers are what users see of dry runs.
type dryRunAnswers struct {
	Planned           []plannedChange
	Imported, Outputs string
	// Doctor has the state and the name of each check.
	Doctor []string
}

// TestDryRuns checks that plan, import, outputs and doctor answer the same with activities
// alone and with workflows, on a server that has standalone activities switched off.
func TestDryRuns(t *testing.T) {
	t.Parallel()
	alone, activitiesOfAlone, workflowsOfAlone := playDryRuns(t, harness.Options{})
	if activitiesOfAlone < 6 || workflowsOfAlone > 0 {
		t.Errorf("%d activities without a workflow and %d workflows, want all without", activitiesOfAlone, workflowsOfAlone)
	}
	byWorkflow, activitiesOfOlder, workflowsOfOlder := playDryRuns(t, harness.Options{NoStandaloneActivities: true})
	if activitiesOfOlder > 0 || workflowsOfOlder != activitiesOfAlone {
		t.Errorf("%d activities without a workflow and %d workflows, want %d workflows", activitiesOfOlder, workflowsOfOlder, activitiesOfAlone)
	}
	if diff := cmp.Diff(byWorkflow, alone); diff != "" {
		t.Errorf("the answers differ (-by workflow +alone):\n%s", diff)
	}
}

// playDryRuns returns the answers, and the numbers of activities alone and of workflows that
// gave them.
func playDryRuns(t *testing.T, options harness.Options) (answers dryRunAnswers, standalone, runs int) {
	t.Helper()
	w := harness.New(t, binaries, options)
	w.StartWorker(harness.WorkerOptions{})
	s := scenarios{w}
	s.putGroup("dry")
	managed := thing{group: "dry", name: "managed", interval: "1h"}
	w.MustCLI("apply", "-f", w.Write("managed.yaml", managed.manifest("small")+"outputs: {PLACE: location}\n"), "--wait", "--timeout", "60s")
	w.Sim.Patch(managed.id(), map[string]any{"properties": map[string]any{"size": "large"}})
	manifests := []string{
		managed.manifest("small"), thing{group: "dry", name: "new", interval: "1h"}.manifest("small"),
		thing{group: "nowhere", name: "lost", interval: "1h"}.manifest("small"),
	}
	answers.Planned = plan(w, 2, "-f", w.Write("dry.yaml", strings.Join(manifests, "---\n")))
	answers.Imported = w.MustCLI("import", managed.id()).Out
	answers.Outputs = w.MustCLI("outputs", "managed").Out
	doctor := w.CLI("doctor", managed.id(), "-o", "json")
	var findings []activities.Finding
	if err := json.Unmarshal([]byte(doctor.Out), &findings); err != nil {
		t.Fatalf("%v of %s", err, doctor)
	}
	for _, finding := range findings {
		answers.Doctor = append(answers.Doctor, string(finding.State)+" "+finding.Check)
	}
	for _, described := range w.StandaloneActivities() {
		if name := described.GetInfo().GetActivityType().GetName(); activities.RunsAlone(name) {
			standalone++
		}
	}
	runs, _, _ = w.WorkflowEvents(fmt.Sprintf("WorkflowType IN ('%s', '%s', '%s')",
		workflows.PlanResourceWorkflow, workflows.ImportResourceWorkflow, workflows.DiagnoseWorkflow))
	return answers, standalone, runs
}

// TestDryRunCosts compares the cost of a plan with and without its workflow: the actions
// that Temporal Cloud bills (starts, activities and queries), events and requests.
func TestDryRunCosts(t *testing.T) {
	t.Parallel()
	const planned = 10
	for name, tc := range map[string]struct {
		options harness.Options
		actions int
		// events of all workflows, and the workflow tasks that workers complete.
		events, tasks int
	}{
		"alone":       {options: harness.Options{}, actions: planned},
		"by workflow": {options: harness.Options{NoStandaloneActivities: true}, actions: 2 * planned, events: 11 * planned, tasks: 2 * planned},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := harness.New(t, binaries, tc.options)
			meter := w.Meter()
			w.StartWorker(harness.WorkerOptions{})
			var manifests []string
			for i := range planned {
				r := thing{group: "costs", name: fmt.Sprintf("t%d", i), interval: "1h"}
				w.Sim.Call(http.MethodPut, "/resources", map[string]any{"id": r.id(), "body": map[string]any{
					"location": "westus2", "tags": map[string]any{"purpose": "e2e"}, "properties": map[string]any{"size": "small"},
				}}, nil)
				manifests = append(manifests, r.manifest("small"))
			}
			file := w.Write("costs.yaml", strings.Join(manifests, "---\n"))
			meter.Reset()
			w.MustCLI("plan", "-f", file)
			sent := meter.Requests()
			actions := sent["StartWorkflowExecution"] + sent["RespondActivityTaskCompleted"] + sent["QueryWorkflow"]
			_, events, bytes := w.WorkflowEvents("WorkflowType = '" + workflows.PlanResourceWorkflow + "'")
			t.Logf("%d plans: %d actions, %d events with %d bytes, requests %v", planned, actions, events, bytes, sent)
			if actions != tc.actions || events != tc.events || sent["RespondWorkflowTaskCompleted"] != tc.tasks {
				t.Errorf("%d actions, %d events and %d workflow tasks, want %d, %d and %d",
					actions, events, sent["RespondWorkflowTaskCompleted"], tc.actions, tc.events, tc.tasks)
			}
			// A server without them is asked once.
			if starts := sent["StartActivityExecution"]; tc.tasks > 0 && starts != 1 || tc.tasks == 0 && starts != planned {
				t.Errorf("%d starts of activities", starts)
			}
		})
	}
}

// TestPlanWithOlderWorker plans with a worker that has the workflow of a plan and no
// activity of that name.
func TestPlanWithOlderWorker(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{})
	older := worker.New(w.Client, "armature", worker.Options{})
	older.RegisterWorkflowWithOptions(func(workflow.Context, activities.PlanResourceInput) (activities.PlanResourceResult, error) {
		return activities.PlanResourceResult{Action: activities.PlanNone, APIVersion: "2024-01-01", Message: "by the workflow"}, nil
	}, workflow.RegisterOptions{Name: workflows.PlanResourceWorkflow})
	older.RegisterActivityWithOptions(func(context.Context) error { return nil }, activity.RegisterOptions{Name: "Another"})
	if err := older.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(older.Stop)
	file := w.Write("older.yaml", thing{group: "older", name: "older", interval: "1h"}.manifest("small"))
	changes := plan(w, 0, "-f", file)
	if len(changes) != 1 || changes[0].Action != string(activities.PlanNone) || changes[0].Message != "by the workflow" {
		t.Errorf("the plan is %+v", changes)
	}
}

// TestActivitiesNeedTheirWorkflow starts an activity that writes without a workflow, as a
// writer in the namespace could: the worker refuses it.
func TestActivitiesNeedTheirWorkflow(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{})
	w.StartWorker(harness.WorkerOptions{})
	for _, name := range []string{"PutResource", "DeleteResource", "PurgeResource"} {
		err := w.RunStandalone("armature", name, map[string]any{})
		if err == nil || !strings.Contains(err.Error(), name+" needs its workflow") {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
	if all := w.Sim.Counters().ByMethod; all[http.MethodPut]+all[http.MethodDelete]+all[http.MethodPost] > 0 {
		t.Errorf("requests to Azure: %v", all)
	}
}
