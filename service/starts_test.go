package service

import (
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/armature-io/armature/workflows"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

// TestForgedStart checks which runs may start.
//
//guard:starts-of-runs
func TestForgedStart(t *testing.T) {
	t.Parallel()
	info := func(change func(*workflow.Info)) *workflow.Info {
		i := &workflow.Info{WorkflowType: workflow.Type{Name: workflows.ReconcileResourceWorkflow}}
		change(i)
		return i
	}
	empty, state := workflows.ReconcileResourceInput{}, workflows.ReconcileResourceInput{State: &workflows.State{}}
	cases := map[string]struct {
		reason string
		info   *workflow.Info
		input  any
		want   string
	}{
		"command":          {"an apply starts it", info(func(*workflow.Info) {}), empty, ""},
		"continued as new": {"the state comes from the run before", info(func(i *workflow.Info) { i.ContinuedExecutionRunID = "before" }), state, ""},
		"first run":        {"nobody applied the state", info(func(*workflow.Info) {}), state, "with a state"},
		"cron": {
			"each run but the first looks continued", info(func(i *workflow.Info) { i.CronSchedule, i.ContinuedExecutionRunID = "@every 3s", "before" }), state, "cron schedule",
		},
		"cron without state": {"its later runs would be empty", info(func(i *workflow.Info) { i.CronSchedule = "@every 3s" }), empty, "cron schedule"},
		"retries": {
			"a second attempt looks continued", info(func(i *workflow.Info) { i.RetryPolicy, i.ContinuedExecutionRunID = &temporal.RetryPolicy{}, "before" }), state, "retry policy",
		},
		"child": {
			"no workflow of Armature has children", info(func(i *workflow.Info) { i.ParentWorkflowExecution = &workflow.Execution{} }), empty, "parent workflow",
		},
		"freezes by cron": {
			"it would replace the freezes of users", info(func(i *workflow.Info) { i.WorkflowType.Name, i.CronSchedule = workflows.HoldFreezeWorkflow, "@daily" }),
			workflows.HoldFreezeInput{}, "cron schedule",
		},
		"workflow of an embedder": {"it starts as the embedder likes", info(func(i *workflow.Info) { i.WorkflowType.Name, i.CronSchedule = "Report", "@daily" }), nil, ""},
	}
	for name, c := range cases {
		if got := forgedStart(c.info, []any{c.input}); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %s: got %q, want %q", name, c.reason, got, c.want)
		}
	}
}

// TestForgedStartIsCanceled checks the end of a refused run: after a failure, a cron
// schedule would start the next.
//
//guard:starts-of-runs
func TestForgedStartIsCanceled(t *testing.T) {
	t.Parallel()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment()
	env.SetWorkerOptions(worker.Options{Interceptors: []interceptor.WorkerInterceptor{&starts{log: slog.New(slog.DiscardHandler)}}})
	env.RegisterWorkflowWithOptions(func(workflow.Context, workflows.ReconcileResourceInput) error { return nil },
		workflow.RegisterOptions{Name: workflows.ReconcileResourceWorkflow})
	env.ExecuteWorkflow(workflows.ReconcileResourceWorkflow, workflows.ReconcileResourceInput{State: &workflows.State{}})
	canceled, ok := errors.AsType[*temporal.CanceledError](env.GetWorkflowError())
	var reason string
	if !ok || canceled.Details(&reason) != nil || !strings.Contains(reason, "with a state") {
		t.Errorf("the run ends with %v (%s)", env.GetWorkflowError(), reason)
	}
}
