package service

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/armature-io/armature/config"
	"github.com/armature-io/armature/internal/testonly/scheduled"
)

const tunedID = "/subscriptions/AAAAAAAA-0000-0000-0000-000000000001/resourcegroups/rg"

// TestOrdering checks the priority of an activity that a workflow schedules with
// priority 2.
func TestOrdering(t *testing.T) {
	cases := map[string]struct {
		reason   string
		settings func(*config.Worker)
		want     temporal.Priority
	}{
		"default": {"priorities are on, fairness is off", func(*config.Worker) {}, temporal.Priority{PriorityKey: 2}},
		"fair": {
			"the subscription is the fairness key",
			func(w *config.Worker) { w.Fairness = true },
			temporal.Priority{PriorityKey: 2, FairnessKey: "aaaaaaaa-0000-0000-0000-000000000001"},
		},
		"neither": {"priorities can be switched off", func(w *config.Worker) { w.Priorities = false }, temporal.Priority{}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			settings := config.Default().Worker
			c.settings(&settings)
			var options worker.Options
			if err := tune(&options, settings); err != nil {
				t.Fatal(err)
			}
			var suite testsuite.WorkflowTestSuite
			env := suite.NewTestWorkflowEnvironment()
			seen := &scheduled.Recorder{}
			// The first of the chain is the last to see what a workflow schedules.
			env.SetWorkerOptions(worker.Options{
				Interceptors:             append([]interceptor.WorkerInterceptor{seen}, options.Interceptors...),
				DeadlockDetectionTimeout: time.Minute, // a busy machine may stop a goroutine for a second
			})
			env.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: tunedID, TaskQueue: "q"})
			look := func(context.Context) error { return nil }
			env.RegisterActivityWithOptions(look, activity.RegisterOptions{Name: "look"})
			env.ExecuteWorkflow(func(ctx workflow.Context) error {
				ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
					StartToCloseTimeout: time.Minute, Priority: temporal.Priority{PriorityKey: 2},
				})
				return workflow.ExecuteActivity(ctx, "look").Get(ctx, nil)
			})
			if err := env.GetWorkflowError(); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]scheduled.Activity{{Name: "look", Priority: c.want}}, seen.Seen("look")); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

func TestTune(t *testing.T) {
	fixed, resources := config.Default().Worker, config.Default().Worker
	fixed.Pollers, resources.Tuner = "7", config.TunerResources
	var options worker.Options
	if err := tune(&options, config.Default().Worker); err != nil {
		t.Fatal(err)
	}
	if options.WorkflowTaskPollerBehavior == nil || options.ActivityTaskPollerBehavior == nil || options.SysInfoProvider == nil {
		t.Errorf("the default has pollers %v and %v and system information %v, want all set",
			options.WorkflowTaskPollerBehavior, options.ActivityTaskPollerBehavior, options.SysInfoProvider)
	}
	options = worker.Options{}
	if err := tune(&options, fixed); err != nil {
		t.Fatal(err)
	}
	if options.MaxConcurrentActivityTaskPollers != 7 || options.WorkflowTaskPollerBehavior != nil {
		t.Errorf("worker.pollers 7 sets %d pollers of activities and %v", options.MaxConcurrentActivityTaskPollers, options.WorkflowTaskPollerBehavior)
	}
	options = worker.Options{}
	if err := tune(&options, resources); err != nil {
		t.Fatal(err)
	}
	if options.Tuner == nil || options.MaxConcurrentActivityExecutionSize != 0 {
		t.Errorf("the tuner resources sets %v beside %d slots, which excludes it", options.Tuner, options.MaxConcurrentActivityExecutionSize)
	}
}

// noProcessors is a source of load that panics, as the library does without /proc/stat.
type noProcessors struct{}

func (noProcessors) MemoryUsage(*worker.SysInfoContext) (float64, error) { return 0.5, nil }
func (noProcessors) CpuUsage(*worker.SysInfoContext) (float64, error) { //nolint:revive // the SDK names it
	var none []float64
	return none[len(none)], nil
}

// TestLoadThatCannotBeRead checks that a machine without a readable load does not end the
// worker.
func TestLoadThatCannotBeRead(t *testing.T) {
	info, err := newLoad(noProcessors{})
	if err == nil {
		t.Fatal("a load that panics was accepted")
	}
	if _, err := info.CpuUsage(&worker.SysInfoContext{}); err == nil {
		t.Error("a heartbeat would show a load that was not read")
	}
}
