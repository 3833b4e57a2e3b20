package fleet

import (
	"context"
	"errors"
	"fmt"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/workflows"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
)

// Take asks the workflow that keeps the turns of the parent, and starts it where
// none runs.
func (f *Fleet) Take(ctx context.Context, turn activities.Turn) (activities.Place, error) {
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
	var place activities.Place
	if err == nil {
		err = handle.Get(ctx, &place)
	}
	if err != nil {
		return activities.Place{}, fmt.Errorf("take turn in %s: %w", turn.Parent, err)
	}
	return place, nil
}

// End gives the turn back. Where no workflow keeps turns, there is none to give.
func (f *Fleet) End(ctx context.Context, turn activities.Turn) error {
	err := f.temporal.SignalWorkflow(ctx, workflows.SiblingsWorkflowID(turn.Parent), "", workflows.EndTurnSignal, turn)
	var notFound *serviceerror.NotFound
	if err != nil && !errors.As(err, &notFound) {
		return fmt.Errorf("end turn in %s: %w", turn.Parent, err)
	}
	return nil
}

// maxSummaryBytes bounds a name in a static summary; the server accepts 400 bytes.
const maxSummaryBytes = 200
