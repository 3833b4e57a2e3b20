package workflows_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
)

// TestPlanResource checks that the workflow returns the result of the activity, and that
// an error of the activity is a result too.
func TestPlanResource(t *testing.T) {
	want := activities.PlanResourceResult{Action: activities.PlanUpdate, Reason: resource.ReasonDrift, APIVersion: "2023-08-15"}
	for name, c := range map[string]struct {
		err  error
		want activities.PlanResourceResult
	}{
		"Result": {want: want},
		"Error": {
			err: temporal.NewNonRetryableApplicationError("ARM cannot be reached", string(resource.ReasonArmUnreachable), errors.New("x")),
			want: activities.PlanResourceResult{
				Action: activities.PlanError, Reason: resource.ReasonArmUnreachable, Message: "ARM cannot be reached", APIVersion: "2023-08-15",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRun(t)
			var input activities.PlanResourceInput
			r.RegisterActivityWithOptions(func(_ context.Context, in activities.PlanResourceInput) (activities.PlanResourceResult, error) {
				input = in
				return want, c.err
			}, activity.RegisterOptions{Name: "PlanResource"})
			r.ExecuteWorkflow(workflows.PlanResourceWorkflow, activities.PlanResourceInput{Desired: desired()})
			var got activities.PlanResourceResult
			if err := r.GetWorkflowResult(&got); err != nil {
				t.Fatal(err)
			}
			if got.Action != c.want.Action || got.Reason != c.want.Reason || got.Message != c.want.Message || got.APIVersion != c.want.APIVersion {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
			if !input.Desired.ID.Equal(desired().ID) {
				t.Errorf("the activity received %s", input.Desired.ID)
			}
		})
	}
}

// TestDiagnoseOnce checks that a diagnosis shows the first failure, while the other dry runs try again.
func TestDiagnoseOnce(t *testing.T) {
	for name, attempts := range map[string]int{workflows.DiagnoseWorkflow: 1, workflows.PlanDeletionWorkflow: 2} {
		t.Run(name, func(t *testing.T) {
			r := newRun(t)
			tried := 0
			r.RegisterActivityWithOptions(func(context.Context, map[string]any) (map[string]any, error) {
				if tried++; tried == 1 {
					return nil, errors.New("no connection")
				}
				return nil, nil
			}, activity.RegisterOptions{Name: name})
			r.ExecuteWorkflow(name, struct{}{})
			if tried != attempts {
				t.Errorf("%d attempts, want %d", tried, attempts)
			}
		})
	}
}

// TestMemoryQuery checks that a waiting workflow returns its baseline and flags.
func TestMemoryQuery(t *testing.T) {
	r := newRun(t)
	r.script.post = func(activities.PostCheckInput) activities.PostCheckResult {
		return activities.PostCheckResult{
			Verdict: resource.Verdict{Action: resource.ActionSuccess, Reason: resource.ReasonSucceeded}, Memory: json.RawMessage(`{"a":1}`),
		}
	}
	r.apply(desired())
	r.at(time.Minute, workflows.PauseUpdate, workflows.PauseInput{By: "ada"})
	var got activities.WorkflowMemory
	r.RegisterDelayedCallback(func() {
		value, err := r.QueryWorkflow(workflows.MemoryQuery)
		if err == nil {
			err = value.Get(&got)
		}
		if err != nil {
			t.Error(err)
		}
	}, 2*time.Minute)
	r.start(3 * time.Minute)
	if got.Generation != 1 || got.Policy != resource.PolicyManage || !got.Paused || got.Deleting || string(got.Memory) != `{"a":1}` {
		t.Errorf("memory %+v", got)
	}
}
