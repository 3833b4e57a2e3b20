package workflows

import (
	"time"

	"github.com/armature-io/armature/resource"
)

// TaskQueue is the default task queue of workers and starters.
const TaskQueue = "armature"

// Names of the workflow and its messages. They live in histories: a golden test
// lists them.
const (
	ReconcileResourceWorkflow = "ReconcileResource"

	ApplyUpdate     = "apply"
	ReconcileUpdate = "reconcile"
	PauseUpdate     = "pause"
	ResumeUpdate    = "resume"
	DeleteUpdate    = "delete"
	WakeSignal      = "wake"
	StatusQuery     = "status"
)

// Types of the application errors with which update validators refuse. The CLI
// acts on them; the message is for the user.
const (
	RefusedDeleting   = "Deleting"
	RefusedOnce       = "OnceOnManaged"
	RefusedInvalid    = "InvalidDesired"
	RefusedNotManaged = "NotManaged"
	RefusedProtected  = "Protected"
)

// FatalError is the type of the application error with which a run of `--once`
// fails; its details are one Status.
const FatalError = "ReconcileFailed"

// ReconcileResourceInput starts a run. A starter leaves State nil and sends the
// first apply or delete with the start; continue-as-new carries State.
type ReconcileResourceInput struct {
	State *State `json:"state,omitempty"`
}

// ApplyInput is the payload of ApplyUpdate: a new or repeated spec.
type ApplyInput struct {
	Desired resource.Desired `json:"desired"`
	// Once makes the run end when the resource is Ready, or fail at a fatal
	// verdict.
	Once bool `json:"once,omitempty"`
	// By is who applied it: user@host.
	By string `json:"by,omitempty"`
}

// ApplyResult answers an ApplyUpdate.
type ApplyResult struct {
	// Generation counts the changes of the spec, from 1.
	Generation int64 `json:"generation"`
	// Changed is false when the spec was the same already.
	Changed bool `json:"changed"`
	// Paused is set when no pass starts before a resume.
	Paused bool `json:"paused,omitempty"`
}

// ReconcileInput is the payload of ReconcileUpdate: a pass is wanted now.
type ReconcileInput struct {
	// Force skips the owner check and the in-flight guard in that pass.
	Force bool `json:"force,omitempty"`
	// DropBaseline forgets what Azure keeps: each difference is a reason for a PUT
	// again.
	DropBaseline bool   `json:"dropBaseline,omitempty"`
	Reason       string `json:"reason,omitempty"`
	By           string `json:"by,omitempty"`
}

// ReconcileResult answers a ReconcileUpdate.
type ReconcileResult struct {
	// Pass is the number of the pass that will have served the request:
	// wait until Status.Pass is at least this.
	Pass int64 `json:"pass"`
	// Paused is set when no pass starts before a resume.
	Paused bool `json:"paused,omitempty"`
}

// PauseInput is the payload of PauseUpdate and ResumeUpdate.
type PauseInput struct {
	Reason string `json:"reason,omitempty"`
	By     string `json:"by,omitempty"`
}

// PauseResult answers a PauseUpdate or ResumeUpdate.
type PauseResult struct {
	// Changed is false when it was so already.
	Changed bool `json:"changed"`
}

// DeleteInput is the payload of DeleteUpdate.
type DeleteInput struct {
	// Cascade skips the check that nothing else would go with it.
	Cascade bool   `json:"cascade,omitempty"`
	By      string `json:"by,omitempty"`
	// Desired is used when the run manages nothing yet: delete of a manifest
	// starts a workflow for it.
	Desired *resource.Desired `json:"desired,omitempty"`
}

// DeleteResult answers a DeleteUpdate: the deletion goes on in the workflow,
// which completes when the resource is gone.
type DeleteResult struct {
	// Changed is false when a deletion was already under way.
	Changed bool `json:"changed"`
	// Detached is set when the policy leaves the resource in Azure.
	Detached bool `json:"detached,omitempty"`
}

// WakeInput is the payload of WakeSignal: another resource changed.
type WakeInput struct {
	// ID changed to State at time At.
	ID    resource.ID `json:"id"`
	State string      `json:"state,omitempty"`
	At    time.Time   `json:"at"`
}

// Phase is where a resource stands, one word for lists.
type Phase string

// The phases; they are values of the search attribute ReconcilePhase.
const (
	PhasePending   Phase = "Pending"
	PhaseBlocked   Phase = "Blocked"
	PhaseOperating Phase = "Operating"
	PhaseReady     Phase = "Ready"
	PhaseNotReady  Phase = "NotReady"
	PhasePaused    Phase = "Paused"
	PhaseDeleting  Phase = "Deleting"
	PhaseFailed    Phase = "Failed"
)

// Status is the answer of StatusQuery, the result of a run that ended, and what
// get and describe show.
type Status struct {
	ID         resource.ID       `json:"id"`
	Name       string            `json:"name"`
	APIVersion string            `json:"apiVersion"`
	Owner      resource.ID       `json:"owner"`
	Policy     resource.Policy   `json:"policy"`
	Credential string            `json:"credential,omitempty"`
	Interval   time.Duration     `json:"interval"`
	Labels     map[string]string `json:"labels,omitempty"`
	// Needs are the resources that this one depends on: owner, references,
	// dependsOn.
	Needs      []resource.ID      `json:"needs,omitempty"`
	Generation int64              `json:"generation"`
	Phase      Phase              `json:"phase"`
	Condition  resource.Condition `json:"condition"`
	// Pass is the number of the last finished pass.
	Pass int64 `json:"pass"`
	// Attempts counts the passes since the resource was last Ready.
	Attempts int `json:"attempts,omitempty"`
	// WaitingFor names the resources whose change would lift a block, since
	// WaitingSince.
	WaitingFor   []resource.ID `json:"waitingFor,omitempty"`
	WaitingSince time.Time     `json:"waitingSince,omitzero"`
	// NextTry is when the next pass starts by itself; zero = only on a message.
	NextTry time.Time `json:"nextTry,omitzero"`
	// NotReadySince is when the first pass since the resource was last Ready, or
	// since its spec changed, ended early; zero while none has. Overdue is set
	// once that is longer ago than the worker's overdue-after.
	NotReadySince time.Time `json:"notReadySince,omitzero"`
	Overdue       bool      `json:"overdue,omitempty"`
	Paused        bool      `json:"paused,omitempty"`
	// Deleting is set once a deletion was asked for; Deleted when it is done.
	Deleting bool `json:"deleting,omitempty"`
	Deleted  bool `json:"deleted,omitempty"`
	// Operation is the long-running operation that goes on, "" for none.
	Operation      string    `json:"operation,omitempty"`
	OperationSince time.Time `json:"operationSince,omitzero"`
	// Differences are those of the last pass that found any, at DifferencesAt.
	Differences   []resource.Difference `json:"differences,omitempty"`
	DifferencesAt time.Time             `json:"differencesAt,omitzero"`
	// Kept are paths where Azure keeps another value than the manifest's since the
	// last good PUT, and which are not fought.
	Kept []string `json:"kept,omitempty"`
	// Decisions are the last ones, oldest first.
	Decisions []Decision `json:"decisions,omitempty"`
}

// Decision is one line of the log that describe shows. Equal neighbours are one
// line with a count and the time of the last.
type Decision struct {
	At      time.Time       `json:"at"`
	Count   int             `json:"count,omitempty"`
	Pass    int64           `json:"pass"`
	Step    string          `json:"step"`
	Action  resource.Action `json:"action,omitempty"`
	Reason  resource.Reason `json:"reason,omitempty"`
	Message string          `json:"message,omitempty"`
}
