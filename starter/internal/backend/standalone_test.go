package backend

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/workflows"
	"go.temporal.io/api/serviceerror"
)

func planned(t *testing.T) activities.PlanResourceInput {
	t.Helper()
	id, err := resource.ParseID("/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg1")
	if err != nil {
		t.Fatal(err)
	}
	return activities.PlanResourceInput{Desired: resource.Desired{ID: id, APIVersion: "2024-03-01"}}
}

// TestDryRunWithoutWorkflow checks which dry runs are an activity alone, which need their
// workflow, and that the answer is the same: what the activity returned or its error as a
// result.
func TestDryRunWithoutWorkflow(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		server *dryRunServer
		want   activities.PlanResourceResult
		// activities and workflows are the starts of two plans.
		activities, workflows int
	}{
		"activity": {
			reason: "the server has standalone activities", server: &dryRunServer{outcome: completed(t)},
			want: activities.PlanResourceResult{Action: activities.PlanCreate, Message: "by the activity"}, activities: 2,
		},
		"older server": {
			reason: "one request shows that it has none", server: &dryRunServer{start: serviceerror.NewUnimplemented("unknown method")},
			want: activities.PlanResourceResult{Action: activities.PlanUpdate, Message: "by the workflow"}, activities: 1, workflows: 2,
		},
		"not allowed": {
			reason: "an authorizer may know workflows only", server: &dryRunServer{start: serviceerror.NewPermissionDenied("no", "")},
			want: activities.PlanResourceResult{Action: activities.PlanUpdate, Message: "by the workflow"}, activities: 1, workflows: 2,
		},
		"worker without the activity": {
			reason: "an older worker may have only the workflow", server: &dryRunServer{outcome: failureOf("ActivityNotRegisteredError", "unable to find activityType=PlanResource")},
			want: activities.PlanResourceResult{Action: activities.PlanUpdate, Message: "by the workflow"}, activities: 1, workflows: 2,
		},
		"worker for workflows only": {
			reason: "a worker refuses what it does not run alone", server: &dryRunServer{outcome: failureOf(activities.ErrorNeedsWorkflow, "PlanResource needs its workflow")},
			want: activities.PlanResourceResult{Action: activities.PlanUpdate, Message: "by the workflow"}, activities: 1, workflows: 2,
		},
		"error": {
			reason: "an error of the activity is a plan, as in the workflow", server: &dryRunServer{outcome: failureOf(string(resource.ReasonArmUnreachable), "ARM cannot be reached")},
			want:       activities.PlanResourceResult{Action: activities.PlanError, Reason: resource.ReasonArmUnreachable, Message: "ARM cannot be reached", APIVersion: "2024-03-01"},
			activities: 2,
		},
		"timeout": {
			reason: "a timeout, too", server: &dryRunServer{outcome: timedOut()},
			want: activities.PlanResourceResult{
				Action: activities.PlanError, Reason: resource.ReasonCheckFailed, Message: "the step timed out: no worker completed it in time; it is retried", APIVersion: "2024-03-01",
			},
			activities: 2,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := tc.server.connect(t)
			for i := range 2 {
				got, err := c.Plan(t.Context(), fmt.Sprintf("plan:%d", i), planned(t))
				if err != nil {
					t.Fatal(err)
				}
				if got.Action != tc.want.Action || got.Reason != tc.want.Reason || got.Message != tc.want.Message || got.APIVersion != tc.want.APIVersion {
					t.Errorf("%s: %+v, want %+v", tc.reason, got, tc.want)
				}
			}
			if a, w := tc.server.sent("start activity"), tc.server.sent("start workflow"); a != tc.activities || w != tc.workflows {
				t.Errorf("%s: %d activities and %d workflows were started, want %d and %d", tc.reason, a, w, tc.activities, tc.workflows)
			}
		})
	}
}

