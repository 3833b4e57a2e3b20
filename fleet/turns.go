package fleet

import (
	"context"
	"fmt"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/workflows"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
)

// Take requests a turn from the queue of the parent. It starts the queue's workflow if
// none runs.
func (f *Fleet) Take(ctx context.Context, turn activities.Turn) (activities.Position, error) {
	id := workflows.SiblingsWorkflowID(turn.Parent)
	handle, err := f.temporal.UpdateWithStartWorkflow(ctx, client.UpdateWithStartWorkflowOptions{
		StartWorkflowOperation: f.temporal.NewWithStartWorkflowOperation(client.StartWorkflowOptions{
			ID: id, TaskQueue: f.options.TaskQueue,
			WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
			StaticSummary:            "turns of " + text.CutBytes(turn.Parent.Short(), maxSummaryBytes),
		}, workflows.SerializeSiblingsWorkflow, workflows.SerializeSiblingsInput{}),
		UpdateOptions: client.UpdateWorkflowOptions{
			WorkflowID: id, UpdateName: workflows.TakeTurnUpdate, Args: []any{turn},
			WaitForStage: client.WorkflowUpdateStageCompleted,
		},
	})
	var place activities.Position
	if err == nil {
		err = handle.Get(ctx, &place)
	}
	if err != nil {
		return activities.Position{}, fmt.Errorf("take turn in %s: %w", turn.Parent, err)
	}
	return place, nil
}

// End gives up the turn. Without a running queue there is no turn to give up.
func (f *Fleet) End(ctx context.Context, turn activities.Turn) error {
	err := f.temporal.SignalWorkflow(ctx, workflows.SiblingsWorkflowID(turn.Parent), "", workflows.EndTurnSignal, turn)
	if err != nil && !isNotFound(err) {
		return fmt.Errorf("end turn in %s: %w", turn.Parent, err)
	}
	return nil
}

// maxSummaryBytes bounds a name in a static summary; the server accepts 400 bytes.
const maxSummaryBytes = 200
