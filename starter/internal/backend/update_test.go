package backend

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/armature-io/armature/resource"
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

// TestSendUntilDecided verifies that a message which a worker has not decided about is sent
// again, as the same message with the same token, and not for ever.
func TestSendUntilDecided(t *testing.T) {
	notDecided := temporal.NewApplicationError("pause of adx is not decided yet; try again", workflows.RefusedNotDecided)
	cases := map[string]struct {
		reason      string
		decided     time.Duration
		outcome     error
		least, most int
		within      time.Duration
		want        string
	}{
		"quick":    {"the first pauses are short", 250 * time.Millisecond, nil, 3, 3, 400 * time.Millisecond, ""},
		"5 s":      {"they grow", 5 * time.Second, nil, 5, 8, 8 * time.Second, ""},
		"refused":  {"a decision is final", 5 * time.Second, temporal.NewApplicationError("no", "NotAuthorized"), 5, 8, 8 * time.Second, "no"},
		"30 s":     {"the longest decision of a worker", 30 * time.Second, nil, 15, 25, 33 * time.Second, ""},
		"no end":   {"the user reads the words of the worker", time.Hour, nil, 15, 25, 36 * time.Second, "pause of adx is not decided yet; try again"},
		"run ends": {"the next run accepts the message", 0, temporal.NewApplicationError("the run ended", acceptedUpdateCompleted), 3, 3, time.Second, "the run ended"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tokens := &tokens{token: func(context.Context) (string, error) { return time.Now().String(), nil }}
				calls, sent, begun := 0, "", time.Now()
				// No worker timeout counts the time of the decision.
				c := &Client{client: pollServer{}, taskQueue: "q1", workerTimeout: time.Second}
				err := c.send(t.Context(), Message{}, func(ctx context.Context) (client.WorkflowUpdateHandle, error) {
					calls++
					token, err := tokens.tokenOf(ctx)
					if err != nil || sent != "" && sent != token {
						t.Errorf("call %d has another token (%v)", calls, err)
					}
					if sent = token; time.Since(begun) < tc.decided {
						return completedUpdate{err: notDecided}, nil
					}
					return completedUpdate{err: tc.outcome}, nil
				})
				if calls < tc.least || calls > tc.most || time.Since(begun) > tc.within {
					t.Errorf("%s: %d calls in %s, want %d to %d within %s", tc.reason, calls, time.Since(begun), tc.least, tc.most, tc.within)
				}
				if (err == nil) != (tc.want == "") || err != nil && err.Error() != tc.want {
					t.Errorf("%s: error %v, want %q", tc.reason, err, tc.want)
				}
			})
		})
	}
}

// TestRepetitionsAreOneMessage verifies that the repetitions of a message have its ID, and that
// other messages have other ones.
func TestRepetitionsAreOneMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &undecided{refusals: 3}
		c := &Client{client: server, taskQueue: "q1", workerTimeout: time.Second}
		for range 2 {
			server.refused = 0
			if err := c.Update(t.Context(), "w", Message{Name: workflows.PauseUpdate}); err != nil {
				t.Error(err)
			}
			if err := c.UpdateWithStart(t.Context(), resource.Desired{}, Message{Name: workflows.ApplyUpdate}); err != nil {
				t.Error(err)
			}
		}
		counts := map[string]int{}
		for _, id := range server.ids {
			counts[id]++
		}
		if len(counts) != 4 || len(server.ids) != 10 || counts[""] > 0 {
			t.Errorf("%d sendings with the IDs %v, want 10 of 4 messages", len(server.ids), counts)
		}
	})
}

// undecided is a server that refuses the first messages as not decided.
type undecided struct {
	client.Client
	refusals, refused int
	ids               []string
}

func (u *undecided) answer(id string) (client.WorkflowUpdateHandle, error) {
	u.ids = append(u.ids, id)
	if u.refused++; u.refused <= u.refusals {
		return completedUpdate{err: temporal.NewApplicationError("later", workflows.RefusedNotDecided)}, nil
	}
	return completedUpdate{}, nil
}

func (u *undecided) UpdateWorkflow(_ context.Context, options client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error) {
	return u.answer(options.UpdateID)
}

func (u *undecided) NewWithStartWorkflowOperation(client.StartWorkflowOptions, any, ...any) client.WithStartWorkflowOperation {
	return nil
}

func (u *undecided) UpdateWithStartWorkflow(_ context.Context, options client.UpdateWithStartWorkflowOptions) (client.WorkflowUpdateHandle, error) {
	return u.answer(options.UpdateOptions.UpdateID)
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
