package passtest

import (
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// maxAttempts is the number of attempts of one activity, such as the polls of an
// operation. The test environment of the SDK has 10, a server no bound.
const maxAttempts = 10_000

// patience is an interceptor that raises the number of attempts.
type patience struct {
	interceptor.WorkerInterceptorBase
}

// InterceptWorkflow returns the inbound link, which only adds the outbound one.
func (*patience) InterceptWorkflow(_ workflow.Context, next interceptor.WorkflowInboundInterceptor) interceptor.WorkflowInboundInterceptor {
	return &patientInbound{interceptor.WorkflowInboundInterceptorBase{Next: next}}
}

type patientInbound struct {
	interceptor.WorkflowInboundInterceptorBase
}

// Init adds the outbound link.
func (p *patientInbound) Init(next interceptor.WorkflowOutboundInterceptor) error {
	return p.Next.Init(&patientOutbound{interceptor.WorkflowOutboundInterceptorBase{Next: next}})
}

type patientOutbound struct {
	interceptor.WorkflowOutboundInterceptorBase
}

// SignalExternalWorkflow sends nothing: the resource is alone, and no queue of turns runs.
func (*patientOutbound) SignalExternalWorkflow(ctx workflow.Context, _, _, _ string, _ any) workflow.Future {
	sent, settable := workflow.NewFuture(ctx)
	settable.SetValue(nil)
	return sent
}

// ExecuteActivity schedules an activity with more attempts, where it has no bound.
func (p *patientOutbound) ExecuteActivity(ctx workflow.Context, activityType string, args ...any) workflow.Future {
	options := workflow.GetActivityOptions(ctx)
	policy := temporal.RetryPolicy{}
	if options.RetryPolicy != nil {
		policy = *options.RetryPolicy
	}
	if policy.MaximumAttempts == 0 {
		policy.MaximumAttempts = maxAttempts
		options.RetryPolicy = &policy
		ctx = workflow.WithActivityOptions(ctx, options)
	}
	return p.Next.ExecuteActivity(ctx, activityType, args...)
}
