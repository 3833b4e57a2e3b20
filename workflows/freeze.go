package workflows

import (
	"fmt"
	"slices"
	"time"

	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/resource"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/workflow"
)

// HoldFreezeWorkflow keeps the freezes of the fleet. Its one run, FreezeWorkflowID,
// exists while there are any. Its memo lists them, so that workers and users read them
// without a worker. A run that was interrupted (FreezesLast) leaves them in force.
const (
	HoldFreezeWorkflow = "HoldFreeze"
	FreezeWorkflowID   = "armature:freeze"
)

// Names of its messages, and of the memo, a list of Freeze.
const (
	FreezeUpdate   = "freeze"
	UnfreezeUpdate = "unfreeze"
	MemoFrozen     = "frozen"
)

// maxFreezes bounds the freezes, and so the memo.
const maxFreezes = 50

// Freeze stops every PUT and DELETE of the resources with the labels of Selector
// (k=v,k=v), or of all resources when it is "".
type Freeze struct {
	Selector string    `json:"selector,omitempty"`
	By       string    `json:"by,omitempty"`
	Reason   string    `json:"reason,omitempty"`
	Since    time.Time `json:"since,omitzero"`
}

// FreezeResult is the result of FreezeUpdate and UnfreezeUpdate.
type FreezeResult struct {
	// Changed is false when the update changed nothing.
	Changed bool `json:"changed"`
	// Frozen are the freezes after the update.
	Frozen []Freeze `json:"frozen,omitempty"`
}

// HoldFreezeInput starts a run; continue-as-new carries the freezes.
type HoldFreezeInput struct {
	Frozen []Freeze `json:"frozen,omitempty"`
}

// freezer is one run of HoldFreeze.
type freezer struct {
	frozen   []Freeze
	messages int64
}

// HoldFreeze keeps the freezes until the last one is lifted.
func HoldFreeze(ctx workflow.Context, input HoldFreezeInput) error {
	f := &freezer{frozen: input.Frozen}
	if err := f.registerHandlers(ctx); err != nil {
		return err
	}
	active := func() bool { return len(f.frozen) > 0 }
	if err := awaitOrTimer(ctx, firstMessageTimeout, "waiting for the first freeze", active); err != nil {
		return err
	}
	for active() {
		if shouldContinueAsNew(ctx) {
			if err := awaitHandlers(ctx); err != nil {
				return err
			}
			return continueAsNew(ctx, HoldFreezeWorkflow, HoldFreezeInput{Frozen: f.frozen})
		}
		handled, first := f.messages, f.frozen[0]
		summary := fmt.Sprintf("frozen: %s, by %s since %s", selectorText(first.Selector), first.By, text.Time(first.Since))
		if err := awaitOrTimer(ctx, maxTimer, summarize(summary), func() bool { return f.messages != handled }); err != nil {
			return err
		}
	}
	return awaitHandlers(ctx)
}

// FreezesLast reports whether the freezes in the memo of the last run are in force: while
// it runs, and after it ended in any other way than by the end of the last freeze. A
// terminated run must not lift a freeze.
func FreezesLast(status enumspb.WorkflowExecutionStatus) bool {
	switch status {
	case enumspb.WORKFLOW_EXECUTION_STATUS_UNSPECIFIED, enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED:
		return false
	}
	return true
}

// selectorText returns how a summary names a selector.
func selectorText(selector string) string {
	if selector == "" {
		return "everything"
	}
	return selector
}

func (f *freezer) registerHandlers(ctx workflow.Context) error {
	if err := registerUpdate(ctx, FreezeUpdate, "Stop every PUT and DELETE of the resources that the selector matches.", f.freeze, f.validate); err != nil {
		return err
	}
	return registerUpdate(ctx, UnfreezeUpdate, "Lift the freeze with the same selector.", f.unfreeze, nil)
}

func (f *freezer) validate(in Freeze) error {
	if _, err := resource.ParseSelector(in.Selector); err != nil {
		return refused(RefusedInvalid, "%v", err)
	}
	if f.index(in) < 0 && len(f.frozen) >= maxFreezes {
		return refused(RefusedInvalid, "%d freezes are active: lift one first, or freeze everything", len(f.frozen))
	}
	return nil
}

// index returns the position of the freeze with the same selector, -1 without one.
func (f *freezer) index(in Freeze) int {
	return slices.IndexFunc(f.frozen, func(known Freeze) bool { return known.Selector == in.Selector })
}

func (f *freezer) freeze(ctx workflow.Context, in Freeze) (FreezeResult, error) {
	if f.index(in) >= 0 {
		return FreezeResult{Frozen: f.frozen}, nil
	}
	in.Since = workflow.Now(ctx)
	return f.change(ctx, append(slices.Clone(f.frozen), in))
}

func (f *freezer) unfreeze(ctx workflow.Context, in Freeze) (FreezeResult, error) {
	i := f.index(in)
	if i < 0 {
		return FreezeResult{Frozen: f.frozen}, nil
	}
	return f.change(ctx, slices.Delete(slices.Clone(f.frozen), i, i+1))
}

func (f *freezer) change(ctx workflow.Context, frozen []Freeze) (FreezeResult, error) {
	f.frozen = frozen
	f.messages++
	if err := workflow.UpsertMemo(ctx, map[string]any{MemoFrozen: f.frozen}); err != nil {
		return FreezeResult{}, fmt.Errorf("write the memo: %w", err)
	}
	return FreezeResult{Changed: true, Frozen: f.frozen}, nil
}
