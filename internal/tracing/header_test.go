package tracing_test

import (
	"context"
	"net"
	"testing"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"
	"google.golang.org/grpc"
)

// begun is when the passes of the tests begin.
var begun = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// grabber keeps the context of a request, which has the header that the SDK made for it.
type grabber struct {
	interceptor.ClientInterceptorBase
	interceptor.ClientOutboundInterceptorBase
	found context.Context
}

func (g *grabber) InterceptClient(interceptor.ClientOutboundInterceptor) interceptor.ClientOutboundInterceptor {
	return g
}

func (g *grabber) UpdateWorkflow(ctx context.Context, _ *interceptor.ClientUpdateWorkflowInput) (client.WorkflowUpdateHandle, error) {
	g.found = ctx
	return handle{}, nil
}

// withHeader returns the context that the SDK gives to interceptors: only a client makes it,
// which wants a server that responds.
func withHeader(t *testing.T) context.Context {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	workflowservice.RegisterWorkflowServiceServer(server, workflowservice.UnimplementedWorkflowServiceServer{})
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	g := &grabber{}
	c, err := client.NewLazyClient(client.Options{HostPort: listener.Addr().String(), Interceptors: []interceptor.ClientInterceptor{g}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	if _, err := c.UpdateWorkflow(t.Context(), client.UpdateWorkflowOptions{WorkflowID: "w", UpdateName: "apply", WaitForStage: client.WorkflowUpdateStageCompleted}); err != nil {
		t.Fatal(err)
	}
	return g.found
}
