package workflows_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

// priorities records the priority with which each GetResource is scheduled.
type priorities struct {
	interceptor.WorkerInterceptorBase
	seen []int
}

func (p *priorities) InterceptWorkflow(_ workflow.Context, next interceptor.WorkflowInboundInterceptor) interceptor.WorkflowInboundInterceptor {
	return &priorityInbound{interceptor.WorkflowInboundInterceptorBase{Next: next}, p}
}

type priorityInbound struct {
	interceptor.WorkflowInboundInterceptorBase
	priorities *priorities
}

func (i *priorityInbound) Init(outbound interceptor.WorkflowOutboundInterceptor) error {
	return i.Next.Init(&priorityOutbound{interceptor.WorkflowOutboundInterceptorBase{Next: outbound}, i.priorities})
}

type priorityOutbound struct {
	interceptor.WorkflowOutboundInterceptorBase
	priorities *priorities
}

func (o *priorityOutbound) ExecuteActivity(ctx workflow.Context, activityType string, args ...any) workflow.Future {
	if activityType == "GetResource" {
		o.priorities.seen = append(o.priorities.seen, workflow.GetActivityOptions(ctx).Priority.PriorityKey)
	}
	return o.Next.ExecuteActivity(ctx, activityType, args...)
}

// A user who waits comes before wakes and retries, and these before routine looks.
func TestPriorities(t *testing.T) {
	recorded := &priorities{}
	r := newRun(t)
	r.SetWorkerOptions(worker.Options{Interceptors: []interceptor.WorkerInterceptor{recorded}})
	r.apply(desired())
	// The interval of desired is an hour: the next look after the apply is routine.
	r.statusAt(100 * time.Minute)
	r.start(101 * time.Minute)
	if diff := cmp.Diff([]int{2, 4}, recorded.seen); diff != "" {
		t.Errorf("priorities of GetResource after an apply and after an interval (-want +got):\n%s", diff)
	}
}
