package starter

import (
	"context"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/armature-io/armature/internal/payload"
	"github.com/armature-io/armature/internal/searchattr"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/workflows"
	"github.com/google/go-cmp/cmp"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	updatepb "go.temporal.io/api/update/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// frontend is a Temporal server that only reads: it has the rows of managed resources, and
// counts what the CLI sends.
type frontend struct {
	workflowservice.UnimplementedWorkflowServiceServer
	store string
	rows  []*workflowpb.WorkflowExecutionInfo
	// result is the result of every update.
	result *commonpb.Payload

	mu       sync.Mutex
	requests map[string]int
	// limited is how many lists are refused because of their rate.
	limited int
	// pages are the sizes of the pages that were asked for.
	pages []int32
}

// startFrontend serves n resources that are Ready, and returns the server with the world
// of a CLI that is connected to it.
func startFrontend(t *testing.T, store string, n int) (*frontend, *world) {
	t.Helper()
	f := &frontend{store: store, requests: map[string]int{}}
	for i := range n {
		f.rows = append(f.rows, readyRow(t, i))
	}
	f.result = fields(t, map[string]any{"": map[string]any{}})[""]
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(grpc.UnaryInterceptor(func(ctx context.Context, request any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
		f.mu.Lock()
		f.requests[info.FullMethod[strings.LastIndex(info.FullMethod, "/")+1:]]++
		f.mu.Unlock()
		response, err := handle(ctx, request)
		return response, serviceerror.ToStatus(err).Err()
	}))
	workflowservice.RegisterWorkflowServiceServer(server, f)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	w := newWorld()
	w.connect = connectTemporal
	w.environment = cli.Environment{"TEMPORAL_ADDRESS=" + listener.Addr().String(), "TEMPORAL_CONFIG_FILE=" + filepath.Join(t.TempDir(), "none.toml")}
	return f, w
}

func readyRow(t *testing.T, i int) *workflowpb.WorkflowExecutionInfo {
	t.Helper()
	id := mustID(t, fmt.Sprintf("%s/databases/d%05d", cluster, i))
	return &workflowpb.WorkflowExecutionInfo{
		Execution: &commonpb.WorkflowExecution{WorkflowId: id.WorkflowID(), RunId: "r"}, TaskQueue: "armature",
		Status: enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, StartTime: timestamppb.New(noon()),
		Memo: &commonpb.Memo{Fields: fields(t, map[string]any{
			workflows.MemoID: id.String(), workflows.MemoName: id.Name(), workflows.MemoSummary: summaryOf(readyStatus()),
		})},
		SearchAttributes: &commonpb.SearchAttributes{IndexedFields: fields(t, map[string]any{
			searchattr.ArmName: id.Name(), searchattr.ReconcilePhase: string(workflows.PhaseReady), searchattr.ReconcileSince: noon(),
		})},
	}
}

func fields(t *testing.T, values map[string]any) map[string]*commonpb.Payload {
	t.Helper()
	encoded := map[string]*commonpb.Payload{}
	for name, value := range values {
		p, err := payload.DataConverter().ToPayload(value)
		if err != nil {
			t.Fatal(err)
		}
		encoded[name] = p
	}
	return encoded
}

func (f *frontend) GetSystemInfo(context.Context, *workflowservice.GetSystemInfoRequest) (*workflowservice.GetSystemInfoResponse, error) {
	return &workflowservice.GetSystemInfoResponse{Capabilities: &workflowservice.GetSystemInfoResponse_Capabilities{}}, nil
}

func (f *frontend) GetClusterInfo(context.Context, *workflowservice.GetClusterInfoRequest) (*workflowservice.GetClusterInfoResponse, error) {
	return &workflowservice.GetClusterInfoResponse{VisibilityStore: f.store}, nil
}

// ListWorkflowExecutions returns a page; its token is the position. Of the terms of a query
// it knows TaskQueue and ArmName.
func (f *frontend) ListWorkflowExecutions(_ context.Context, in *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pages = append(f.pages, in.GetPageSize())
	if f.limited--; f.limited >= 0 {
		return nil, serviceerror.NewResourceExhausted(enumspb.RESOURCE_EXHAUSTED_CAUSE_RPS_LIMIT, "namespace rate limit exceeded")
	}
	rows := f.rows
	if _, term, limited := strings.Cut(in.GetQuery(), "TaskQueue = '"); limited {
		queue, _, _ := strings.Cut(term, "'")
		rows = slices.DeleteFunc(slices.Clone(rows), func(row *workflowpb.WorkflowExecutionInfo) bool { return row.GetTaskQueue() != queue })
	}
	if _, term, named := strings.Cut(in.GetQuery(), searchattr.ArmName+" IN ('"); named {
		list, _, _ := strings.Cut(term, "')")
		names := strings.Split(list, "', '")
		rows = nil
		for _, row := range f.rows {
			if id := row.GetExecution().GetWorkflowId(); slices.Contains(names, id[strings.LastIndex(id, "/")+1:]) {
				rows = append(rows, row)
			}
		}
	}
	from, _ := strconv.Atoi(string(in.GetNextPageToken()))
	to := min(len(rows), from+int(in.GetPageSize()))
	out := &workflowservice.ListWorkflowExecutionsResponse{Executions: rows[from:to]}
	if to-from == int(in.GetPageSize()) { // the server does not look whether more follow
		out.NextPageToken = []byte(strconv.Itoa(to))
	}
	return out, nil
}

func (f *frontend) DescribeWorkflowExecution(_ context.Context, in *workflowservice.DescribeWorkflowExecutionRequest) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	for _, row := range f.rows {
		if row.GetExecution().GetWorkflowId() == in.GetExecution().GetWorkflowId() {
			return &workflowservice.DescribeWorkflowExecutionResponse{WorkflowExecutionInfo: row}, nil
		}
	}
	return nil, serviceerror.NewNotFound("workflow not found")
}

