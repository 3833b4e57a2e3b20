package workflows

import (
	"time"

	"github.com/armature-io/armature/activities"
	enumspb "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
)

// LastFreezes are the freezes that the last run of the workflow that keeps them left in
// force, with the names of starts. The zero value is for a namespace without such a run.
type LastFreezes struct {
	HoldFreezeInput
	// Status is that of the run, UNSPECIFIED without one.
	Status enumspb.WorkflowExecutionStatus
	// TaskQueue is that of the run.
	TaskQueue string
	// Unreadable is set if the memo is not one of freezes: then everything is frozen.
	Unreadable bool
}

// ReadFreezes returns the freezes in the memo of the last run. Only a run that completed has
// none: its last freeze was lifted. A terminated run must not lift a freeze, and a memo that
// does not decode freezes everything. data is payload.ClearData.
func ReadFreezes(info *workflowpb.WorkflowExecutionInfo, data converter.DataConverter) LastFreezes {
	last := LastFreezes{Status: info.GetStatus(), TaskQueue: info.GetTaskQueue()}
	memo := info.GetMemo().GetFields()
	// The server removes a member with an empty list.
	last.Unreadable = memo[MemoFrozen] == nil && info.GetType().GetName() != HoldFreezeWorkflow
	for name, into := range map[string]any{MemoFrozen: &last.Frozen, MemoStarts: &last.Starts} {
		if p := memo[name]; p != nil && data.FromPayload(p, into) != nil {
			last.Unreadable = true
		}
	}
	switch {
	case last.Status == enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED:
		last.Frozen, last.Unreadable = nil, false
	case last.Unreadable:
		last.HoldFreezeInput = HoldFreezeInput{Frozen: []Freeze{{
			Since: info.GetStartTime().AsTime(), Reason: "the workflow that keeps freezes does not say what it freezes",
		}}}
	}
	return last
}

// Running reports whether the run is open.
func (l LastFreezes) Running() bool { return l.Status == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING }

// Interrupted reports whether freezes are in force that no run keeps: it was terminated, it
// timed out or failed, or Temporal has it no longer.
func (l LastFreezes) Interrupted() bool { return len(l.Frozen) > 0 && !l.Running() }

// Since returns the time of the freeze that an unfreeze lifts, or from which it releases its
// selector; zero without one.
func (l LastFreezes) Since(unfreeze Freeze) time.Time {
	i := l.index(unfreeze.Selector)
	if i < 0 && unfreeze.Release {
		i = l.index("")
	}
	if i < 0 {
		return time.Time{}
	}
	return l.Frozen[i].Since
}

// FreezeStartOptions returns the options with which the workflow that keeps freezes starts.
// Its memo has the freezes, so that they are in force at once. An open run is kept.
func FreezeStartOptions(in HoldFreezeInput, taskQueue string) client.StartWorkflowOptions {
	return client.StartWorkflowOptions{
		ID: FreezeWorkflowID, TaskQueue: taskQueue, StaticSummary: "freezes in force", Memo: in.memo(),
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_FAIL, WorkflowExecutionErrorWhenAlreadyStarted: true,
		Priority: temporal.Priority{PriorityKey: PriorityBrake},
	}
}

// RestartOptions are FreezeStartOptions for freezes that no run keeps. The server refuses
// the start if the last run completed meanwhile: its freezes were lifted.
func RestartOptions(in HoldFreezeInput, taskQueue string) client.StartWorkflowOptions {
	options := FreezeStartOptions(in, taskQueue)
	options.WorkflowIDReusePolicy = enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY
	return options
}

// Sealer encrypts and decrypts the author of a freeze.
type Sealer interface {
	Seal(value any) ([]byte, error)
	activities.Unsealer
}

// unreadableAuthor is the reason of a freeze whose author is encrypted with another key.
const unreadableAuthor = "author and reason are encrypted with a key that is not configured here"

// Seal returns the freeze with its author encrypted, if the sealer encrypts.
func (f Freeze) Seal(sealer Sealer) (Freeze, error) {
	sealed, err := sealer.Seal(activities.Author{By: f.By, Reason: f.Reason})
	if err != nil {
		return f, err //nolint:wrapcheck // it says what is encrypted
	}
	if sealed != nil {
		f.By, f.Reason, f.Sealed = "", "", sealed
	}
	return f, nil
}

// Open returns the freeze with its author decrypted. If that fails, it has no author, and
// the reason says why.
func (f Freeze) Open(unsealer activities.Unsealer) Freeze {
	if len(f.Sealed) == 0 {
		return f
	}
	var author activities.Author
	if err := unsealer.Unseal(f.Sealed, &author); err != nil {
		author = activities.Author{Reason: unreadableAuthor}
	}
	f.By, f.Reason, f.Sealed = author.By, author.Reason, nil
	return f
}

// OpenAll opens the authors of freezes.
func OpenAll(freezes []Freeze, unsealer activities.Unsealer) []Freeze {
	opened := make([]Freeze, len(freezes))
	for i, freeze := range freezes {
		opened[i] = freeze.Open(unsealer)
	}
	return opened
}
