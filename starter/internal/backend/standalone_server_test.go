package backend

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/payload"
	activitypb "go.temporal.io/api/activity/v1"
	commonpb "go.temporal.io/api/common/v1"
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

// dryRunServer is a Temporal server whose activities and workflows end as a test states.
type dryRunServer struct {
	workflowservice.UnimplementedWorkflowServiceServer
	t *testing.T
	// start is the error of each start of an activity; outcome is how one ends, nil for one
	// that no worker takes.
	start   error
	outcome *activitypb.ActivityExecutionOutcome
	// polls are the ages of the last polls of the task queue.
	polls []time.Duration

	mu       sync.Mutex
	requests map[string]int
	started  *workflowservice.StartActivityExecutionRequest
}

// connect starts the server and returns a client of it.
func (s *dryRunServer) connect(t *testing.T) *Client {
	t.Helper()
	s.t, s.requests = t, map[string]int{}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(grpc.UnaryInterceptor(func(ctx context.Context, request any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
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
	return &Client{client: c, namespace: "default", taskQueue: "q1", workerTimeout: DefaultWorkerTimeout}
}

func (s *dryRunServer) count(request string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests[request]++
}

// sent returns the number of requests of a kind.
func (s *dryRunServer) sent(request string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests[request]
}

// lastStart returns the newest request that starts an activity.
func (s *dryRunServer) lastStart() *workflowservice.StartActivityExecutionRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.started
}

func (s *dryRunServer) GetSystemInfo(context.Context, *workflowservice.GetSystemInfoRequest) (*workflowservice.GetSystemInfoResponse, error) {
	return &workflowservice.GetSystemInfoResponse{Capabilities: &workflowservice.GetSystemInfoResponse_Capabilities{}}, nil
}

func (s *dryRunServer) StartActivityExecution(_ context.Context, request *workflowservice.StartActivityExecutionRequest) (*workflowservice.StartActivityExecutionResponse, error) {
	s.count("start activity")
	s.mu.Lock()
	defer s.mu.Unlock()
	s.started = request
	return &workflowservice.StartActivityExecutionResponse{RunId: "r1", Started: true}, s.start
}

func (s *dryRunServer) PollActivityExecution(ctx context.Context, _ *workflowservice.PollActivityExecutionRequest) (*workflowservice.PollActivityExecutionResponse, error) {
	s.count("poll activity")
	if s.outcome == nil {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return &workflowservice.PollActivityExecutionResponse{RunId: "r1", Outcome: s.outcome}, nil
}

func (s *dryRunServer) DescribeActivityExecution(context.Context, *workflowservice.DescribeActivityExecutionRequest) (*workflowservice.DescribeActivityExecutionResponse, error) {
	return &workflowservice.DescribeActivityExecutionResponse{RunId: "r1", Info: &activitypb.ActivityExecutionInfo{
		Status: enumspb.ACTIVITY_EXECUTION_STATUS_RUNNING, RunState: enumspb.PENDING_ACTIVITY_STATE_SCHEDULED, Attempt: 1,
		SearchAttributes: &commonpb.SearchAttributes{},
	}}, nil
}

func (s *dryRunServer) TerminateActivityExecution(context.Context, *workflowservice.TerminateActivityExecutionRequest) (*workflowservice.TerminateActivityExecutionResponse, error) {
	s.count("terminate activity")
	return &workflowservice.TerminateActivityExecutionResponse{}, nil
}

func (s *dryRunServer) RequestCancelActivityExecution(context.Context, *workflowservice.RequestCancelActivityExecutionRequest) (*workflowservice.RequestCancelActivityExecutionResponse, error) {
	s.count("cancel activity")
	return &workflowservice.RequestCancelActivityExecutionResponse{}, nil
}

func (s *dryRunServer) DescribeTaskQueue(context.Context, *workflowservice.DescribeTaskQueueRequest) (*workflowservice.DescribeTaskQueueResponse, error) {
	response := &workflowservice.DescribeTaskQueueResponse{}
	for _, age := range s.polls {
		response.Pollers = append(response.Pollers, &taskqueuepb.PollerInfo{LastAccessTime: timestamppb.New(time.Now().Add(-age))})
	}
	return response, nil
}

func (s *dryRunServer) StartWorkflowExecution(context.Context, *workflowservice.StartWorkflowExecutionRequest) (*workflowservice.StartWorkflowExecutionResponse, error) {
	s.count("start workflow")
	return &workflowservice.StartWorkflowExecutionResponse{RunId: "r2", Started: true}, nil
}

// GetWorkflowExecutionHistory returns the end of the workflow, with a plan to update.
func (s *dryRunServer) GetWorkflowExecutionHistory(context.Context, *workflowservice.GetWorkflowExecutionHistoryRequest) (*workflowservice.GetWorkflowExecutionHistoryResponse, error) {
	return &workflowservice.GetWorkflowExecutionHistoryResponse{History: &historypb.History{Events: []*historypb.HistoryEvent{{
		EventId: 11, EventType: enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED,
		Attributes: &historypb.HistoryEvent_WorkflowExecutionCompletedEventAttributes{
			WorkflowExecutionCompletedEventAttributes: &historypb.WorkflowExecutionCompletedEventAttributes{
				Result: s.encode(activities.PlanResourceResult{Action: activities.PlanUpdate, Message: "by the workflow"}),
			},
		},
	}}}}, nil
}

func (s *dryRunServer) DescribeWorkflowExecution(context.Context, *workflowservice.DescribeWorkflowExecutionRequest) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	return &workflowservice.DescribeWorkflowExecutionResponse{WorkflowExecutionInfo: &workflowpb.WorkflowExecutionInfo{HistoryLength: 2}}, nil
}

func (s *dryRunServer) encode(value any) *commonpb.Payloads {
	encoded, err := payload.DataConverter().ToPayloads(value)
	if err != nil {
		s.t.Error(err)
	}
	return encoded
}

// completed is the outcome of an activity with a plan to create.
func completed(t *testing.T) *activitypb.ActivityExecutionOutcome {
	t.Helper()
	encoded, err := payload.DataConverter().ToPayloads(activities.PlanResourceResult{Action: activities.PlanCreate, Message: "by the activity"})
	if err != nil {
		t.Fatal(err)
	}
	return &activitypb.ActivityExecutionOutcome{Value: &activitypb.ActivityExecutionOutcome_Result{Result: encoded}}
}

// failureOf is the outcome of an activity that failed with an application error.
func failureOf(kind, message string) *activitypb.ActivityExecutionOutcome {
	return failed(&failurepb.Failure{Message: message, FailureInfo: &failurepb.Failure_ApplicationFailureInfo{
		ApplicationFailureInfo: &failurepb.ApplicationFailureInfo{Type: kind, NonRetryable: true},
	}})
}

// timedOut is the outcome of an activity that no worker completed.
func timedOut() *activitypb.ActivityExecutionOutcome {
	return failed(&failurepb.Failure{Message: "timeout", FailureInfo: &failurepb.Failure_TimeoutFailureInfo{
		TimeoutFailureInfo: &failurepb.TimeoutFailureInfo{TimeoutType: enumspb.TIMEOUT_TYPE_SCHEDULE_TO_CLOSE},
	}})
}

func failed(f *failurepb.Failure) *activitypb.ActivityExecutionOutcome {
	return &activitypb.ActivityExecutionOutcome{Value: &activitypb.ActivityExecutionOutcome_Failure{Failure: f}}
}
