package backend

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/internal/payload"
	"github.com/armature-io/armature/workflows"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// slowClient answers queries after some that time out. It keeps the time that each query
// may take.
type slowClient struct {
	client.Client
	unanswered int
	// early are those before them that the server gives up before their time.
	early    int
	task     enumspb.PendingWorkflowTaskState
	timeouts []time.Duration
}

func (c *slowClient) QueryWorkflow(ctx context.Context, _, _, _ string, _ ...any) (converter.EncodedValue, error) {
	deadline, _ := ctx.Deadline()
	c.timeouts = append(c.timeouts, time.Until(deadline).Round(time.Second))
	switch {
	case len(c.timeouts) <= c.early:
		return nil, serviceerror.NewDeadlineExceeded("context deadline exceeded")
	case len(c.timeouts) <= c.early+c.unanswered:
		return nil, context.DeadlineExceeded
	}
	encoded, err := payload.DataConverter().ToPayloads(workflows.Status{Pass: 7})
	return client.NewValue(encoded), err
}

func (c *slowClient) DescribeWorkflowExecution(context.Context, string, string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	return &workflowservice.DescribeWorkflowExecutionResponse{PendingWorkflowTask: &workflowpb.PendingWorkflowTaskInfo{
		State: c.task, StartedTime: timestamppb.New(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)),
	}}, nil
}

// A worker that runs a step responds after it: it is waited for, and not reported as missing.
func TestStatusDuringAStep(t *testing.T) {
	const started, scheduled = enumspb.PENDING_WORKFLOW_TASK_STATE_STARTED, enumspb.PENDING_WORKFLOW_TASK_STATE_SCHEDULED
	cases := map[string]struct {
		reason     string
		unanswered int
		task       enumspb.PendingWorkflowTaskState
		queries    int
		want       string // of the error
	}{
		"at once":   {"nothing runs", 0, started, 1, ""},
		"step":      {"the second query waits for the step", 1, started, 2, ""},
		"long step": {"the error names the step, not a missing worker", 2, started, 2, "a worker on task queue q1 runs a step of the resource since 2026-11-20 12:00:00Z"},
		"no worker": {"nobody took the task: a second query would only cost time", 1, scheduled, 1, "no worker responds on task queue q1"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			slow := &slowClient{unanswered: c.unanswered, task: c.task}
			status, err := (&Client{client: slow, taskQueue: "q1"}).Status(t.Context(), "w")
			switch {
			case len(slow.timeouts) != c.queries:
				t.Errorf("%s: %d queries, want %d", c.reason, len(slow.timeouts), c.queries)
			case c.want == "" && (err != nil || status.Pass != 7):
				t.Errorf("%s: got %+v, %v", c.reason, status, err)
			case c.want != "" && (err == nil || !is[*NoWorkerError](err) || !strings.Contains(err.Error(), c.want)):
				t.Errorf("%s: got %v, want %q", c.reason, err, c.want)
			case c.queries == 2 && slow.timeouts[1] < 10*time.Second:
				t.Errorf("%s: the second query waits %s, and two checks take 5 s each", c.reason, slow.timeouts[1])
			}
			if c.want != "" && strings.HasPrefix(c.want, "a worker") && strings.Contains(err.Error(), "start a worker") {
				t.Errorf("%s: the advice is for a missing worker: %v", c.reason, err)
			}
		})
	}
}

// A query that the server gave up because a worker was killed is sent again within its time.
func TestQueryAfterAKill(t *testing.T) {
	slow := &slowClient{early: 2, task: enumspb.PENDING_WORKFLOW_TASK_STATE_SCHEDULED}
	if _, err := (&Client{client: slow, taskQueue: "q1"}).Memory(t.Context(), "w"); err != nil || len(slow.timeouts) != 3 {
		t.Errorf("%d queries: %v; want the third to be answered", len(slow.timeouts), err)
	}
}
