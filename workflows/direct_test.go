package workflows_test

import (
	"log/slog"
	"testing"

	"github.com/armature-io/armature/workflows"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

// TestDirect holds that ReconcileResource is not called through the SDK, and that
// any other workflow, and any other input, is.
func TestDirect(t *testing.T) {
	type other struct{ Name string }
	cases := map[string]struct {
		reason, workflow string
		input            any
		// through is set when the SDK makes the call.
		through bool
	}{
		"ours":        {reason: "the SDK's frames would stay on its stack", workflow: workflows.ReconcileResourceWorkflow, input: workflows.ReconcileResourceInput{}},
		"other":       {reason: "short workflows are the SDK's", workflow: workflows.PlanResourceWorkflow, input: workflows.ReconcileResourceInput{}, through: true},
		"other input": {reason: "what the name means elsewhere is not touched", workflow: workflows.ReconcileResourceWorkflow, input: other{Name: "x"}, through: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var suite testsuite.WorkflowTestSuite
			suite.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
			env := suite.NewTestWorkflowEnvironment()
			env.SetWorkerOptions(worker.Options{Interceptors: []interceptor.WorkerInterceptor{workflows.Direct()}})
			through := false
			probe := any(func(workflow.Context, workflows.ReconcileResourceInput) (*workflows.Status, error) {
				through = true
				return nil, nil
			})
			if _, is := tc.input.(other); is {
				probe = func(workflow.Context, other) error {
					through = true
					return nil
				}
			}
			env.RegisterWorkflowWithOptions(probe, workflow.RegisterOptions{Name: tc.workflow})
			env.ExecuteWorkflow(tc.workflow, tc.input)
			if err := env.GetWorkflowError(); err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if through != tc.through {
				t.Errorf("called through the SDK %t, want %t: %s", through, tc.through, tc.reason)
			}
		})
	}
}
