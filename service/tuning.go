package service

import (
	"fmt"
	"log/slog"
	"strings"

	"github.com/armature-io/armature/config"
	"go.temporal.io/sdk/contrib/sysinfo"
	"go.temporal.io/sdk/interceptor"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

// tune sets the options that the section worker of the configuration describes.
func tune(options *worker.Options, settings config.Worker) error {
	info, err := newLoad(sysinfo.SysInfoProvider())
	if err == nil {
		options.SysInfoProvider = info
	}
	if fixed := settings.FixedPollers(); fixed > 0 {
		options.MaxConcurrentWorkflowTaskPollers, options.MaxConcurrentActivityTaskPollers = fixed, fixed
	} else {
		options.WorkflowTaskPollerBehavior = worker.NewPollerBehaviorAutoscaling(worker.PollerBehaviorAutoscalingOptions{})
		options.ActivityTaskPollerBehavior = worker.NewPollerBehaviorAutoscaling(worker.PollerBehaviorAutoscalingOptions{})
	}
	if !settings.Priorities || settings.Fairness {
		options.Interceptors = append(options.Interceptors, &ordering{priorities: settings.Priorities, fair: settings.Fairness})
	}
	if settings.Tuner != config.TunerResources {
		options.MaxConcurrentWorkflowTaskExecutionSize = settings.WorkflowSlots
		options.MaxConcurrentActivityExecutionSize = settings.ActivitySlots
		return nil
	}
	if err != nil {
		return fmt.Errorf("worker.tuner resources: %w; use fixed", err)
	}
	tuner, err := worker.NewResourceBasedTuner(worker.ResourceBasedTunerOptions{
		TargetMem: settings.TargetMemory, TargetCpu: settings.TargetCPU, InfoSupplier: info,
	})
	if err != nil {
		return fmt.Errorf("tune by resources: %w", err)
	}
	options.Tuner = tuner
	return nil
}

// load reads how busy the machine or container is. The library panics where /proc has no
// processors, as in some sandboxes, and a heartbeat must not end the worker.
type load struct{ provider worker.SysInfoProvider }

// newLoad returns a load that was read once, or an error where it cannot be read here.
func newLoad(provider worker.SysInfoProvider) (worker.SysInfoProvider, error) {
	l := load{provider}
	first := worker.SysInfoContext{Logger: sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler))}
	_, err := l.CpuUsage(&first)
	return l, err
}

// MemoryUsage returns the part of the memory that is in use, from 0 to 1.
func (l load) MemoryUsage(c *worker.SysInfoContext) (used float64, err error) {
	defer recoverLoad(&err)
	return l.provider.MemoryUsage(c)
}

// CpuUsage returns the part of the processors that is in use, from 0 to 1.
func (l load) CpuUsage(c *worker.SysInfoContext) (used float64, err error) { //nolint:revive // the SDK names it
	defer recoverLoad(&err)
	return l.provider.CpuUsage(c)
}

func recoverLoad(err *error) {
	if value := recover(); value != nil {
		*err = fmt.Errorf("read the load of this machine: %v", value)
	}
}

// ordering changes the priority with which workflows schedule activities. It has no effect
// on replays, which do not compare priorities.
type ordering struct {
	interceptor.WorkerInterceptorBase
	priorities, fair bool
}

// InterceptWorkflow returns the link of one run.
func (o *ordering) InterceptWorkflow(_ workflow.Context, next interceptor.WorkflowInboundInterceptor) interceptor.WorkflowInboundInterceptor {
	return &orderingInbound{interceptor.WorkflowInboundInterceptorBase{Next: next}, o}
}

type orderingInbound struct {
	interceptor.WorkflowInboundInterceptorBase
	ordering *ordering
}

// Init adds the link that schedules activities.
func (i *orderingInbound) Init(outbound interceptor.WorkflowOutboundInterceptor) error {
	return i.Next.Init(&orderingOutbound{interceptor.WorkflowOutboundInterceptorBase{Next: outbound}, i.ordering})
}

type orderingOutbound struct {
	interceptor.WorkflowOutboundInterceptorBase
	ordering *ordering
}

// ExecuteActivity schedules an activity with the priority that the configuration allows.
func (o *orderingOutbound) ExecuteActivity(ctx workflow.Context, activityType string, args ...any) workflow.Future {
	priority := workflow.GetActivityOptions(ctx).Priority
	if !o.ordering.priorities {
		priority = temporal.Priority{}
	}
	if o.ordering.fair {
		priority.FairnessKey = fairnessKey(workflow.GetInfo(ctx).WorkflowExecution.ID)
	}
	return o.Next.ExecuteActivity(workflow.WithPriority(ctx, priority), activityType, args...)
}

// maxFairnessKey is the size that Temporal accepts, in bytes.
const maxFairnessKey = 64

// fairnessKey returns the subscription of a resource's workflow, and "" for a resource
// outside of subscriptions.
func fairnessKey(workflowID string) string {
	const before = "/subscriptions/"
	_, rest, found := strings.Cut(strings.ToLower(workflowID), before)
	if !found {
		return ""
	}
	subscription, _, _ := strings.Cut(rest, "/")
	if len(subscription) > maxFairnessKey {
		return ""
	}
	return subscription
}
