package activities

import (
	"context"
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/secrets"
)

// errorTurn is the type of a fault of Temporal while a turn is taken or given
// back; it lives in histories.
const errorTurn = "TurnFailed"

// TakeTurnInput asks for the turn to change what is below a parent.
type TakeTurnInput struct {
	Turn Turn `json:"turn"`
}

// TakeTurnResult blocks while a sibling has the turn.
type TakeTurnResult struct {
	Verdict resource.Verdict `json:"verdict"`
}

// EndTurnInput gives a turn back.
type EndTurnInput struct {
	Turn Turn `json:"turn"`
}

// EndTurnResult is empty: a turn that cannot be given back is tried again.
type EndTurnResult struct{}

// CheckTurnInput asks whether the holder of a turn still runs.
type CheckTurnInput struct {
	Turn Turn `json:"turn"`
}

// CheckTurnResult is false for a run that ended, whatever ended it.
type CheckTurnResult struct {
	Held bool `json:"held"`
}

// askAgain is how soon a place in the queue is asked for again. Whoever has the
// turn next is told, so this is only for a queue that got lost.
const askAgain = time.Minute

// TakeTurn asks for the turn to change what is below a parent that takes one
// change at a time. It blocks while a sibling has it, and whoever blocks is
// woken when the turn is his.
func (a *Activities) TakeTurn(ctx context.Context, in TakeTurnInput) (TakeTurnResult, error) {
	defer startHeart[struct{}](ctx).stop()
	place, err := a.Turns.Take(ctx, in.Turn)
	if err != nil {
		return TakeTurnResult{}, turnFailed("take", in.Turn, err)
	}
	if place.Granted {
		return TakeTurnResult{Verdict: resource.Proceed("")}, nil
	}
	verdict := resource.Block(resource.ReasonWaitingForSibling, fmt.Sprintf(
		"Azure changes one thing at a time in %s: %s has the turn", in.Turn.Parent.Short(), place.Holder.Short()))
	if place.Ahead > 1 {
		verdict.Message += fmt.Sprintf(", %d more come first", place.Ahead-1)
	}
	verdict.WaitingFor, verdict.RetryAfter = []resource.ID{place.Holder}, askAgain
	return TakeTurnResult{Verdict: a.observed("TakeTurn", verdict)}, nil
}

// EndTurn gives a turn back. It is tried again until Temporal takes it.
func (a *Activities) EndTurn(ctx context.Context, in EndTurnInput) (EndTurnResult, error) {
	defer startHeart[struct{}](ctx).stop()
	if err := a.Turns.End(ctx, in.Turn); err != nil {
		return EndTurnResult{}, turnFailed("end", in.Turn, err)
	}
	return EndTurnResult{}, nil
}

// CheckTurn asks whether the run that holds a turn still runs: a run that was
// terminated gives nothing back.
func (a *Activities) CheckTurn(ctx context.Context, in CheckTurnInput) (CheckTurnResult, error) {
	defer startHeart[struct{}](ctx).stop()
	managed, known, err := a.Fleet.Managed(ctx, in.Turn.ID)
	if err != nil {
		return CheckTurnResult{}, turnFailed("check", in.Turn, err)
	}
	return CheckTurnResult{Held: known && managed.RunID == in.Turn.RunID}, nil
}

func turnFailed(verb string, turn Turn, err error) error {
	return temporal.NewApplicationErrorWithOptions(
		fmt.Sprintf("%s turn of %s in %s: %s", verb, turn.ID.Short(), turn.Parent.Short(), secrets.Scrub(err.Error(), nil)),
		errorTurn, temporal.ApplicationErrorOptions{NextRetryDelay: faultDelay})
}