// TestOlderServerIsAskedOnce checks that many plans at once ask an older server once.
func TestOlderServerIsAskedOnce(t *testing.T) {
	t.Parallel()
	server := &dryRunServer{start: serviceerror.NewUnimplemented("Standalone activity is disabled")}
	c := server.connect(t)
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			if _, err := c.Plan(t.Context(), fmt.Sprintf("plan:%d", i), planned(t)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if a, w := server.sent("start activity"), server.sent("start workflow"); a != 1 || w != 16 {
		t.Errorf("%d activities and %d workflows were started, want 1 and 16", a, w)
	}
}

// TestDryRunsHaveOneSetOfOptions checks that an activity has the queue, priority, timeouts
// and retries with which its workflow would run it.
func TestDryRunsHaveOneSetOfOptions(t *testing.T) {
	t.Parallel()
	server := &dryRunServer{outcome: completed(t)}
	c := server.connect(t)
	for name, call := range map[string]func() error{
		workflows.PlanResourceWorkflow: func() error { _, err := c.Plan(t.Context(), "plan:1", planned(t)); return err },
		workflows.DiagnoseWorkflow: func() error {
			_, err := c.Diagnose(t.Context(), activities.DiagnoseInput{})
			return err
		},
	} {
		if err := call(); err != nil {
			t.Fatal(err)
		}
		sent, want := server.lastStart(), workflows.DryRunOptions(name)
		total := want.ScheduleToCloseTimeout
		if total == 0 {
			total = diagnoseTimeout
		}
		if sent.GetActivityType().GetName() != name || sent.GetTaskQueue().GetName() != "q1" || sent.GetPriority().GetPriorityKey() != workflows.PriorityUser {
			t.Errorf("%s: started %v", name, sent)
		}
		if sent.GetStartToCloseTimeout().AsDuration() != want.StartToCloseTimeout || sent.GetScheduleToCloseTimeout().AsDuration() != total ||
			sent.GetHeartbeatTimeout().AsDuration() != want.HeartbeatTimeout || sent.GetRetryPolicy().GetMaximumAttempts() != want.RetryPolicy.MaximumAttempts {
			t.Errorf("%s: timeouts and retries of %v, want %+v", name, sent, want)
		}
	}
}

// TestUntakenDryRun checks what a dry run does that no worker takes.
func TestUntakenDryRun(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason    string
		polls     []time.Duration
		noWorker  bool
		workflows int
	}{
		"no worker":    {reason: "nothing polled for minutes: the command ends at once", polls: []time.Duration{time.Hour}, noWorker: true},
		"gone or full": {reason: "a worker polled a while ago: its workflow shows whether it lives", polls: []time.Duration{30 * time.Second}, workflows: 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := &dryRunServer{polls: tc.polls}
			c := server.connect(t)
			c.workerTimeout = 50 * time.Millisecond
			_, err := c.Plan(t.Context(), "plan:1", planned(t))
			if is[*NoWorkerError](err) != tc.noWorker || !tc.noWorker && err != nil {
				t.Errorf("%s: %v", tc.reason, err)
			}
			if ended, w := server.sent("terminate activity"), server.sent("start workflow"); ended != 1 || w != tc.workflows {
				t.Errorf("%s: %d activities were terminated and %d workflows started, want 1 and %d", tc.reason, ended, w, tc.workflows)
			}
		})
	}
}

// TestInterruptedDryRun checks that Ctrl-C cancels the activity.
func TestInterruptedDryRun(t *testing.T) {
	t.Parallel()
	server := &dryRunServer{}
	c := server.connect(t)
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	ended := make(chan error, 1)
	go func() {
		_, err := c.Plan(ctx, "plan:1", planned(t))
		ended <- err
	}()
	for server.sent("poll activity") == 0 {
		<-time.After(time.Millisecond)
	}
	interrupt()
	if err := <-ended; !errors.Is(err, ErrInterrupted) {
		t.Errorf("the error is %v", err)
	}
	if n := server.sent("cancel activity"); n != 1 {
		t.Errorf("%d activities were canceled, want 1", n)
	}
}

// TestDryRunOfUnreachableServer checks that other errors of a start are for the user.
func TestDryRunOfUnreachableServer(t *testing.T) {
	t.Parallel()
	server := &dryRunServer{start: serviceerror.NewNamespaceNotFound("default")}
	c := server.connect(t)
	_, err := c.Plan(t.Context(), "plan:1", planned(t))
	if failure, ok := errors.AsType[*cli.ExitError](err); !ok || failure.Code != cli.ExitBadInput || !strings.Contains(err.Error(), "find namespace default") {
		t.Errorf("the error is %v", err)
	}
	if n := server.sent("start workflow"); n != 0 {
		t.Errorf("%d workflows were started", n)
	}
}
