package workflows

import (
	"fmt"
	"slices"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/internal/audit"
	"github.com/armature-io/armature/internal/payload"
	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/resource"
	"go.temporal.io/sdk/workflow"
)

// HoldFreezeWorkflow keeps the freezes of the fleet. Its one run, FreezeWorkflowID,
// exists while there are any. Its memo lists them, so that workers and users read them
// without a worker. A run that was interrupted (LastFreezes) leaves them in force. Its
// payloads are never encrypted.
const (
	HoldFreezeWorkflow = payload.ClearWorkflow
	FreezeWorkflowID   = payload.ClearWorkflowID
)

// Names of its messages, and of the memos: a list of Freeze, and the names of the starts
// that froze everything once.
const (
	FreezeUpdate   = "freeze"
	UnfreezeUpdate = "unfreeze"
	MemoFrozen     = "frozen"
	MemoStarts     = "starts"
)

const (
	// maxFreezes bounds the freezes, and the exceptions of one, and so the memo.
	maxFreezes = 50
	// maxStarts bounds the names of starts that are kept.
	maxStarts = 20
	// maxAuthor bounds the author and the reason of a freeze, in bytes.
	maxAuthor = 8 << 10
)

// Freeze stops every PUT and DELETE of the resources with the labels of Selector
// (k=v,k=v), or of all resources when it is "".
type Freeze struct {
	Selector string `json:"selector,omitempty"`
	// By and Reason are statements of the sender, which nothing verifies. In an encrypted
	// namespace they are empty, and Sealed has both, encrypted; all other members are clear.
	By     string `json:"by,omitempty"`
	Reason string `json:"reason,omitempty"`
	Sealed []byte `json:"sealed,omitempty"`
	// Since identifies a freeze among those with the same selector. In an UnfreezeUpdate it
	// is that of the freeze to lift, zero for any.
	Since time.Time `json:"since,omitzero"`
	// Start is the name of the start of workers that set the freeze. A start freezes
	// everything once: later requests with its name change nothing.
	Start string `json:"start,omitempty"`
	// Except are selectors that a user released from a freeze of everything. A worker
	// that does not know the member freezes them too.
	Except []string `json:"except,omitempty"`
	// Release is set in an UnfreezeUpdate that may add its selector to Except, where
	// everything is frozen and nothing else has the selector.
	Release bool `json:"release,omitempty"`
	// Signature is the proof of an UnfreezeUpdate, nil without one.
	Signature *resource.Signature `json:"signature,omitempty"`
}

// Matches reports whether the freeze applies to a resource with the labels. What does not
// parse was written by a later version: such a selector matches all, such an exception
// none.
func (f Freeze) Matches(labels map[string]string) bool {
	selector, err := resource.ParseSelector(f.Selector)
	if err == nil && !selector.Matches(labels) {
		return false
	}
	return !slices.ContainsFunc(f.Except, func(except string) bool {
		released, err := resource.ParseSelector(except)
		return err == nil && except != "" && released.Matches(labels)
	})
}

// FreezeResult is the result of FreezeUpdate and UnfreezeUpdate.
type FreezeResult struct {
	// Changed is false when the update changed nothing.
	Changed bool `json:"changed"`
	// Frozen are the freezes after the update.
	Frozen []Freeze `json:"frozen,omitempty"`
	// Unnamed is set by the sender if it left author and reason out.
	Unnamed bool `json:"-"`
}

// HoldFreezeInput starts a run; continue-as-new carries the freezes.
type HoldFreezeInput struct {
	Frozen []Freeze `json:"frozen,omitempty"`
	// Starts are the names of the starts that froze everything, oldest first.
	Starts []string `json:"starts,omitempty"`
	requestQueue
}

// memo returns the memo of a run with the freezes.
func (in HoldFreezeInput) memo() map[string]any {
	memo := map[string]any{MemoFrozen: in.Frozen}
	if len(in.Starts) > 0 {
		memo[MemoStarts] = in.Starts
	}
	return memo
}

// Add returns the input with one more freeze, and whether it changed.
func (in HoldFreezeInput) Add(freeze Freeze) (HoldFreezeInput, bool) {
	if freeze.Start != "" && slices.Contains(in.Starts, freeze.Start) {
		return in, false
	}
	at := in.index(freeze.Selector)
	if freeze.Start != "" {
		in.Starts = append(slices.Clone(in.Starts), freeze.Start)
		in.Starts = in.Starts[max(0, len(in.Starts)-maxStarts):]
	}
	in.Frozen = slices.Clone(in.Frozen)
	switch {
	case at < 0:
		in.Frozen = append(in.Frozen, freeze)
	case freeze.Start == "" && len(in.Frozen[at].Except) == 0:
		return in, false
	default:
		in.Frozen[at].Except = nil
	}
	return in, true
}

// freezer is one run of HoldFreeze.
type freezer struct {
	HoldFreezeInput
	messages int64
}

