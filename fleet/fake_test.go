package fleet

import (
	"context"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/internal/payload"
	"github.com/armature-io/armature/internal/searchattr"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	failurepb "go.temporal.io/api/failure/v1"
	"go.temporal.io/api/serviceerror"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	updatepb "go.temporal.io/api/update/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// server is a fake Temporal server for the fleet. Lists return listed, descriptions
// return running, and both may differ, as visibility does.
type server struct {
	workflowservice.UnimplementedWorkflowServiceServer
	t *testing.T

	mu      sync.Mutex
	listed  []*workflowpb.WorkflowExecutionInfo
	running map[string]*workflowpb.WorkflowExecutionInfo
	// broken are the errors of signals and descriptions by workflow.
	broken  map[string]error
	listErr error
	// position, or result if it is not nil, and updateErr are the result of an update.
	position  activities.Position
	result    any
	updateErr error
	// refusals are the types of the errors with which workflows refuse an update.
	refusals map[string]string
	// undecided is how many of the next updates a worker has not decided about.
	undecided int
	// deletes are how many updates of workflows are refused because their DELETE runs.
	deletes map[string]int

	// pollers are the identities of the workers that poll the task queue.
	pollers []string

	// started are the starts of workflows that were accepted.
	started []*workflowservice.StartWorkflowExecutionRequest

	queries   []string
	pages     int
	counts    int
	described []string
	signals   []signal
	updates   []update
	// heartbeats are the task tokens of heartbeats, beat is the response to them.
	heartbeats []string
	beat       *workflowservice.RecordActivityTaskHeartbeatResponse
	beatErr    error
	// task is when the pending workflow task of all runs began, zero for none; noTask takes it
	// away.
	task   time.Time
	noTask bool
	// pending are the activities of all runs.
	pending []*workflowpb.PendingActivityInfo
	// observed is the setting of the worker.
	observed resource.Observed
}

// signal is a received signal.
type signal struct {
	workflowID, name string
	wake             workflows.WakeInput
}

// update is a received update; start is the workflow that the request starts, if any.
type update struct {
	workflowID, name, start, taskQueue, messageID string
	priority                                      int32
	args                                          []*commonpb.Payload
}

func newServer(t *testing.T) *server {
	return &server{t: t, running: map[string]*workflowpb.WorkflowExecutionInfo{}, broken: map[string]error{}}
}

// run is a resource with a workflow.
type run struct {
	id           string
	policy       resource.Policy
	phase        workflows.Phase
	reason       resource.Reason
	needs, waits []string
	// unlisted runs are missing in visibility, noMemo runs have no memo.
	unlisted, noMemo bool
	// summary and labels are shown where they are set.
	summary *workflows.Summary
	labels  []string
	ended   bool
}

func (s *server) add(runs ...run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range runs {
		id := parse(s.t, r.id)
		memo := map[string]*commonpb.Payload{}
		if r.policy == "" {
			r.policy = resource.PolicyManage
		}
		if !r.noMemo {
			memo[workflows.MemoID] = encode(s.t, id.String())
			memo[workflows.MemoPolicy] = encode(s.t, string(r.policy))
		}
		status := enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING
		if r.ended {
			status = enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED
		}
		info := &workflowpb.WorkflowExecutionInfo{
			Execution: &commonpb.WorkflowExecution{WorkflowId: id.WorkflowID(), RunId: "run of " + id.Name()}, Status: status,
			Memo: &commonpb.Memo{Fields: memo},
			SearchAttributes: &commonpb.SearchAttributes{IndexedFields: map[string]*commonpb.Payload{
				searchattr.ReconcilePhase: encode(s.t, string(r.phase)), searchattr.ReconcileReason: encode(s.t, string(r.reason)),
				searchattr.ReconcileNeeds: encode(s.t, keysOf(s.t, r.needs)), searchattr.ReconcileWaitingFor: encode(s.t, keysOf(s.t, r.waits)),
			}},
		}
		if r.labels != nil {
			info.SearchAttributes.IndexedFields[searchattr.ReconcileLabels] = encode(s.t, r.labels)
		}
		if r.summary != nil {
			memo[workflows.MemoSummary] = encode(s.t, *r.summary)
			info.SearchAttributes.IndexedFields[searchattr.ReconcileLabels] = encode(s.t, r.labels)
			info.SearchAttributes.IndexedFields[searchattr.ReconcileSince] = encode(s.t, sinceText)
		}
		if !r.unlisted {
			s.listed = append(s.listed, info)
		}
		s.running[id.WorkflowID()] = info
	}
}

// sinceText is the time of the last change of phase or reason in runs with a summary.
var sinceText = time.Date(2026, 11, 20, 11, 0, 0, 0, time.UTC)

func keysOf(t *testing.T, ids []string) []string {
	keys := []string{}
	for _, id := range ids {
		keys = append(keys, workflows.WaitingKey(parse(t, id)))
	}
	return keys
}

func encode(t *testing.T, value any) *commonpb.Payload {
	t.Helper()
	encoded, err := payload.DataConverter().ToPayload(value)
	if err != nil {
		t.Fatal(err)
	}
	return encoded
}

func parse(t *testing.T, text string) resource.ID {
	t.Helper()
	id, err := resource.ParseID(text)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

const (
	groupText   = "/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg"
	clusterText = groupText + "/providers/Microsoft.Kusto/clusters/c"
)

// database returns the ID of a child of the cluster.
func database(n int) string { return fmt.Sprintf("%s/databases/d%04d", clusterText, n) }

func (s *server) GetSystemInfo(context.Context, *workflowservice.GetSystemInfoRequest) (*workflowservice.GetSystemInfoResponse, error) {
	return &workflowservice.GetSystemInfoResponse{}, nil
}

// fleetQuery and belowForm match the only forms of query that the fleet sends.
var (
	fleetQuery = regexp.MustCompile(`^(\w+) IN \('([\w-]{22}(?:', '[\w-]{22})*)'\) AND ExecutionStatus = 'Running'$`)
	belowForm  = regexp.MustCompile(`^WorkflowType = 'ReconcileResource' AND ExecutionStatus = 'Running' AND \((WorkflowId STARTS_WITH '[^']*'(?: OR WorkflowId STARTS_WITH '[^']*')*)\)$`)
	belowTerm  = regexp.MustCompile(`'([^']*)'`)
)

// matches returns whether a workflow matches a query; nil if the form is unknown.
func matches(query string) func(info *workflowpb.WorkflowExecutionInfo) bool {
	if parts := fleetQuery.FindStringSubmatch(query); parts != nil {
		keys := strings.Split(parts[2], "', '")
		return func(info *workflowpb.WorkflowExecutionInfo) bool {
			return slices.ContainsFunc(keysIn(info, parts[1]), func(key string) bool { return slices.Contains(keys, key) })
		}
	}
	if parts := belowForm.FindStringSubmatch(query); parts != nil {
		terms := belowTerm.FindAllStringSubmatch(parts[1], -1)
		return func(info *workflowpb.WorkflowExecutionInfo) bool {
			return slices.ContainsFunc(terms, func(term []string) bool { return strings.HasPrefix(info.GetExecution().GetWorkflowId(), term[1]) })
		}
	}
	if parts := managedForm.FindStringSubmatch(query); parts != nil {
		return func(info *workflowpb.WorkflowExecutionInfo) bool {
			var phase string
			readAttribute(info.GetSearchAttributes().GetIndexedFields()[searchattr.ReconcilePhase], &phase)
			ready := phase == string(workflows.PhaseReady)
			return parts[1] == "" || parts[1] == readyTerm && ready || parts[1] == notReadyTerm && !ready
		}
	}
	return nil
}

// The terms of a query of a tally.
const (
	readyTerm    = " AND ReconcilePhase = 'Ready'"
	notReadyTerm = " AND (ReconcilePhase != 'Ready' OR ReconcilePhase IS NULL)"
)

var managedForm = regexp.MustCompile(`^WorkflowType = 'ReconcileResource' AND ExecutionStatus = 'Running' AND TaskQueue = 'q'(` +
	regexp.QuoteMeta(readyTerm) + `|` + regexp.QuoteMeta(notReadyTerm) + `|)$`)

func (s *server) CountWorkflowExecutions(_ context.Context, in *workflowservice.CountWorkflowExecutionsRequest) (*workflowservice.CountWorkflowExecutionsResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts++
	match := matches(in.GetQuery())
	if match == nil {
		return nil, serviceerror.NewInvalidArgument("unexpected query: " + in.GetQuery())
	}
	response := &workflowservice.CountWorkflowExecutionsResponse{}
	for _, info := range s.listed {
		if match(info) {
			response.Count++
		}
	}
	return response, nil
}

func (s *server) ListWorkflowExecutions(_ context.Context, in *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pages++
	if len(in.GetNextPageToken()) == 0 {
		s.queries = append(s.queries, in.GetQuery())
	}
	if s.listErr != nil {
		return nil, s.listErr
	}
	match := matches(in.GetQuery())
	if match == nil {
		return nil, serviceerror.NewInvalidArgument("unexpected query: " + in.GetQuery())
	}
	var found []*workflowpb.WorkflowExecutionInfo
	for _, info := range s.listed {
		if match(info) {
			found = append(found, info)
		}
	}
	from, _ := strconv.Atoi(string(in.GetNextPageToken()))
	to := min(len(found), from+int(in.GetPageSize()))
	response := &workflowservice.ListWorkflowExecutionsResponse{Executions: found[from:to]}
	if to < len(found) {
		response.NextPageToken = []byte(strconv.Itoa(to))
	}
	return response, nil
}

func (s *server) DescribeTaskQueue(context.Context, *workflowservice.DescribeTaskQueueRequest) (*workflowservice.DescribeTaskQueueResponse, error) {
	response := &workflowservice.DescribeTaskQueueResponse{}
	for _, identity := range s.pollers {
		response.Pollers = append(response.Pollers, &taskqueuepb.PollerInfo{Identity: identity, LastAccessTime: timestamppb.Now()})
	}
	return response, nil
}

func (s *server) DescribeWorkflowExecution(_ context.Context, in *workflowservice.DescribeWorkflowExecutionRequest) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := in.GetExecution().GetWorkflowId()
	s.described = append(s.described, id)
	if err := s.broken[id]; err != nil {
		return nil, err
	}
	info := s.running[id]
	if info == nil {
		return nil, serviceerror.NewNotFound("no workflow " + id)
	}
	response := &workflowservice.DescribeWorkflowExecutionResponse{WorkflowExecutionInfo: info, PendingActivities: s.pending}
	if !s.task.IsZero() && !s.noTask {
		response.PendingWorkflowTask = &workflowpb.PendingWorkflowTaskInfo{StartedTime: timestamppb.New(s.task)}
	}
	return response, nil
}

func (s *server) SignalWorkflowExecution(_ context.Context, in *workflowservice.SignalWorkflowExecutionRequest) (*workflowservice.SignalWorkflowExecutionResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := in.GetWorkflowExecution().GetWorkflowId()
	if err := s.broken[id]; err != nil {
		return nil, err
	}
	if info := s.running[id]; info == nil || info.GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
		return nil, serviceerror.NewNotFound("workflow execution already completed")
	}
	got := signal{workflowID: id, name: in.GetSignalName()}
	if err := payload.DataConverter().FromPayloads(in.GetInput(), &got.wake); err != nil {
		return nil, err
	}
	s.signals = append(s.signals, got)
	return &workflowservice.SignalWorkflowExecutionResponse{}, nil
}

