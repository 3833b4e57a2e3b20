package workflows

import (
	"fmt"
	"time"

	"github.com/armature-io/armature/activities"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// FollowChangesWorkflow follows what Azure reports to one credential. Its one run exists while
// the workers have a source for the credential.
const FollowChangesWorkflow = "FollowChanges"

// MemoFeed is the key of the activities.FeedState in its memo.
const MemoFeed = "feed"

const (
	// followTimeout bounds one attempt, which returns after ten minutes.
	followTimeout = 20 * time.Minute
	// followHeartbeat is how soon a lost worker is noticed: a heartbeat costs an action, and a
	// feed that pauses loses nothing.
	followHeartbeat = 5 * time.Minute
	// reportAllTimeout bounds the signals to all resources of a fleet.
	reportAllTimeout = 30 * time.Minute
)

// FollowChangesWorkflowID returns the ID of the workflow that follows the changes which a
// credential sees, for a task queue.
func FollowChangesWorkflowID(taskQueue, credential string) string {
	return "armature:changes:" + taskQueue + ":" + credential
}

// FollowChanges reads a source of changes until the workers have none. Its progress survives
// every worker; the state in its memo shows workers and people whether it follows.
func FollowChanges(ctx workflow.Context, in activities.FollowChangesInput) error {
	var a *activities.Activities
	for {
		result, err := execute(followOptions(ctx, in), a.FollowChanges, in)
		if err != nil {
			return fmt.Errorf("follow the changes: %w", err)
		}
		if in.State != result.State {
			writeMemo(ctx, map[string]any{MemoFeed: result.State})
		}
		in.Progress, in.State = result.Progress, result.State
		if result.Unfollowed {
			reportUnfollowed(ctx, in.Credential)
		}
		if result.Off {
			return nil
		}
		asked := newRunAsked(ctx)
		drainMoveRequests(ctx)
		if asked || workflow.GetInfo(ctx).GetCurrentHistoryLength() > maxHistoryLength {
			return continueAsNew(ctx, FollowChangesWorkflow, in)
		}
	}
}

// reportUnfollowed notifies the fleet that changes may come without a report. Resources that do not
// hear it read themselves after their long interval.
func reportUnfollowed(ctx workflow.Context, credential string) {
	var a *activities.Activities
	options := retriedOptions(0, reportAllTimeout)
	options.Summary = "the feed does not follow: shorten the intervals"
	_, err := execute(workflow.WithActivityOptions(ctx, options), a.ReportUnfollowed, activities.ReportUnfollowedInput{Credential: credential})
	logFailure(ctx, "report that the feed does not follow", err)
}

func followOptions(ctx workflow.Context, in activities.FollowChangesInput) workflow.Context {
	options := retriedOptions(followTimeout, 0)
	options.HeartbeatTimeout = followHeartbeat
	options.Summary = summarize("changes that " + in.Credential + " sees")
	options.Priority = temporal.Priority{PriorityKey: priorityChange}
	return workflow.WithActivityOptions(ctx, options)
}
