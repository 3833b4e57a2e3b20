// Package scheduled records how workflows schedule activities, for tests: an interceptor
// that is the last to see the options. It knows nothing of the product.
package scheduled

import (
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// Activity is one activity that a workflow scheduled.
type Activity struct {
	Name     string
	Priority temporal.Priority
}

// Recorder is a worker interceptor; the first of a chain is the last to see what a
// workflow schedules. Its zero value is ready. It serves one test environment at a time.
type Recorder struct {
	interceptor.WorkerInterceptorBase
	seen []Activity
}

// Seen returns the activities with a name so far, in their order.
func (r *Recorder) Seen(name string) []Activity {
	var list []Activity
	for _, activity := range r.seen {
		if activity.Name == name {
			list = append(list, activity)
		}
	}
	return list
}

// InterceptWorkflow implements interceptor.WorkerInterceptor.
func (r *Recorder) InterceptWorkflow(_ workflow.Context, next interceptor.WorkflowInboundInterceptor) interceptor.WorkflowInboundInterceptor {
	return &inbound{interceptor.WorkflowInboundInterceptorBase{Next: next}, r}
}

type inbound struct {
	interceptor.WorkflowInboundInterceptorBase
	recorder *Recorder
}

func (i *inbound) Init(next interceptor.WorkflowOutboundInterceptor) error {
	return i.Next.Init(&outbound{interceptor.WorkflowOutboundInterceptorBase{Next: next}, i.recorder}) //nolint:wrapcheck // an interceptor adds nothing
}

type outbound struct {
	interceptor.WorkflowOutboundInterceptorBase
	recorder *Recorder
}

func (o *outbound) ExecuteActivity(ctx workflow.Context, name string, args ...any) workflow.Future {
	o.recorder.seen = append(o.recorder.seen, Activity{Name: name, Priority: workflow.GetActivityOptions(ctx).Priority})
	return o.Next.ExecuteActivity(ctx, name, args...)
}
