package replay

import (
	"time"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/workflow"
)

// Beginnings of the recorded commands; the name of what is commanded follows.
const (
	activityCommand      = "activity "
	localActivityCommand = "local activity "
	timerCommand         = "a timer"
	signalCommand        = "signal "
	markerCommand        = "the marker "
)

// recorder is an interceptor that records the commands of a workflow in the order in
// which its code issues them.
type recorder struct {
	interceptor.WorkerInterceptorBase
	commands []string
}

func (r *recorder) InterceptWorkflow(_ workflow.Context, next interceptor.WorkflowInboundInterceptor) interceptor.WorkflowInboundInterceptor {
	inbound := &inboundRecorder{recorder: r}
	inbound.Next = next
	return inbound
}

type inboundRecorder struct {
	interceptor.WorkflowInboundInterceptorBase
	recorder *recorder
}

func (i *inboundRecorder) Init(next interceptor.WorkflowOutboundInterceptor) error {
	outbound := &outboundRecorder{recorder: i.recorder}
	outbound.Next = next
	return i.Next.Init(outbound)
}

type outboundRecorder struct {
	interceptor.WorkflowOutboundInterceptorBase
	recorder *recorder
}

func (o *outboundRecorder) add(command string) {
	o.recorder.commands = append(o.recorder.commands, command)
}

func (o *outboundRecorder) ExecuteActivity(ctx workflow.Context, activityType string, args ...any) workflow.Future {
	o.add(activityCommand + activityType)
	return o.Next.ExecuteActivity(ctx, activityType, args...)
}

func (o *outboundRecorder) ExecuteLocalActivity(ctx workflow.Context, activityType string, args ...any) workflow.Future {
	o.add(localActivityCommand + activityType)
	return o.Next.ExecuteLocalActivity(ctx, activityType, args...)
}

func (o *outboundRecorder) NewTimer(ctx workflow.Context, d time.Duration) workflow.Future {
	o.addTimer(d)
	return o.Next.NewTimer(ctx, d)
}

func (o *outboundRecorder) NewTimerWithOptions(ctx workflow.Context, d time.Duration, options workflow.TimerOptions) workflow.Future {
	o.addTimer(d)
	return o.Next.NewTimerWithOptions(ctx, d, options)
}

// addTimer records a timer; one without a duration issues no command.
func (o *outboundRecorder) addTimer(d time.Duration) {
	if d > 0 {
		o.add(timerCommand)
	}
}

func (o *outboundRecorder) SignalExternalWorkflow(ctx workflow.Context, workflowID, runID, signalName string, arg any) workflow.Future {
	o.add(signalCommand + signalName)
	return o.Next.SignalExternalWorkflow(ctx, workflowID, runID, signalName, arg)
}

func (o *outboundRecorder) SideEffect(ctx workflow.Context, f func(workflow.Context) any) converter.EncodedValue {
	o.add(markerCommand + "SideEffect")
	return o.Next.SideEffect(ctx, f)
}
