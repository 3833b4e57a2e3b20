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
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
)

// patience is how long a test waits for what should come soon.
const patience = 30 * time.Second

// fakeTemporal answers what a worker asks at its start. Its polls never bring a
// task. (The real server is tested against in dev/.)
type fakeTemporal struct {
	workflowservice.UnimplementedWorkflowServiceServer
	operatorservice.UnimplementedOperatorServiceServer
	mu         sync.Mutex
	attributes map[string]enumspb.IndexedValueType
	// mayRegister is false where the worker's credentials may not.
	mayRegister bool
	polls       []*workflowservice.PollWorkflowTaskQueueRequest
}

func (f *fakeTemporal) GetSystemInfo(context.Context, *workflowservice.GetSystemInfoRequest) (*workflowservice.GetSystemInfoResponse, error) {
	return &workflowservice.GetSystemInfoResponse{Capabilities: &workflowservice.GetSystemInfoResponse_Capabilities{}}, nil
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

// listenTemporal serves f at the address, for example 127.0.0.1:0, until the
// test ends and returns the address.
func listenTemporal(t *testing.T, f *fakeTemporal, address string) string {
	t.Helper()
	at, _ := serveTemporal(t, f, address)
	return at
}

// serveTemporal is listenTemporal with what stops it.
func serveTemporal(t *testing.T, f *fakeTemporal, address string) (at string, stop func()) {
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

// freeAddress is an address on which nobody listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// log is a buffer that the worker and the test share.
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

// settings are for a simulator at endpoint.
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

// get answers status and body.
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

// eventually waits until condition holds.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(patience)
	for !condition() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("waited %s in vain until %s", patience, what)
		}
	}
}

// answering is an endpoint that answers anything with 404, as ARM does at /.
func answering(t *testing.T) string {
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
