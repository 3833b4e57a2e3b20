package service

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

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
		"freezes": {"their workflow has one ID", info(func(i *workflow.Info) {
			i.WorkflowType.Name, i.WorkflowExecution.ID = workflows.HoldFreezeWorkflow, workflows.FreezeWorkflowID
		}), workflows.HoldFreezeInput{}, ""},
		"freezes with other ID": {"nobody would read them", info(func(i *workflow.Info) {
			i.WorkflowType.Name, i.WorkflowExecution.ID = workflows.HoldFreezeWorkflow, "freeze"
		}), workflows.HoldFreezeInput{}, "ID of another kind"},
		"resource as a freeze":    {"its payloads would be exempt from encryption", info(func(i *workflow.Info) { i.WorkflowExecution.ID = workflows.FreezeWorkflowID }), empty, "ID of another kind"},
		"workflow of an embedder": {"it starts as the embedder likes", info(func(i *workflow.Info) { i.WorkflowType.Name, i.CronSchedule = "Report", "@daily" }), nil, ""},
	}
	for name, c := range cases {
		if got := forgedStart(c.info, []any{c.input}); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %s: got %q, want %q", name, c.reason, got, c.want)
		}
	}
}

// TestUnknownSignals checks that signals that no workflow of Armature handles do not stay in
// the memory of the worker, and that embedders get theirs.
func TestUnknownSignals(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]int{workflows.ReconcileResourceWorkflow: 1, workflows.SerializeSiblingsWorkflow: 0, "Report": 3} {
		var suite testsuite.WorkflowTestSuite
		env := suite.NewTestWorkflowEnvironment()
		env.SetWorkerOptions(worker.Options{Interceptors: []interceptor.WorkerInterceptor{&starts{log: slog.New(slog.DiscardHandler)}}})
		waiting := 0
		env.RegisterWorkflowWithOptions(func(ctx workflow.Context) error {
			err := workflow.Sleep(ctx, time.Minute)
			for _, signal := range []string{"nonsense", workflows.WakeSignal} {
				waiting += workflow.GetSignalChannel(ctx, signal).Len()
			}
			return err
		}, workflow.RegisterOptions{Name: name})
		env.RegisterDelayedCallback(func() {
			env.SignalWorkflow("nonsense", nil)
			env.SignalWorkflow("nonsense", nil)
			env.SignalWorkflow(workflows.WakeSignal, nil)
		}, time.Second)
		env.ExecuteWorkflow(name)
		if err := env.GetWorkflowError(); err != nil || waiting != want {
			t.Errorf("%s: %d signals wait (%v), want %d", name, waiting, err, want)
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
