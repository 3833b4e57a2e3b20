package harness

import (
	"context"
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
)

// busyServer answers a list only the third time.
type busyServer struct {
	client.Client
	calls int
}

func (b *busyServer) ListWorkflow(context.Context, *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	switch b.calls++; b.calls {
	case 1:
		return nil, context.DeadlineExceeded
	case 2:
		return nil, serviceerror.NewDeadlineExceeded("context deadline exceeded")
	}
	return &workflowservice.ListWorkflowExecutionsResponse{Executions: []*workflowpb.WorkflowExecutionInfo{
		{Execution: &commonpb.WorkflowExecution{WorkflowId: "w"}},
	}}, nil
}

// TestExecutionsOfABusyServer: a list that is late under load fails no test.
func TestExecutionsOfABusyServer(t *testing.T) {
	t.Parallel()
	w := &World{T: t, Client: &busyServer{}}
	if found := w.executions(""); len(found) != 1 || found[0].GetWorkflowId() != "w" {
		t.Errorf("found %v", found)
	}
}
