package service

import (
	"context"
	"fmt"
	"strings"

	"github.com/armature-io/armature/payload"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
)

// maxDependents bounds one answer: a delete names a few of those it waits for.
const maxDependents = 100

// dependents finds managed resources by visibility, so without a worker.
type dependents struct {
	client    client.Client
	namespace string
}

// Dependents are the managed resources whose owner is ownerWorkflowID, 100 at
// most.
func (d dependents) Dependents(ctx context.Context, ownerWorkflowID string) ([]resource.ID, error) {
	listed, err := d.client.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
		Namespace: d.namespace,
		PageSize:  maxDependents,
		Query:     "ArmOwner = " + quote(ownerWorkflowID) + " AND ExecutionStatus = 'Running'",
	})
	if err != nil {
		return nil, fmt.Errorf("list dependents of %s: %w", ownerWorkflowID, err)
	}
	var found []resource.ID
	for _, execution := range listed.GetExecutions() {
		var text string
		memo := execution.GetMemo().GetFields()[workflows.MemoID]
		if err := payload.DataConverter().FromPayload(memo, &text); err != nil {
			return nil, fmt.Errorf("read memo of %s: %w", execution.GetExecution().GetWorkflowId(), err)
		}
		id, err := resource.ParseID(text)
		if err != nil {
			return nil, fmt.Errorf("read memo of %s: %w", execution.GetExecution().GetWorkflowId(), err)
		}
		found = append(found, id)
	}
	return found, nil
}

// quote makes a text of a visibility query; names may hold apostrophes.
func quote(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `''`).Replace(text) + "'"
}
