package workflows

import (
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/workflow"
)

// Direct is the interceptor of a worker that calls ReconcileResource as the
// function that it is. The SDK calls workflows by reflection, and whoever sleeps
// keeps the frames of that on its stack: without them it fits into 4 KiB, with them
// it takes 8. A worker without the interceptor, and a replayer, does the same.
func Direct() interceptor.WorkerInterceptor { return &direct{packer: newPacker()} }

type direct struct {
	interceptor.WorkerInterceptorBase
	packer *packer
}

// InterceptWorkflow implements interceptor.WorkerInterceptor.
func (d *direct) InterceptWorkflow(ctx workflow.Context, next interceptor.WorkflowInboundInterceptor) interceptor.WorkflowInboundInterceptor {
	if workflow.GetInfo(ctx).WorkflowType.Name != ReconcileResourceWorkflow {
		return next
	}
	return &directCall{WorkflowInboundInterceptorBase: interceptor.WorkflowInboundInterceptorBase{Next: next}, packer: d.packer}
}

// directCall is for one run.
type directCall struct {
	interceptor.WorkflowInboundInterceptorBase
	packer *packer
}

// ExecuteWorkflow implements interceptor.WorkflowInboundInterceptor.
func (d *directCall) ExecuteWorkflow(ctx workflow.Context, in *interceptor.ExecuteWorkflowInput) (any, error) {
	if r := d.start(ctx, in.Args); r != nil {
		return answer(r.run(ctx))
	}
	return d.Next.ExecuteWorkflow(ctx, in)
}

// start is nil where the input is not that of ReconcileResource. Inlined, what it
// needs would stay on the stack.
//
//go:noinline
func (d *directCall) start(ctx workflow.Context, args []any) *reconciler {
	if len(args) != 1 {
		return nil
	}
	input, is := args[0].(ReconcileResourceInput)
	if !is {
		return nil
	}
	return start(ctx, input, d.packer)
}

// answer is a result as the SDK wants it: no status is no value.
func answer(status *Status, err error) (any, error) {
	if status == nil {
		return nil, err
	}
	return status, err
}