func (s *server) UpdateWorkflowExecution(_ context.Context, in *workflowservice.UpdateWorkflowExecutionRequest) (*workflowservice.UpdateWorkflowExecutionResponse, error) {
	return s.update(in, update{})
}

func (s *server) update(in *workflowservice.UpdateWorkflowExecutionRequest, got update) (*workflowservice.UpdateWorkflowExecutionResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	got.workflowID, got.name = in.GetWorkflowExecution().GetWorkflowId(), in.GetRequest().GetInput().GetName()
	got.args, got.messageID = in.GetRequest().GetInput().GetArgs().GetPayloads(), in.GetRequest().GetMeta().GetUpdateId()
	s.updates = append(s.updates, got)
	if s.updateErr != nil {
		return nil, s.updateErr
	}
	var result any = s.position
	if s.result != nil {
		result = s.result
	}
	if got.name == workflows.TakeTurnUpdate || got.name == workflows.SpendUpdate {
		var requests []any
		if err := payload.DataConverter().FromPayload(got.args[0], &requests); err != nil {
			return nil, err
		}
		result = slices.Repeat([]any{result}, len(requests))
	}
	if got.start == "" && s.running[got.workflowID] == nil {
		return nil, serviceerror.NewNotFound("no workflow " + got.workflowID)
	}
	if s.undecided > 0 {
		s.undecided--
		return refusedUpdate(in, workflows.RefusedNotDecided), nil
	}
	if s.deletes[got.workflowID] > 0 {
		s.deletes[got.workflowID]--
		return refusedUpdate(in, workflows.RefusedRunning), nil
	}
	if kind := s.refusals[got.workflowID]; kind != "" {
		return refusedUpdate(in, kind), nil
	}
	return &workflowservice.UpdateWorkflowExecutionResponse{
		UpdateRef: &updatepb.UpdateRef{
			WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: got.workflowID, RunId: "r"}, UpdateId: in.GetRequest().GetMeta().GetUpdateId(),
		},
		Stage: enumspb.UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_COMPLETED,
		Outcome: &updatepb.Outcome{Value: &updatepb.Outcome_Success{
			Success: &commonpb.Payloads{Payloads: []*commonpb.Payload{encode(s.t, result)}},
		}},
	}, nil
}

