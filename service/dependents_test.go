package service

import (
	"context"
	"net"
	"strings"
	"testing"

	"github.com/armature-io/armature/payload"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	commonpb "go.temporal.io/api/common/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"
)

// lister answers lists with one workflow and keeps the query.
type lister struct {
	workflowservice.UnimplementedWorkflowServiceServer
	memo  map[string]*commonpb.Payload
	query string
}

func (l *lister) GetSystemInfo(context.Context, *workflowservice.GetSystemInfoRequest) (*workflowservice.GetSystemInfoResponse, error) {
	return &workflowservice.GetSystemInfoResponse{}, nil
}

func (l *lister) ListWorkflowExecutions(_ context.Context, in *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	l.query = in.GetQuery()
	return &workflowservice.ListWorkflowExecutionsResponse{Executions: []*workflowpb.WorkflowExecutionInfo{{
		Execution: &commonpb.WorkflowExecution{WorkflowId: "w"}, Memo: &commonpb.Memo{Fields: l.memo},
	}}}, nil
}

func dependentsOf(t *testing.T, l *lister) dependents {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	workflowservice.RegisterWorkflowServiceServer(server, l)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	temporal, err := client.NewLazyClient(client.Options{HostPort: listener.Addr().String()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(temporal.Close)
	return dependents{client: temporal, namespace: "default"}
}

func TestDependents(t *testing.T) {
	id, err := resource.ParseID("/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg/providers/Microsoft.Kusto/clusters/c/databases/d")
	if err != nil {
		t.Fatal(err)
	}
	memo, err := payload.DataConverter().ToPayload(id.String())
	if err != nil {
		t.Fatal(err)
	}
	l := &lister{memo: map[string]*commonpb.Payload{workflows.MemoID: memo}}
	found, err := dependentsOf(t, l).Dependents(t.Context(), `o'brien\`)
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 1 || !found[0].Equal(id) {
		t.Errorf("found %v, want %s", found, id)
	}
	if want := `ArmOwner = 'o''brien\\' AND ExecutionStatus = 'Running'`; l.query != want {
		t.Errorf("asked %s, want %s: a name must not change the query", l.query, want)
	}
}

// A workflow whose memo says nothing must hold its owner, not vanish.
func TestDependentsWithoutMemo(t *testing.T) {
	_, err := dependentsOf(t, &lister{}).Dependents(t.Context(), "o")
	if err == nil || !strings.Contains(err.Error(), "read memo of w") {
		t.Errorf("got %v, want an error that names the workflow", err)
	}
}
