package backend

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/armature-io/armature/workflows"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// completedUpdate is the handle of an update that ended with err.
type completedUpdate struct {
	client.WorkflowUpdateHandle
	err error
}

func (a completedUpdate) Get(context.Context, any) error { return a.err }

func TestSend(t *testing.T) {
	ended := temporal.NewApplicationError("the run ended", acceptedUpdateCompleted)
	cases := map[string]struct {
		reason  string
		results []error
		calls   int
		refusal string
	}{
		"completed":      {reason: "one call suffices", results: []error{nil}, calls: 1},
		"run ended":      {reason: "the next run accepts the same update", results: []error{ended, nil}, calls: 2},
		"keeps ending":   {reason: "the attempts are bounded", results: []error{ended, ended, ended, ended}, calls: maxUpdateAttempts, refusal: "the run ended"},
		"run closing":    {reason: "an update-with-start starts the next run", results: []error{markClosing(serviceerror.NewNotFound("aborted by closing workflow")), markClosing(serviceerror.NewAborted("closing")), nil}, calls: 3},
		"refused":        {reason: "a refusal is final and keeps its message", results: []error{temporal.NewApplicationError("adx is being deleted", workflows.RefusedDeleting)}, calls: 1, refusal: "adx is being deleted"},
		"refused inside": {reason: "a wrapped refusal is found", results: []error{errors.Join(temporal.NewApplicationError("no", workflows.RefusedOnce))}, calls: 1, refusal: "no"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			calls := 0
			err := (&Client{taskQueue: "q1", workerTimeout: DefaultWorkerTimeout}).send(t.Context(), Message{}, func(context.Context) (client.WorkflowUpdateHandle, error) {
				calls++
				return completedUpdate{err: tc.results[calls-1]}, nil
			})
			if calls != tc.calls {
				t.Errorf("%s: %d calls, want %d", tc.reason, calls, tc.calls)
			}
			var refusal *RefusedError
			if errors.As(err, &refusal) != (tc.refusal != "") || refusal != nil && refusal.Text != tc.refusal {
				t.Errorf("%s: error %v, want %q", tc.reason, err, tc.refusal)
			}
		})
	}
}

// TestSendWhileTaskFails verifies that an update which the server refuses because the
// workflow's task keeps failing is sent again: a new worker completes that task.
func TestSendWhileTaskFails(t *testing.T) {
	notReady := serviceerror.NewWorkflowNotReady("Unable to perform workflow execution update due to Workflow Task in failed state.")
	cases := map[string]struct {
		refusals int
		timeout  time.Duration
		silent   bool
	}{
		"completes":     {refusals: 2, timeout: time.Minute},
		"keeps failing": {refusals: 1 << 20, timeout: time.Millisecond, silent: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				calls := 0
				c := &Client{client: pollServer{}, taskQueue: "q1", workerTimeout: tc.timeout}
				err := c.send(t.Context(), Message{}, func(context.Context) (client.WorkflowUpdateHandle, error) {
					if calls++; calls <= tc.refusals {
						return nil, notReady
					}
					return completedUpdate{}, nil
				})
				if is[*NoWorkerError](err) != tc.silent || !tc.silent && (err != nil || calls != tc.refusals+1) {
					t.Errorf("%d calls, error %v", calls, err)
				}
			})
		})
	}
}

// pollServer is a server with the times of the last polls of a task queue.
type pollServer struct {
	client.Client
	polls []time.Time
	err   error
}

func (p pollServer) DescribeTaskQueue(context.Context, string, enumspb.TaskQueueType) (*workflowservice.DescribeTaskQueueResponse, error) {
	response := &workflowservice.DescribeTaskQueueResponse{}
	for _, at := range p.polls {
		response.Pollers = append(response.Pollers, &taskqueuepb.PollerInfo{LastAccessTime: timestamppb.New(at)})
	}
	return response, p.err
}

// TestNoWorkerOrBusyWorker verifies that only a recent poll counts as a worker: the
// server lists a killed worker for minutes.
func TestNoWorkerOrBusyWorker(t *testing.T) {
	now := time.Now()
	cases := map[string]struct {
		reason string
		server pollServer
		want   string
	}{
		"no worker":  {reason: "no worker ever polled", want: "no worker responds on task queue q1"},
		"killed":     {reason: "the last poll was before the message", server: pollServer{polls: []time.Time{now.Add(-time.Minute)}}, want: "no worker responds on task queue q1"},
		"overloaded": {reason: "a worker polls and does not process the message", server: pollServer{polls: []time.Time{now.Add(-time.Hour), now.Add(time.Hour)}}, want: "a worker polls task queue q1 and did not respond within 10s"},
		"unknown":    {reason: "without a list of polls no worker is assumed", server: pollServer{polls: []time.Time{now.Add(time.Hour)}, err: errors.New("no")}, want: "no worker responds on task queue q1"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := &Client{client: tc.server, taskQueue: "q1", workerTimeout: DefaultWorkerTimeout}
			err := c.send(t.Context(), Message{}, func(context.Context) (client.WorkflowUpdateHandle, error) {
				return nil, serviceerror.NewDeadlineExceeded("x")
			})
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: %v, want %q", tc.reason, err, tc.want)
			}
		})
	}
}
