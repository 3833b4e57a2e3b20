package service_test

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/armature-io/armature/config"
	"github.com/armature-io/armature/service"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/namespace/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
)

// maxWait bounds the wait for a condition that should be true soon.
const maxWait = 30 * time.Second

// fakeTemporal serves the calls of a worker's start. Its polls never return a task. (The
// tests in dev/ use the real server.)
type fakeTemporal struct {
	workflowservice.UnimplementedWorkflowServiceServer
	operatorservice.UnimplementedOperatorServiceServer
	mu         sync.Mutex
	attributes map[string]enumspb.IndexedValueType
	// mayRegister permits the registration of search attributes.
	mayRegister bool
	polls       []*workflowservice.PollWorkflowTaskQueueRequest
	// version is the version that the server reports.
	version string
	// freezes is the last run of the workflow that keeps freezes, nil for none; started are
	// the starts of workflows.
	freezes *workflowpb.WorkflowExecutionInfo
	started []*workflowservice.StartWorkflowExecutionRequest
}

func (f *fakeTemporal) DescribeWorkflowExecution(context.Context, *workflowservice.DescribeWorkflowExecutionRequest) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.freezes == nil {
		return nil, serviceerror.NewNotFound("none")
	}
	return &workflowservice.DescribeWorkflowExecutionResponse{WorkflowExecutionInfo: f.freezes}, nil
}

func (f *fakeTemporal) StartWorkflowExecution(_ context.Context, in *workflowservice.StartWorkflowExecutionRequest) (*workflowservice.StartWorkflowExecutionResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.started = append(f.started, in)
	f.freezes = &workflowpb.WorkflowExecutionInfo{Status: enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, Memo: in.GetMemo()}
	return &workflowservice.StartWorkflowExecutionResponse{RunId: "r", Started: true}, nil
}

func (f *fakeTemporal) GetSystemInfo(context.Context, *workflowservice.GetSystemInfoRequest) (*workflowservice.GetSystemInfoResponse, error) {
	return &workflowservice.GetSystemInfoResponse{ServerVersion: f.version, Capabilities: &workflowservice.GetSystemInfoResponse_Capabilities{}}, nil
}

func (f *fakeTemporal) DescribeNamespace(context.Context, *workflowservice.DescribeNamespaceRequest) (*workflowservice.DescribeNamespaceResponse, error) {
	return &workflowservice.DescribeNamespaceResponse{NamespaceInfo: &namespace.NamespaceInfo{}}, nil
}

func (f *fakeTemporal) PollWorkflowTaskQueue(ctx context.Context, in *workflowservice.PollWorkflowTaskQueueRequest) (*workflowservice.PollWorkflowTaskQueueResponse, error) {
	f.mu.Lock()
	f.polls = append(f.polls, in)
	f.mu.Unlock()
	<-ctx.Done()
	return nil, ctx.Err()
}

func (f *fakeTemporal) PollActivityTaskQueue(ctx context.Context, _ *workflowservice.PollActivityTaskQueueRequest) (*workflowservice.PollActivityTaskQueueResponse, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (f *fakeTemporal) ListSearchAttributes(context.Context, *operatorservice.ListSearchAttributesRequest) (*operatorservice.ListSearchAttributesResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return &operatorservice.ListSearchAttributesResponse{CustomAttributes: f.attributes}, nil
}

func (f *fakeTemporal) AddSearchAttributes(_ context.Context, in *operatorservice.AddSearchAttributesRequest) (*operatorservice.AddSearchAttributesResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.mayRegister {
		return nil, status.Error(codes.PermissionDenied, "no")
	}
	f.attributes = in.GetSearchAttributes()
	return &operatorservice.AddSearchAttributesResponse{}, nil
}

// temporalServer is what the fake servers implement.
type temporalServer interface {
	workflowservice.WorkflowServiceServer
	operatorservice.OperatorServiceServer
}

// listenTemporal serves f at the address, for example 127.0.0.1:0, until the
// test ends and returns the address.
func listenTemporal(t *testing.T, f temporalServer, address string) string {
	t.Helper()
	at, _ := serveTemporal(t, f, address)
	return at
}

// serveTemporal does the same, and also returns a function that stops the server.
func serveTemporal(t *testing.T, f temporalServer, address string) (at string, stop func()) {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	workflowservice.RegisterWorkflowServiceServer(server, f)
	operatorservice.RegisterOperatorServiceServer(server, f)
	checks := health.NewServer()
	checks.SetServingStatus("temporal.api.workflowservice.v1.WorkflowService", grpc_health_v1.HealthCheckResponse_SERVING)
	grpc_health_v1.RegisterHealthServer(server, checks)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return listener.Addr().String(), server.Stop
}

// freeAddress returns an address without a listener.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// log is a buffer that worker and test share.
type log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// settings returns a configuration for a simulator at the endpoint.
func settings(endpoint string) config.Config {
	c := config.Default()
	c.Azure.Cloud = config.CloudCustom
	c.Azure.Endpoint = endpoint
	c.Azure.Credential = config.CredentialNone
	c.HTTP.Listen = "127.0.0.1:0"
	return c
}

// running is a worker under test.
type running struct {
	url  string
	log  *log
	stop func() error
	done chan error
}

// start runs a worker against Temporal at an address until the test or stop ends it.
func start(t *testing.T, c config.Config, temporal string) *running {
	t.Helper()
	return startWith(t, c, service.Options{Temporal: &client.Options{HostPort: temporal}})
}

// startWith runs a worker with the given options until the test or stop ends it.
func startWith(t *testing.T, c config.Config, options service.Options) *running {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{log: &log{}, done: make(chan error, 1)}
	address := make(chan string, 1)
	options.OnListen, options.Stderr = func(at string) { address <- at }, r.log
	go func() { r.done <- service.Run(ctx, c, options) }()
	r.stop = sync.OnceValue(func() error { cancel(); return <-r.done })
	t.Cleanup(func() { _ = r.stop() })
	select {
	case at := <-address:
		r.url = "http://" + at
	case err := <-r.done:
		r.done <- err
		t.Fatalf("the worker ended: %v", err)
	}
	return r
}

// get returns status and body, or 0 and the error.
func (r *running) get(t *testing.T, path string) (int, string) {
	t.Helper()
	response, err := http.Get(r.url + path)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	var body bytes.Buffer
	_, _ = body.ReadFrom(response.Body)
	return response.StatusCode, body.String()
}

// eventually waits until the condition is true.
func eventually(t *testing.T, condition string, isTrue func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(maxWait)
	for !isTrue() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("timed out after %s waiting until %s", maxWait, condition)
		}
	}
}

// newEndpoint returns the URL of a server that responds with 404, as ARM does at /.
func newEndpoint(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	return server.URL
}

func has(text string, parts ...string) bool {
	for _, part := range parts {
		if !strings.Contains(text, part) {
			return false
		}
	}
	return true
}