// HoldFreeze keeps the freezes until the last one is lifted.
func HoldFreeze(ctx workflow.Context, input HoldFreezeInput) error {
	f := &freezer{HoldFreezeInput: input}
	if err := f.registerHandlers(ctx); err != nil {
		return err
	}
	f.noteFirst(ctx)
	active := func() bool { return len(f.Frozen) > 0 || len(f.Requests) > 0 }
	if err := awaitOrTimer(ctx, firstMessageTimeout, "waiting for the first freeze", active); err != nil {
		return err
	}
	for active() {
		drainMoveRequests(ctx)
		if shouldContinueAsNew(ctx) {
			if err := awaitHandlers(ctx); err != nil {
				return err
			}
			return continueAsNew(ctx, HoldFreezeWorkflow, f.HoldFreezeInput)
		}
		handled := f.messages
		f.record(ctx)
		if !active() {
			continue
		}
		duration, summary := f.nextTimer()
		if err := awaitOrTimer(ctx, duration, summarize(summary), func() bool { return f.messages != handled || newRunAsked(ctx) }); err != nil {
			return err
		}
	}
	return awaitHandlers(ctx)
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
	return registerUpdate(ctx, UnfreezeUpdate, "Lift the freeze with the same selector.", f.unfreeze, f.validateUnfreeze)
}

func (f *freezer) validate(in Freeze) error {
	if _, err := resource.ParseSelector(in.Selector); err != nil {
		return refused(RefusedInvalid, "%v", err)
	}
	if f.index(in.Selector) < 0 && len(f.Frozen) >= maxFreezes {
		return refused(RefusedInvalid, "%d freezes are active: lift one first, or freeze everything", len(f.Frozen))
	}
	if len(in.By)+len(in.Reason)+len(in.Sealed) > maxAuthor {
		return refused(RefusedInvalid, "author and reason are longer than %d bytes: shorten the reason", maxAuthor)
	}
	return nil
}

func (f *freezer) validateUnfreeze(in Freeze) error {
	i := f.releasedFrom(in)
	if i >= 0 && len(f.Frozen[i].Except) >= maxFreezes {
		return refused(RefusedInvalid, "%d selectors are released already: lift the freeze, or freeze the rest by labels", maxFreezes)
	}
	if i < 0 {
		i = f.index(in.Selector)
	}
	if i >= 0 && !in.Since.IsZero() && !in.Since.Equal(f.Frozen[i].Since) {
		return refused(RefusedInvalid, "%s was frozen again at %s: look at it, then lift that freeze", selectorText(f.Frozen[i].Selector), text.Time(f.Frozen[i].Since))
	}
	return nil
}

// index returns the position of the freeze with the selector, -1 without one.
func (in HoldFreezeInput) index(selector string) int {
	return slices.IndexFunc(in.Frozen, func(known Freeze) bool { return known.Selector == selector })
}

// releasedFrom returns the position of the freeze of everything from which the request
// releases its selector, -1 where it does not.
func (f *freezer) releasedFrom(in Freeze) int {
	if !in.Release || in.Selector == "" || f.index(in.Selector) >= 0 {
		return -1
	}
	i := f.index("")
	if i < 0 || slices.Contains(f.Frozen[i].Except, in.Selector) {
		return -1
	}
	return i
}

func (f *freezer) freeze(ctx workflow.Context, in Freeze) (FreezeResult, error) {
	in.Since, in.Except, in.Release, in.Signature = workflow.Now(ctx), nil, false, nil
	next, changed := f.Add(in)
	if !changed {
		return FreezeResult{Frozen: f.Frozen}, nil
	}
	f.noteFreeze(ctx, in)
	return f.change(ctx, next)
}

func (f *freezer) unfreeze(ctx workflow.Context, in Freeze) (FreezeResult, error) {
	next := HoldFreezeInput{Frozen: slices.Clone(f.Frozen), Starts: f.Starts}
	request := activities.UserRequest{Event: audit.EventUnfreeze, By: in.By, Reason: in.Reason, Sealed: in.Sealed, Selector: in.Selector, Text: selectorText(in.Selector)}
	if from := f.releasedFrom(in); from >= 0 {
		next.Frozen[from].Except = append(slices.Clone(next.Frozen[from].Except), in.Selector)
		f.add(ctx, request)
		return f.change(ctx, next)
	}
	i := f.index(in.Selector)
	if i < 0 {
		return FreezeResult{Frozen: f.Frozen}, nil
	}
	next.Frozen = slices.Delete(next.Frozen, i, i+1)
	f.add(ctx, request)
	return f.change(ctx, next)
}

func (f *freezer) change(ctx workflow.Context, next HoldFreezeInput) (FreezeResult, error) {
	f.Frozen, f.Starts = next.Frozen, next.Starts
	f.messages++
	if err := workflow.UpsertMemo(ctx, f.memo()); err != nil {
		return FreezeResult{}, fmt.Errorf("write the memo: %w", err)
	}
	return FreezeResult{Changed: true, Frozen: f.Frozen}, nil
}