func (f *frontend) UpdateWorkflowExecution(context.Context, *workflowservice.UpdateWorkflowExecutionRequest) (*workflowservice.UpdateWorkflowExecutionResponse, error) {
	success := &updatepb.Outcome_Success{Success: &commonpb.Payloads{Payloads: []*commonpb.Payload{f.result}}}
	return &workflowservice.UpdateWorkflowExecutionResponse{
		Stage:   enumspb.UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_COMPLETED,
		Outcome: &updatepb.Outcome{Value: success},
	}, nil
}

func (f *frontend) DescribeTaskQueue(context.Context, *workflowservice.DescribeTaskQueueRequest) (*workflowservice.DescribeTaskQueueResponse, error) {
	return &workflowservice.DescribeTaskQueueResponse{}, nil
}

// sent returns the number of requests of a method.
func (f *frontend) sent(method string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.requests[method]
}

// TestListRequests counts the requests of a list of ten thousand resources, and of a watch
// of a thousand. Only further pages are large, and none on SQLite, so a list of n resources
// takes n/1,000 requests and at most one more; on SQLite n/250. The server ends a list with
// a page that is not full, as Temporal does (v1.32.1).
func TestListRequests(t *testing.T) {
	if testing.Short() {
		t.Skip("it lists ten thousand resources in one goroutine")
	}
	cases := map[string]struct {
		reason string
		store  string
		n      int
		args   []string
		want   int
	}{
		"postgres":         {reason: "one page of 250 and ten of 1,000", store: "postgres12", n: 10_000, args: []string{"get"}, want: 11},
		"json":             {reason: "of more than fifty resources no workflow is asked", store: "postgres12", n: 10_000, args: []string{"get", "-o", "json"}, want: 11},
		"sqlite":           {reason: "forty pages of 250, and an empty one", store: "sqlite", n: 10_000, args: []string{"get"}, want: 41},
		"a small list":     {reason: "it fits into the first page", store: "postgres12", n: 249, args: []string{"get"}, want: 1},
		"many root causes": {reason: "why reads one list", store: "postgres12", n: 10_000, args: []string{"why"}, want: 11},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f, w := startFrontend(t, tc.store, tc.n)
			if code := w.run(tc.args...); code != cli.ExitOK {
				t.Fatalf("exit code %d: %s", code, w.err)
			}
			if lists := f.sent("ListWorkflowExecutions"); lists != tc.want {
				t.Errorf("%s: %d lists of pages %v, want %d", tc.reason, lists, f.pages, tc.want)
			}
			if queries, reads := f.sent("QueryWorkflow"), f.sent("DescribeWorkflowExecution"); queries > 0 || reads > 1 {
				t.Errorf("%s: %d queries and %d descriptions, want none, and one of the freezes", tc.reason, queries, reads)
			}
		})
	}
}

