package backend

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/internal/payload"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	enumspb "go.temporal.io/api/enums/v1"
	failurepb "go.temporal.io/api/failure/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// dryRunServer is a Temporal server whose workflows end with one event.
type dryRunServer struct {
	workflowservice.UnimplementedWorkflowServiceServer
	version string
	// start is the error of each start; end is the last event, nil if no worker takes the
	// workflow.
	start error
	end   *historypb.HistoryEvent
	// lastPoll is the age of the last poll of the task queue.
	lastPoll time.Duration
	// attempt is that of the pending workflow task.
	attempt int32

	mu         sync.Mutex
	started    *workflowservice.StartWorkflowExecutionRequest
	terminated int
}

// connect starts the server and returns a client of it.
func (s *dryRunServer) connect(t *testing.T) *Client { return connectTo(t, s) }

// connectTo starts a server and returns a client of it.
func connectTo(t *testing.T, s workflowservice.WorkflowServiceServer) *Client {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(grpc.UnaryInterceptor(func(ctx context.Context, request any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
		response, err := next(ctx, request)
		if err != nil {
			err = serviceerror.ToStatus(err).Err()
		}
		return response, err
	}))
	workflowservice.RegisterWorkflowServiceServer(server, s)
	go func() { _ = server.Serve(listener) }() // ends with Stop
	t.Cleanup(server.Stop)
	c, err := client.Dial(client.Options{HostPort: listener.Addr().String(), DataConverter: payload.DataConverter()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return &Client{client: c, address: "t:7233", namespace: "default", taskQueue: "q1", workerTimeout: 50 * time.Millisecond, converters: payload.Clear()}
}

func (s *dryRunServer) GetSystemInfo(context.Context, *workflowservice.GetSystemInfoRequest) (*workflowservice.GetSystemInfoResponse, error) {
	return &workflowservice.GetSystemInfoResponse{ServerVersion: s.version, Capabilities: &workflowservice.GetSystemInfoResponse_Capabilities{}}, nil
}

func (s *dryRunServer) StartWorkflowExecution(_ context.Context, request *workflowservice.StartWorkflowExecutionRequest) (*workflowservice.StartWorkflowExecutionResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.started = request
	return &workflowservice.StartWorkflowExecutionResponse{RunId: "r1", Started: true}, s.start
}

func (s *dryRunServer) GetWorkflowExecutionHistory(ctx context.Context, _ *workflowservice.GetWorkflowExecutionHistoryRequest) (*workflowservice.GetWorkflowExecutionHistoryResponse, error) {
	if s.end == nil {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return &workflowservice.GetWorkflowExecutionHistoryResponse{History: &historypb.History{Events: []*historypb.HistoryEvent{s.end}}}, nil
}

func (s *dryRunServer) DescribeWorkflowExecution(context.Context, *workflowservice.DescribeWorkflowExecutionRequest) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	response := &workflowservice.DescribeWorkflowExecutionResponse{WorkflowExecutionInfo: &workflowpb.WorkflowExecutionInfo{HistoryLength: 2}}
	if s.attempt > 0 {
		response.WorkflowExecutionInfo.HistoryLength = 4 // the first failure is in the history
		response.PendingWorkflowTask = &workflowpb.PendingWorkflowTaskInfo{Attempt: s.attempt}
	}
	return response, nil
}

func (s *dryRunServer) DescribeTaskQueue(context.Context, *workflowservice.DescribeTaskQueueRequest) (*workflowservice.DescribeTaskQueueResponse, error) {
	return &workflowservice.DescribeTaskQueueResponse{Pollers: []*taskqueuepb.PollerInfo{{LastAccessTime: timestamppb.New(time.Now().Add(-s.lastPoll))}}}, nil
}

func (s *dryRunServer) TerminateWorkflowExecution(context.Context, *workflowservice.TerminateWorkflowExecutionRequest) (*workflowservice.TerminateWorkflowExecutionResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.terminated++
	return &workflowservice.TerminateWorkflowExecutionResponse{}, nil
}

// planned returns the input of a plan.
func planned(t *testing.T) activities.PlanResourceInput {
	t.Helper()
	id, err := resource.ParseID("/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg1")
	if err != nil {
		t.Fatal(err)
	}
	return activities.PlanResourceInput{Desired: resource.Desired{ID: id, APIVersion: "2024-03-01"}}
}

// completed is the end of a workflow with a plan to create.
func completed(t *testing.T) *historypb.HistoryEvent {
	t.Helper()
	result, err := payload.DataConverter().ToPayloads(activities.PlanResourceResult{Action: activities.PlanCreate})
	if err != nil {
		t.Fatal(err)
	}
	return &historypb.HistoryEvent{
		EventId: 11, EventType: enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED,
		Attributes: &historypb.HistoryEvent_WorkflowExecutionCompletedEventAttributes{
			WorkflowExecutionCompletedEventAttributes: &historypb.WorkflowExecutionCompletedEventAttributes{Result: result},
		},
	}
}

// failed is the end of a workflow with an error of its activity.
func failed(message string) *historypb.HistoryEvent {
	return &historypb.HistoryEvent{
		EventId: 11, EventType: enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED,
		Attributes: &historypb.HistoryEvent_WorkflowExecutionFailedEventAttributes{
			WorkflowExecutionFailedEventAttributes: &historypb.WorkflowExecutionFailedEventAttributes{Failure: &failurepb.Failure{
				Message: message, FailureInfo: &failurepb.Failure_ApplicationFailureInfo{ApplicationFailureInfo: &failurepb.ApplicationFailureInfo{Type: "CheckFailed"}},
			}},
		},
	}
}

// timedOut is the end of a workflow that no worker completed in time.
func timedOut() *historypb.HistoryEvent {
	return &historypb.HistoryEvent{
		EventId: 3, EventType: enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_TIMED_OUT,
		Attributes: &historypb.HistoryEvent_WorkflowExecutionTimedOutEventAttributes{
			WorkflowExecutionTimedOutEventAttributes: &historypb.WorkflowExecutionTimedOutEventAttributes{},
		},
	}
}

// TestDryRun checks the result and the errors of a dry run.
func TestDryRun(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason     string
		server     *dryRunServer
		err        string
		terminated int
	}{
		"Result":      {reason: "a worker completed it", server: &dryRunServer{end: completed(t)}},
		"Failed":      {reason: "the error of the workflow is for the user", server: &dryRunServer{end: failed("ARM cannot be reached")}, err: "ARM cannot be reached"},
		"TimedOut":    {reason: "the worker may not know the workflow", server: &dryRunServer{end: timedOut()}, err: "it did not end within 5m0s"},
		"NoWorker":    {reason: "nothing polls: the run is terminated at once", server: &dryRunServer{lastPoll: time.Hour}, err: "no worker", terminated: 1},
		"Failing":     {reason: "a task that no worker can run keeps nobody waiting", server: &dryRunServer{attempt: 3}, err: "its workflow task fails (attempt 3)", terminated: 1},
		"NoNamespace": {reason: "a start that the server refuses is for the user", server: &dryRunServer{start: serviceerror.NewNamespaceNotFound("default")}, err: "find namespace default"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result, err := c.server.connect(t).Plan(t.Context(), "plan:1", planned(t))
			if c.err == "" {
				if err != nil || result.Action != activities.PlanCreate {
					t.Errorf("%s: %+v, %v", c.reason, result, err)
				}
			} else if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: the error is %v, want %q", c.reason, err, c.err)
			}
			if c.server.terminated != c.terminated {
				t.Errorf("%s: %d runs were terminated, want %d", c.reason, c.server.terminated, c.terminated)
			}
			sent := c.server.started
			if sent.GetTaskQueue().GetName() != "q1" || sent.GetPriority().GetPriorityKey() != workflows.PriorityUser || sent.GetWorkflowExecutionTimeout().AsDuration() != dryRunTimeout {
				t.Errorf("started %v", sent)
			}
		})
	}
}

// TestInterruptedDryRun checks that Ctrl-C ends the wait.
func TestInterruptedDryRun(t *testing.T) {
	t.Parallel()
	server := &dryRunServer{}
	c := server.connect(t)
	c.workerTimeout = time.Minute
	ctx, interrupt := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer interrupt()
	stopped, stop := context.WithCancel(ctx)
	time.AfterFunc(20*time.Millisecond, stop)
	if _, err := c.Plan(stopped, "plan:1", planned(t)); !errors.Is(err, ErrInterrupted) {
		t.Errorf("the error is %v", err)
	}
}