// refusedUpdate returns the response to an update that a validator refused.
func refusedUpdate(in *workflowservice.UpdateWorkflowExecutionRequest, kind string) *workflowservice.UpdateWorkflowExecutionResponse {
	return &workflowservice.UpdateWorkflowExecutionResponse{
		UpdateRef: &updatepb.UpdateRef{WorkflowExecution: in.GetWorkflowExecution(), UpdateId: in.GetRequest().GetMeta().GetUpdateId()},
		Stage:     enumspb.UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_COMPLETED,
		Outcome: &updatepb.Outcome{Value: &updatepb.Outcome_Failure{Failure: &failurepb.Failure{
			Message:     "refused",
			FailureInfo: &failurepb.Failure_ApplicationFailureInfo{ApplicationFailureInfo: &failurepb.ApplicationFailureInfo{Type: kind, NonRetryable: true}},
		}}},
	}
}

func (s *server) ExecuteMultiOperation(_ context.Context, in *workflowservice.ExecuteMultiOperationRequest) (*workflowservice.ExecuteMultiOperationResponse, error) {
	start, request := in.GetOperations()[0].GetStartWorkflow(), in.GetOperations()[1].GetUpdateWorkflow()
	if policy := start.GetWorkflowIdConflictPolicy(); policy != enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING {
		return nil, serviceerror.NewInvalidArgument("conflict policy " + policy.String())
	}
	response, err := s.update(request, update{start: start.GetWorkflowType().GetName(), taskQueue: start.GetTaskQueue().GetName(), priority: start.GetPriority().GetPriorityKey()})
	if err != nil {
		return nil, err
	}
	return &workflowservice.ExecuteMultiOperationResponse{Responses: []*workflowservice.ExecuteMultiOperationResponse_Response{
		{Response: &workflowservice.ExecuteMultiOperationResponse_Response_StartWorkflow{
			StartWorkflow: &workflowservice.StartWorkflowExecutionResponse{RunId: "r", Started: true},
		}},
		{Response: &workflowservice.ExecuteMultiOperationResponse_Response_UpdateWorkflow{UpdateWorkflow: response}},
	}}, nil
}