// TestWatchRequests counts the lists of a watch: at most one in two seconds.
func TestWatchRequests(t *testing.T) {
	if testing.Short() {
		t.Skip("it lists a thousand resources thirty times")
	}
	for store, first := range map[string]int{"postgres12": 2, "sqlite": 5} {
		t.Run(store, func(t *testing.T) {
			f, w := startFrontend(t, store, 1000)
			ctx, stop := context.WithCancel(t.Context())
			begun := w.clock
			w.after = func(d time.Duration) <-chan time.Time {
				w.clock = w.clock.Add(d)
				if w.clock.Sub(begun) > time.Minute {
					stop()
				}
				fired := make(chan time.Time, 1)
				fired <- w.clock
				return fired
			}
			w.out = nil
			w.app.out = io.Discard
			if code := run(ctx, w.app, []string{"get", "-w"}); code != cli.ExitOK {
				t.Fatalf("exit code %d: %s", code, w.err)
			}
			elapsed := int(w.clock.Sub(begun) / (2 * time.Second))
			if lists := f.sent("ListWorkflowExecutions"); lists > elapsed || lists < elapsed/2 {
				t.Errorf("%d lists in %s, want one in two seconds; the first frame takes %d", lists, w.clock.Sub(begun), first)
			}
			if f.sent("QueryWorkflow") > 0 {
				t.Error("a watch asks workflows")
			}
		})
	}
}

// TestNamedRequests counts what a command with a name sends: a list that finds the resource,
// and the message. get reads the resource instead, the freezes, and whether a worker runs.
func TestNamedRequests(t *testing.T) {
	cases := map[string]struct {
		args []string
		want map[string]int
	}{
		"pause":     {args: []string{"pause", "d00007"}, want: map[string]int{"ListWorkflowExecutions": 1, "UpdateWorkflowExecution": 1}},
		"reconcile": {args: []string{"reconcile", "d00007"}, want: map[string]int{"ListWorkflowExecutions": 1, "UpdateWorkflowExecution": 1}},
		"by ID":     {args: []string{"pause", cluster + "/databases/d00007"}, want: map[string]int{"DescribeWorkflowExecution": 1, "UpdateWorkflowExecution": 1}},
		"wait":      {args: []string{"wait", "d00007"}, want: map[string]int{"ListWorkflowExecutions": 1, "DescribeWorkflowExecution": 1}},
		"get":       {args: []string{"get", "d00007"}, want: map[string]int{"ListWorkflowExecutions": 1, "DescribeWorkflowExecution": 2, "DescribeTaskQueue": 1}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f, w := startFrontend(t, "postgres12", 2000)
			w.run(tc.args...)
			delete(f.requests, "GetSystemInfo") // of the connection
			if diff := cmp.Diff(tc.want, f.requests); diff != "" {
				t.Errorf("requests (-want +got):\n%s%s%s", diff, w.out, w.err)
			}
		})
	}
}

// TestLimitedRequests verifies that a command repeats what the server refuses because of its
// rate, without a word.
func TestLimitedRequests(t *testing.T) {
	for name, args := range map[string][]string{"get": {"get"}, "wait": {"wait", "--timeout", "1m"}} {
		t.Run(name, func(t *testing.T) {
			f, w := startFrontend(t, "postgres12", 3)
			f.limited = 2
			if code := w.run(args...); code != cli.ExitOK || strings.Contains(w.err.String(), "limit") {
				t.Errorf("exit code %d: %s", code, w.err)
			}
			if lists := f.sent("ListWorkflowExecutions"); lists != 3 {
				t.Errorf("%d lists, want two that were refused and one more", lists)
			}
		})
	}
}
