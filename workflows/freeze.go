package workflows

import (
	"fmt"
	"slices"
	"time"

	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/resource"
	"go.temporal.io/sdk/workflow"
)

// HoldFreezeWorkflow holds what of the fleet is frozen: there is one run of it,
// FreezeWorkflowID, while anything is. It stands in its memo, so that workers
// and people read it without a worker.
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

// freezesMost bounds the freezes, and so the memo.
const freezesMost = 50

// Freeze stops every PUT and DELETE of the resources with the labels of
// Selector (k=v,k=v), of all resources when it is "".
type Freeze struct {
	Selector string    `json:"selector,omitempty"`
	By       string    `json:"by,omitempty"`
	Reason   string    `json:"reason,omitempty"`
	Since    time.Time `json:"since,omitzero"`
}

// FreezeResult answers a FreezeUpdate or UnfreezeUpdate.
type FreezeResult struct {
	// Changed is false when it was so already.
	Changed bool `json:"changed"`
	// Frozen is what is frozen now.
	Frozen []Freeze `json:"frozen,omitempty"`
}

// HoldFreezeInput starts a run; continue-as-new carries what is frozen.
type HoldFreezeInput struct {
	Frozen []Freeze `json:"frozen,omitempty"`
}

// freezer is one run of HoldFreeze.
type freezer struct {
	frozen   []Freeze
	messages int64
}

// HoldFreeze holds the freezes until the last one is taken back.
func HoldFreeze(ctx workflow.Context, input HoldFreezeInput) error {
	f := &freezer{frozen: input.Frozen}
	if err := f.handle(ctx); err != nil {
		return err
	}
	held := func() bool { return len(f.frozen) > 0 }
	if err := sleep(ctx, firstMessage, "waits for the first freeze", held); err != nil {
		return err
	}
	for held() {
		info := workflow.GetInfo(ctx)
		if info.GetContinueAsNewSuggested() || info.GetTargetWorkerDeploymentVersionChanged() {
			return f.continueAsNew(ctx)
		}
		seen := f.messages
		summary := text.Cut(fmt.Sprintf("frozen: %s, by %s since %s", what(f.frozen[0].Selector), f.frozen[0].By, text.Time(f.frozen[0].Since)), maxSummaryRunes)
		if err := sleep(ctx, longestTimer, summary, func() bool { return f.messages != seen }); err != nil {
			return err
		}
	}
	return workflow.Await(ctx, func() bool { return workflow.AllHandlersFinished(ctx) })
}

// what is how a summary calls a selector.
func what(selector string) string {
	if selector == "" {
		return "everything"
	}
	return selector
}

func (f *freezer) continueAsNew(ctx workflow.Context) error {
	if err := workflow.Await(ctx, func() bool { return workflow.AllHandlersFinished(ctx) }); err != nil {
		return err
	}
	return workflow.NewContinueAsNewErrorWithOptions(ctx, workflow.ContinueAsNewErrorOptions{
		InitialVersioningBehavior: workflow.ContinueAsNewVersioningBehaviorAutoUpgrade,
	}, HoldFreezeWorkflow, HoldFreezeInput{Frozen: f.frozen})
}

func (f *freezer) handle(ctx workflow.Context) error {
	freeze := workflow.UpdateHandlerOptions{Validator: f.validate, Description: "Stop every PUT and DELETE of what the selector matches."}
	if err := workflow.SetUpdateHandlerWithOptions(ctx, FreezeUpdate, f.freeze, freeze); err != nil {
		return fmt.Errorf("set update handler %s: %w", FreezeUpdate, err)
	}
	unfreeze := workflow.UpdateHandlerOptions{Description: "Take a freeze back; its selector names it."}
	if err := workflow.SetUpdateHandlerWithOptions(ctx, UnfreezeUpdate, f.unfreeze, unfreeze); err != nil {
		return fmt.Errorf("set update handler %s: %w", UnfreezeUpdate, err)
	}
	return nil
}

func (f *freezer) validate(in Freeze) error {
	if _, err := resource.ParseSelector(in.Selector); err != nil {
		return refused(RefusedInvalid, "%v", err)
	}
	if f.at(in) < 0 && len(f.frozen) >= freezesMost {
		return refused(RefusedInvalid, "%d freezes are on; take one back first, or freeze everything", len(f.frozen))
	}
	return nil
}

func (f *freezer) at(in Freeze) int {
	return slices.IndexFunc(f.frozen, func(known Freeze) bool { return known.Selector == in.Selector })
}

func (f *freezer) freeze(ctx workflow.Context, in Freeze) (FreezeResult, error) {
	if f.at(in) >= 0 {
		return FreezeResult{Frozen: f.frozen}, nil
	}
	in.Since = workflow.Now(ctx)
	f.frozen = append(slices.Clone(f.frozen), in)
	return f.changed(ctx)
}

func (f *freezer) unfreeze(ctx workflow.Context, in Freeze) (FreezeResult, error) {
	at := f.at(in)
	if at < 0 {
		return FreezeResult{Frozen: f.frozen}, nil
	}
	f.frozen = slices.Delete(slices.Clone(f.frozen), at, at+1)
	return f.changed(ctx)
}

func (f *freezer) changed(ctx workflow.Context) (FreezeResult, error) {
	f.messages++
	if err := workflow.UpsertMemo(ctx, map[string]any{MemoFrozen: f.frozen}); err != nil {
		return FreezeResult{}, fmt.Errorf("write the memo: %w", err)
	}
	return FreezeResult{Changed: true, Frozen: f.frozen}, nil
}
