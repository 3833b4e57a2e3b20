package workflows

import (
	"fmt"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"go.temporal.io/sdk/workflow"
)

// DeleteStackWorkflow accompanies the deletion of several resources; DeleteStackIDPrefix begins
// the IDs of its runs.
const (
	DeleteStackWorkflow = "DeleteStack"
	DeleteStackIDPrefix = "delete:"
)

// watchTimeout bounds one WatchDeletions, which watches for some minutes, with all attempts.
const (
	watchTimeout      = 15 * time.Minute
	watchTotalTimeout = 24 * time.Hour
)

// DeleteStackResult is the end of the deletion of a stack.
type DeleteStackResult struct {
	// Refused is the resource whose refusal stopped the deletion, zero if none did.
	Refused resource.ID `json:"refused,omitzero"`
	Message string      `json:"message"`
}

// DeleteStack accompanies the deletions that one request of a user started. Each resource
// deletes itself; this workflow removes a lock when it is all that holds a DELETE. At the first
// refusal it takes back what has not been sent and puts the locks back.
func DeleteStack(ctx workflow.Context, stack activities.Stack) (DeleteStackResult, error) {
	var a *activities.Activities
	stack.Since, stack.ID = workflow.Now(ctx), workflow.GetInfo(ctx).WorkflowExecution.ID
	result := DeleteStackResult{Message: fmt.Sprintf("the deletions of %d resources have ended", len(stack.Resources)+len(stack.Locks))}
	for len(stack.Resources) > 0 && result.Refused.IsZero() {
		watching := activityOptions(ctx, fmt.Sprintf("watch %d deletions", len(stack.Resources)), watchTimeout, watchTotalTimeout)
		found, err := execute(watching, a.WatchDeletions, stack)
		if err != nil {
			return DeleteStackResult{}, err
		}
		if stack = found.Stack; !found.Refused.IsZero() {
			result = DeleteStackResult{Refused: found.Refused, Message: fmt.Sprintf("%s: %s: %s", found.Refused.Short(), found.Reason, found.Message)}
		}
	}
	if result.Refused.IsZero() && len(stack.Locks) == 0 {
		return result, nil
	}
	ending := activityOptions(ctx, "end the deletion of the stack", watchTimeout, watchTotalTimeout)
	ended, err := execute(ending, a.EndDeletions, stack)
	if err == nil {
		result.Message += "; " + ended.Verdict.Message
	}
	return result, err
}
