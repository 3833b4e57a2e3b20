package service

import (
	"log/slog"
	"slices"

	"github.com/armature-io/armature/workflows"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// starts ends runs that no command and no worker of Armature starts, and drops signals that
// no workflow handles.
//
// A run with a state must continue another run: its spec and its deletion would come past
// the validation of messages. A cron schedule, a retry policy and a parent give a later
// run the look of a continued one.
type starts struct {
	interceptor.WorkerInterceptorBase
	log *slog.Logger
}

// InterceptWorkflow returns the link of one run.
func (s *starts) InterceptWorkflow(_ workflow.Context, next interceptor.WorkflowInboundInterceptor) interceptor.WorkflowInboundInterceptor {
	return &startLink{interceptor.WorkflowInboundInterceptorBase{Next: next}, s}
}

type startLink struct {
	interceptor.WorkflowInboundInterceptorBase
	*starts
}

// ExecuteWorkflow runs a workflow, or ends the run as canceled: a cron schedule and a retry
// policy start the next run after a completion or a failure, and none after a cancellation.
func (l *startLink) ExecuteWorkflow(ctx workflow.Context, in *interceptor.ExecuteWorkflowInput) (any, error) {
	if err := l.refuse(ctx, in); err != nil {
		return nil, err
	}
	return l.Next.ExecuteWorkflow(ctx, in)
}

// refuse returns the error that ends a forged run. Within ExecuteWorkflow, its variables would stay on the
// stack of each idle workflow.
func (l *startLink) refuse(ctx workflow.Context, in *interceptor.ExecuteWorkflowInput) error {
	info := workflow.GetInfo(ctx)
	reason := forgedStart(info, in.Args)
	if reason == "" {
		return nil
	}
	if !workflow.IsReplaying(ctx) {
		l.log.Warn("run refused", "workflow", info.WorkflowExecution.ID, "run", info.WorkflowExecution.RunID, "reason", reason)
	}
	return temporal.NewCanceledError(reason)
}

// HandleSignal delivers a signal that the workflow handles. Others would stay in the memory of
// the worker until the run ends.
func (l *startLink) HandleSignal(ctx workflow.Context, in *interceptor.HandleSignalInput) error {
	name := workflow.GetInfo(ctx).WorkflowType.Name
	if ours(name) && !slices.Contains(workflows.Signals(name), in.SignalName) {
		return nil
	}
	return l.Next.HandleSignal(ctx, in)
}

// ours reports whether a workflow is of Armature, not of an embedder.
func ours(workflow string) bool { return slices.Contains(workflows.Names(), workflow) }

// forgedStart returns why a run may not start, "" if it may. Workflows of embedders start
// as they like.
func forgedStart(info *workflow.Info, args []any) string {
	if !ours(info.WorkflowType.Name) {
		return ""
	}
	const advice = "; apply the manifest instead"
	input, _ := first[workflows.ReconcileResourceInput](args)
	switch {
	case info.CronSchedule != "":
		return "the run has a cron schedule" + advice
	case info.RetryPolicy != nil:
		return "the run has a retry policy" + advice
	case info.ParentWorkflowExecution != nil:
		return "the run has a parent workflow" + advice
	case input.State != nil && info.ContinuedExecutionRunID == "":
		return "the run was started with a state that no message brought about" + advice
	case (info.WorkflowType.Name == workflows.HoldFreezeWorkflow) != (info.WorkflowExecution.ID == workflows.FreezeWorkflowID):
		// The payloads of that ID are exempt from encryption.
		return "the run has the ID of another kind of workflow"
	}
	return ""
}