// dial returns a fleet that calls the server over gRPC, as a worker does.
func (s *server) dial() *Fleet {
	s.t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.t.Fatal(err)
	}
	serving := grpc.NewServer(grpc.UnaryInterceptor(func(ctx context.Context, in any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
		response, err := next(ctx, in)
		if err != nil {
			err = serviceerror.ToStatus(err).Err()
		}
		return response, err
	}))
	workflowservice.RegisterWorkflowServiceServer(serving, s)
	go func() { _ = serving.Serve(listener) }()
	s.t.Cleanup(serving.Stop)
	temporal, err := client.NewLazyClient(client.Options{
		HostPort: listener.Addr().String(), DataConverter: payload.DataConverter(),
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(temporal.Close)
	return New(temporal, Options{Namespace: "n", TaskQueue: "q", Collect: 50 * time.Millisecond, ListsPerSecond: 1000, Observed: s.observed})
}

// direct calls the server without a network, for tests in simulated time.
type direct struct {
	Temporal
	*server
}

func (d direct) ListWorkflow(ctx context.Context, in *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	return d.ListWorkflowExecutions(ctx, in)
}

func (d direct) DescribeWorkflowExecution(ctx context.Context, workflowID, _ string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	return d.server.DescribeWorkflowExecution(ctx, &workflowservice.DescribeWorkflowExecutionRequest{
		Execution: &commonpb.WorkflowExecution{WorkflowId: workflowID},
	})
}

func (d direct) SignalWorkflow(ctx context.Context, workflowID, _, name string, input any) error {
	encoded, err := converter.DataConverter(payload.DataConverter()).ToPayloads(input)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	_, err = d.SignalWorkflowExecution(ctx, &workflowservice.SignalWorkflowExecutionRequest{
		WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: workflowID}, SignalName: name, Input: encoded,
	})
	return err
}

// signaled returns the wakes as "workflow changed state", sorted.
func (s *server) signaled() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := []string{}
	for _, got := range s.signals {
		found = append(found, fmt.Sprintf("%s %s %s", got.workflowID[strings.LastIndex(got.workflowID, "/")+1:], got.wake.ID.Name(), got.wake.State))
	}
	slices.Sort(found)
	return found
}

func (d direct) DescribeTaskQueue(ctx context.Context, _ string, _ enumspb.TaskQueueType) (*workflowservice.DescribeTaskQueueResponse, error) {
	return d.server.DescribeTaskQueue(ctx, nil)
}
