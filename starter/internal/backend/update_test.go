package backend

import (
	"context"
	"errors"
	"strings"
	"testing"
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

// answered is an update that was answered with an error or with nothing.
type answered struct {
	client.WorkflowUpdateHandle
	err error
}

func (a answered) Get(context.Context, any) error { return a.err }

func TestSend(t *testing.T) {
	ended := temporal.NewApplicationError("the run ended", acceptedUpdateCompleted)
	cases := map[string]struct {
		reason  string
		answers []error
		calls   int
		refusal string
	}{
		"answered":       {reason: "one call", answers: []error{nil}, calls: 1},
		"run ended":      {reason: "the next run takes the same update", answers: []error{ended, nil}, calls: 2},
		"ends for ever":  {reason: "the tries are bounded", answers: []error{ended, ended, ended, ended}, calls: maxUpdateAttempts, refusal: "the run ended"},
		"run closing":    {reason: "an update-with-start starts the next run", answers: []error{markClosing(serviceerror.NewNotFound("aborted by closing workflow")), markClosing(serviceerror.NewAborted("again")), nil}, calls: 3},
		"refused":        {reason: "a refusal is final and keeps its message", answers: []error{temporal.NewApplicationError("adx is being deleted", workflows.RefusedDeleting)}, calls: 1, refusal: "adx is being deleted"},
		"refused inside": {reason: "a wrapped refusal too", answers: []error{errors.Join(temporal.NewApplicationError("no", workflows.RefusedOnce))}, calls: 1, refusal: "no"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			calls := 0
			err := (&Client{taskQueue: "q1", workerTimeout: DefaultWorkerTimeout}).send(t.Context(), Message{}, func(context.Context) (client.WorkflowUpdateHandle, error) {
				calls++
				return answered{err: tc.answers[calls-1]}, nil
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

// polling is a server whose task queue was asked for work at these times.
type polling struct {
	client.Client
	at  []time.Time
	err error
}

func (p polling) DescribeTaskQueue(context.Context, string, enumspb.TaskQueueType) (*workflowservice.DescribeTaskQueueResponse, error) {
	answer := &workflowservice.DescribeTaskQueueResponse{}
	for _, at := range p.at {
		answer.Pollers = append(answer.Pollers, &taskqueuepb.PollerInfo{LastAccessTime: timestamppb.New(at)})
	}
	return answer, p.err
}

// TestSilenceTellsBusyFromMissing holds that a worker is believed in only while
// it asks for work: one that was killed stays in the list for minutes.
func TestSilenceTellsBusyFromMissing(t *testing.T) {
	now := time.Now()
	cases := map[string]struct {
		reason string
		server polling
		want   string
	}{
		"nobody":     {reason: "no worker ever polled", want: "no worker responds on task queue q1"},
		"killed":     {reason: "the last poll was before the message", server: polling{at: []time.Time{now.Add(-time.Minute)}}, want: "no worker responds on task queue q1"},
		"overloaded": {reason: "one polls and does not get to the message", server: polling{at: []time.Time{now.Add(-time.Hour), now.Add(time.Hour)}}, want: "a worker polls task queue q1 and did not respond within 10s"},
		"unknown":    {reason: "what is not known is not told", server: polling{at: []time.Time{now.Add(time.Hour)}, err: errors.New("no")}, want: "no worker responds on task queue q1"},
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
