package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/payload"
	"github.com/armature-io/armature/workflows"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
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
		"ends for ever":  {reason: "the tries are bounded", answers: []error{ended, ended, ended, ended}, calls: updateTries, refusal: "the run ended"},
		"run closing":    {reason: "an update-with-start starts the next run", answers: []error{whileClosing(serviceerror.NewNotFound("aborted by closing workflow")), whileClosing(serviceerror.NewAborted("again")), nil}, calls: 3},
		"refused":        {reason: "a refusal is final and keeps its message", answers: []error{temporal.NewApplicationError("adx is being deleted", workflows.RefusedDeleting)}, calls: 1, refusal: "adx is being deleted"},
		"refused inside": {reason: "a wrapped refusal too", answers: []error{errors.Join(temporal.NewApplicationError("no", workflows.RefusedOnce))}, calls: 1, refusal: "no"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			calls := 0
			err := (&temporalClient{taskQueue: "q1", patience: workerTimeout}).send(t.Context(), message{}, func(context.Context) (client.WorkflowUpdateHandle, error) {
				calls++
				return answered{err: tc.answers[calls-1]}, nil
			})
			if calls != tc.calls {
				t.Errorf("%s: %d calls, want %d", tc.reason, calls, tc.calls)
			}
			var refusal *refusedError
			if errors.As(err, &refusal) != (tc.refusal != "") || refusal != nil && refusal.text != tc.refusal {
				t.Errorf("%s: error %v, want %q", tc.reason, err, tc.refusal)
			}
		})
	}
}

func TestNewRecord(t *testing.T) {
	encode := func(value any) *commonpb.Payload {
		p, err := payload.DataConverter().ToPayload(value)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	attribute, err := converter.GetDefaultDataConverter().ToPayload("Blocked")
	if err != nil {
		t.Fatal(err)
	}
	long := group + "/providers/Microsoft.Storage/storageAccounts/" + strings.Repeat("x", 3000)
	got := newRecord(&workflowpb.WorkflowExecutionInfo{
		Execution:        &commonpb.WorkflowExecution{WorkflowId: "w1"},
		Status:           enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED,
		SearchAttributes: &commonpb.SearchAttributes{IndexedFields: map[string]*commonpb.Payload{attributePhase: attribute}},
		Memo:             &commonpb.Memo{Fields: map[string]*commonpb.Payload{workflows.MemoID: encode(long), workflows.MemoName: encode("x")}},
	})
	if got.ID.String() != long || got.Name != "x" || got.Phase != workflows.PhaseBlocked || got.Running || got.Ended != "Terminated" {
		t.Errorf("record is %+v: a compressed memo and plain attributes must be read", got)
	}
	if broken := newRecord(&workflowpb.WorkflowExecutionInfo{Execution: &commonpb.WorkflowExecution{WorkflowId: "w2"}}); broken.called() != "w2" {
		t.Errorf("a workflow without memo is called %q, want its workflow ID", broken.called())
	}
}

func TestSilentWorkersCostOneRound(t *testing.T) {
	w := newWorld()
	for range 3 * silentQueries {
		w.temporal.manage(t, cluster, readyStatus())
	}
	w.temporal.silent = true
	if code := w.run("get"); code != exitOK {
		t.Fatalf("exit code %d: %s", code, w.err)
	}
	if n := w.temporal.asked; n > 2*silentQueries {
		t.Errorf("%d queries waited for their timeout, want about %d", n, silentQueries)
	}
}

func TestMessagesNeedARunningWorkflow(t *testing.T) {
	for _, command := range []string{"delete", "pause", "resume", "reconcile"} {
		t.Run(command, func(t *testing.T) {
			w := newWorld()
			w.temporal.manage(t, cluster, readyStatus())
			w.temporal.end("Completed", readyStatus())
			if code := w.run(command, cluster); code != exitFailed || !strings.Contains(w.err.String(), "nothing was started") {
				t.Errorf("exit code %d: %s", code, w.err)
			}
			if len(w.temporal.sent) > 0 {
				t.Errorf("sent %v to a workflow that ended", w.temporal.sent)
			}
		})
	}
}

// TestNoWorkerNamesTheWorkflowsQueue holds that people start the worker that is
// missing, not one of the flag's queue.
func TestNoWorkerNamesTheWorkflowsQueue(t *testing.T) {
	w := newWorld()
	w.temporal.manage(t, cluster, readyStatus())
	w.temporal.change(t, cluster, func(r *record) { r.TaskQueue = "q7" })
	w.temporal.errs = map[string]error{strings.ToLower(cluster): &noWorkerError{taskQueue: "armature"}}
	if code := w.run("resume", "adx"); code != exitUnreachable || !strings.Contains(w.err.String(), "no worker answers on task queue q7") {
		t.Errorf("exit code %d: %s", code, w.err)
	}
}

// TestStuckIsNotSilent holds that a list, which tells late of a failing workflow
// task, is not believed where nobody answers.
func TestStuckIsNotSilent(t *testing.T) {
	w := newWorld()
	w.temporal.manage(t, cluster, readyStatus())
	w.temporal.described = "its workflow task fails (attempt 3)"
	w.temporal.silent = true
	w.temporal.errs = map[string]error{strings.ToLower(cluster): &noWorkerError{taskQueue: "armature"}}
	if code := w.run("get"); code != exitOK || !strings.Contains(w.out.String()+w.err.String(), "1 resource is stuck") || strings.Contains(w.err.String(), "no worker answers") {
		t.Errorf("get: exit code %d:\n%s%s", code, w.out, w.err)
	}
	w.err.Reset()
	if code := w.run("resume", "adx"); code != exitUnreachable || !strings.Contains(w.err.String(), "its workflow task fails (attempt 3): a worker on task queue") {
		t.Errorf("resume: exit code %d: %s", code, w.err)
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
		"nobody":     {reason: "no worker ever polled", want: "no worker answers on task queue q1"},
		"killed":     {reason: "the last poll was before the message", server: polling{at: []time.Time{now.Add(-time.Minute)}}, want: "no worker answers on task queue q1"},
		"overloaded": {reason: "one polls and does not get to the message", server: polling{at: []time.Time{now.Add(-time.Hour), now.Add(time.Hour)}}, want: "a worker is there on task queue q1 and did not answer within 10s"},
		"unknown":    {reason: "what is not known is not told", server: polling{at: []time.Time{now.Add(time.Hour)}, err: errors.New("no")}, want: "no worker answers on task queue q1"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := &temporalClient{client: tc.server, taskQueue: "q1", patience: workerTimeout}
			err := c.send(t.Context(), message{}, func(context.Context) (client.WorkflowUpdateHandle, error) {
				return nil, serviceerror.NewDeadlineExceeded("x")
			})
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: %v, want %q", tc.reason, err, tc.want)
			}
		})
	}
}
