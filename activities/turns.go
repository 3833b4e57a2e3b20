package activities

import (
	"context"
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/secrets"
)

// errorTurn is the type of an error of Temporal while a turn is taken or checked;
// it is in histories.
const errorTurn = "TurnFailed"

// TakeTurnInput is the turn to take.
type TakeTurnInput struct {
	Turn Turn `json:"turn"`
}

// TakeTurnResult blocks while a sibling has the turn.
type TakeTurnResult struct {
	Verdict resource.Verdict `json:"verdict"`
}

// CheckTurnInput is the turn to check.
type CheckTurnInput struct {
	Turn Turn `json:"turn"`
}

// CheckTurnResult reports whether the holder still runs.
type CheckTurnResult struct {
	Held bool `json:"held"`
}

const (
	// queueInterval is how soon a position in the queue is requested again. The next
	// holder is signaled, so this is only for a queue that was lost.
	queueInterval = 5 * time.Minute
	// unansweredInterval is the same for a request without an answer.
	unansweredInterval = time.Minute
)

// TakeTurn requests the turn to change a child of a parent that accepts one change
// at a time. It blocks while a sibling has the turn; the queue wakes the resource
// when it gets it. Within a workflow task it waits as long as a look may.
func (a *Activities) TakeTurn(ctx context.Context, in TakeTurnInput) (TakeTurnResult, error) {
	if isLook(ctx) {
		end := a.looks.begin(in.Turn.ID)
		if end == nil {
			return TakeTurnResult{}, deferred("too many reads run within workflow tasks")
		}
		defer end()
	}
	defer startHeartbeat[struct{}](ctx).stop()
	asking, cancel := context.WithTimeout(ctx, a.options.TurnTimeout)
	defer cancel()
	position, err := a.Turns.Take(asking, in.Turn)
	switch {
	case err != nil && (asking.Err() != nil && ctx.Err() == nil || attemptNumber(ctx) >= maxTransientErrors):
		return TakeTurnResult{Verdict: a.report("TakeTurn", unansweredTurn(in.Turn, err))}, nil
	case err != nil:
		return TakeTurnResult{}, turnError("take", in.Turn, err)
	}
	if position.Granted {
		return TakeTurnResult{Verdict: resource.Proceed("")}, nil
	}
	verdict := resource.Block(resource.ReasonWaitingForSibling, fmt.Sprintf(
		"Azure changes one thing at a time in %s: %s has the turn", in.Turn.Parent.Short(), position.Holder.Short()))
	if position.Ahead > 1 {
		verdict.Message += fmt.Sprintf(", %d more come first", position.Ahead-1)
	}
	verdict.WaitingFor, verdict.RetryAfter = []resource.ID{position.Holder}, queueInterval
	return TakeTurnResult{Verdict: a.report("TakeTurn", verdict)}, nil
}

// unansweredTurn is the verdict of a request for a turn that the queue did not respond. The
// request may still be granted later: CheckTurn takes back a turn that is not used.
func unansweredTurn(turn Turn, err error) resource.Verdict {
	verdict := resource.Fail(resource.ReasonCheckFailed, resource.RetrySlow, fmt.Sprintf(
		"the queue for changes in %s does not answer, so nothing was sent: %s. Check it with armature doctor; workflow siblings:%s keeps it",
		turn.Parent.Short(), secrets.Scrub(err.Error(), nil), turn.Parent.WorkflowID()))
	verdict.RetryAfter = unansweredInterval
	return verdict
}

// CheckTurn reports whether a turn is used: its run still runs, and is in a pass. A run
// that was terminated returns nothing, and one whose request was granted after it had
// given up does not know that it has the turn.
func (a *Activities) CheckTurn(ctx context.Context, in CheckTurnInput) (CheckTurnResult, error) {
	defer startHeartbeat[struct{}](ctx).stop()
	managed, known, err := a.Fleet.Managed(ctx, in.Turn.ID)
	if err != nil {
		return CheckTurnResult{}, turnError("check", in.Turn, err)
	}
	return CheckTurnResult{Held: known && managed.RunID == in.Turn.RunID && !managed.Sleeping}, nil
}

func turnError(verb string, turn Turn, err error) error {
	return temporal.NewApplicationErrorWithOptions(
		fmt.Sprintf("%s turn of %s in %s: %s", verb, turn.ID.Short(), turn.Parent.Short(), secrets.Scrub(err.Error(), nil)),
		errorTurn, temporal.ApplicationErrorOptions{NextRetryDelay: transientDelay})
}
