package fleet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/activities/writing"
	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/workflows"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
)

const (
	// maxConfirmTime bounds Confirm. A write has to leave well within the heartbeat timeout of
	// 30 s, so a later answer confirms nothing.
	maxConfirmTime = 10 * time.Second
	// confirmTimeout is the deadline of the two requests of Confirm: the SDK gives one try of
	// a request half of the remaining time.
	confirmTimeout = 2 * maxConfirmTime
)

// Confirm sends a heartbeat of the attempt and describes its run, at once, and waits for
// both. A step that another workflow than the one of the resource runs may write nothing:
// policy, freeze and everything else that the resource's own workflow checks would not
// apply.
func (f *Fleet) Confirm(ctx context.Context, attempt writing.Attempt) (writing.Standing, error) {
	if attempt.WorkflowID != attempt.Resource.WorkflowID() {
		return writing.Standing{Over: "the step is not run by the workflow of " + attempt.Resource.Short()}, nil
	}
	begun := time.Now()
	ctx, cancel := context.WithTimeout(ctx, confirmTimeout)
	defer cancel()
	beat := make(chan error, 1)
	go func() { beat <- f.heartbeat(ctx, attempt) }()
	standing, err := f.describeRun(ctx, attempt)
	beatErr := <-beat
	switch over := endOf(beatErr); {
	case over != "":
		return writing.Standing{Over: over}, nil
	case beatErr != nil:
		return writing.Standing{}, activities.TemporalError(fmt.Errorf("send a heartbeat: %w", beatErr))
	}
	if took := time.Since(begun); err == nil && took > maxConfirmTime {
		return writing.Standing{}, fmt.Errorf("%w: it answered after %s, a write waits for %s", writing.ErrTemporalSlow, text.Duration(took), text.Duration(maxConfirmTime))
	}
	return standing, activities.TemporalError(err)
}

// heartbeat records a heartbeat; a local activity has none.
func (f *Fleet) heartbeat(ctx context.Context, attempt writing.Attempt) error {
	if attempt.TaskToken == nil {
		return nil
	}
	return f.temporal.RecordActivityHeartbeat(ctx, attempt.TaskToken, attempt.Progress)
}

// endOf returns why a heartbeat was refused, "" where it was not.
func endOf(err error) string {
	var canceled *temporal.CanceledError
	switch {
	case isNotFound(err):
		return "another attempt has begun, or the workflow has ended"
	case errors.As(err, &canceled):
		return "the step was canceled"
	case errors.Is(err, activity.ErrActivityPaused):
		return "an operator paused the activity in Temporal"
	case errors.Is(err, activity.ErrActivityReset):
		return "an operator reset the activity in Temporal"
	}
	return ""
}

// describeRun returns whether the run still runs and manages its resource, and the newest
// generation in its memo.
func (f *Fleet) describeRun(ctx context.Context, attempt writing.Attempt) (writing.Standing, error) {
	described, err := f.temporal.DescribeWorkflowExecution(ctx, attempt.WorkflowID, attempt.RunID)
	switch {
	case isNotFound(err):
		return writing.Standing{Over: "the workflow has ended"}, nil
	case err != nil:
		return writing.Standing{}, fmt.Errorf("describe the workflow: %w", err)
	}
	info := described.GetWorkflowExecutionInfo()
	if info.GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
		return writing.Standing{Over: "the workflow has ended"}, nil
	}
	// The time of the workflow advances with each check of a task, so a task that began later
	// is another one.
	if started := described.GetPendingWorkflowTask().GetStartedTime(); !attempt.TaskStarted.IsZero() &&
		(started == nil || started.AsTime().Truncate(time.Millisecond).After(attempt.TaskStarted)) {
		return writing.Standing{Over: "the workflow task of this check is over"}, nil
	}
	var standing writing.Standing
	var forgotten bool
	if err := errors.Join(f.readMemo(info, workflows.MemoGeneration, &standing.Generation), f.readMemo(info, workflows.MemoForgotten, &forgotten)); err != nil {
		return writing.Standing{}, err
	}
	if forgotten {
		standing.Over = "the management of the resource has ended"
	}
	return standing, nil
}
