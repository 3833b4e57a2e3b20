package workflows

import (
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/activities/exporting"
	"github.com/armature-io/armature/resource"
)

// TaskQueue is the default task queue of workers and starters.
const TaskQueue = "armature"

// Names of the workflow and its messages. They live in histories: a golden test
// lists them. MemoryQuery returns an activities.WorkflowMemory.
const (
	ReconcileResourceWorkflow = "ReconcileResource"

	ApplyUpdate     = "apply"
	ReconcileUpdate = "reconcile"
	PauseUpdate     = "pause"
	ResumeUpdate    = "resume"
	DeleteUpdate    = "delete"
	AbortUpdate     = "abort"
	ForgetUpdate    = "forget"
	WakeSignal      = "wake"
	// MoveVersionSignal asks a run to continue on the worker version that its work is routed
	// to, if that is another one. It has no input and causes no pass.
	MoveVersionSignal = "move-version"
	StatusQuery       = "status"
	MemoryQuery       = "memory"
)

// Types of the application errors with which validators refuse an update. The CLI acts
// on them; the message is for the user.
const (
	RefusedDeleting   = "Deleting"
	RefusedNotDeleted = "NotDeleting"
	RefusedOnce       = "OnceOnManaged"
	RefusedInvalid    = "InvalidDesired"
	RefusedNotManaged = "NotManaged"
	RefusedProtected  = "Protected"
	RefusedManaged    = "Managed"
	// RefusedNotDecided is of a message about which the checks of a worker have not decided
	// yet. It is sent again with the same ID.
	RefusedNotDecided = "NotDecided"
	// RefusedRunning is of a request that a DELETE decides which runs and may send nothing.
	RefusedRunning = "DeleteRunning"
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
	// Once ends the run when the resource is Ready, or fails it at a fatal verdict.
	Once bool `json:"once,omitempty"`
	// By is the user that applied it: user@host.
	By string `json:"by,omitempty"`
	// Carried is what a new workflow takes over from the one at the old place of a moved
	// resource, nil for none.
	Carried *activities.Carried `json:"carried,omitempty"`
}

// ApplyResult is the result of ApplyUpdate.
type ApplyResult struct {
	// Generation counts the changes of the spec, from 1.
	Generation int64 `json:"generation"`
	// Changed is false when the spec is equal to the last one.
	Changed bool `json:"changed"`
	// Paused is set when no pass starts before a resume.
	Paused bool `json:"paused,omitempty"`
	// TakenBack is set when the apply ended a deletion that had sent nothing.
	TakenBack bool `json:"takenBack,omitempty"`
	// DeletedWith is the owner whose deletion, with Cascade, requested the deletion that ended.
	DeletedWith resource.ID `json:"deletedWith,omitzero"`
}

// ReconcileInput is the payload of ReconcileUpdate, which requests a pass now.
type ReconcileInput struct {
	// Force skips the owner check and the in-flight guard in that pass.
	Force bool `json:"force,omitempty"`
	// DropBaseline drops the baseline, so that each difference is a reason for a PUT
	// again.
	DropBaseline bool `json:"dropBaseline,omitempty"`
	// Recreate approves to create the resource again if it was deleted outside
	// Armature. Neither the type nor a budget holds it then.
	Recreate bool   `json:"recreate,omitempty"`
	Reason   string `json:"reason,omitempty"`
	By       string `json:"by,omitempty"`
	// Order is the signed approval of Recreate, nil for one that is not signed.
	Order *resource.DeletionOrder `json:"order,omitempty"`
	// Request is the key of the message in the audit trail; the workflow sets it.
	Request string `json:"request,omitempty"`
}

// ReconcileResult is the result of ReconcileUpdate.
type ReconcileResult struct {
	// Pass is the number of the pass that serves the request: wait until Status.Pass is
	// at least this.
	Pass int64 `json:"pass"`
	// Paused is set when no pass starts before a resume.
	Paused bool `json:"paused,omitempty"`
}

// PauseInput is the payload of PauseUpdate and ResumeUpdate.
type PauseInput struct {
	Reason string `json:"reason,omitempty"`
	By     string `json:"by,omitempty"`
}

// PauseResult is the result of PauseUpdate and ResumeUpdate.
type PauseResult struct {
	// Changed is false when the update changed nothing.
	Changed bool `json:"changed"`
}

// DeleteInput is the payload of DeleteUpdate.
type DeleteInput struct {
	// Cascade also deletes what is inside the resource, without asking.
	Cascade bool `json:"cascade,omitempty"`
	// EndScope allows the deletion of a resource that ends a scope with it, as
	// resource.EndsScope reports.
	EndScope bool `json:"endScope,omitempty"`
	// WithData allows to delete data that ARM does not list, in the resource and, with
	// Cascade, in what is inside it.
	WithData bool `json:"withData,omitempty"`
	// Held makes the deletion wait until another request without Held: a management lock is
	// deleted only when Azure refuses the DELETE of what it protects.
	Held bool `json:"held,omitempty"`
	// Stack is the ID of the DeleteStack that accompanies the deletion, "" for none.
	Stack string `json:"stack,omitempty"`
	// Continue is set by the DeleteStack: it continues a deletion that Stack accompanies, and
	// requests none.
	Continue bool   `json:"continue,omitempty"`
	By       string `json:"by,omitempty"`
	// Desired is used when the run has no spec yet: a delete by manifest starts a
	// workflow for it.
	Desired *resource.Desired `json:"desired,omitempty"`
	// APIVersion replaces the applied api-version in the requests of the deletion, ""
	// for none: the applied one may be wrong or retired.
	APIVersion string `json:"apiVersion,omitempty"`
	// From is the owner whose deletion with Cascade requested this one, zero for a
	// request of a user.
	From resource.ID `json:"from,omitzero"`
	// StatedAt is when a user requested the cascade, zero for a request of a user.
	StatedAt time.Time `json:"statedAt,omitzero"`
	// Order is the signed request of the user, for From where that is set; nil for one
	// that is not signed.
	Order *resource.DeletionOrder `json:"order,omitempty"`
	// Request is the key of the message in the audit trail; the workflow sets it.
	Request string `json:"request,omitempty"`
}

// DeleteResult is the result of DeleteUpdate. The deletion continues in the workflow,
// which completes when the resource is deleted.
type DeleteResult struct {
	// Changed is false when a deletion was already in progress.
	Changed bool `json:"changed"`
	// Detached is set when the policy leaves the resource in Azure.
	Detached bool `json:"detached,omitempty"`
	// Deletion is what the applied manifest states about the deletion, nil for nothing.
	Deletion *resource.Deletion `json:"deletion,omitempty"`
}

// AbortInput is the payload of AbortUpdate, which takes a deletion back that has sent
// nothing.
type AbortInput struct {
	By string `json:"by,omitempty"`
	// From restricts the update to a deletion that the deletion of this owner requested, and
	// Stack to one that this DeleteStack accompanies.
	From  resource.ID `json:"from,omitzero"`
	Stack string      `json:"stack,omitempty"`
}

// AbortResult is the result of AbortUpdate.
type AbortResult struct {
	// DeletedWith is the owner whose deletion with Cascade had requested the deletion. It
	// requests it again unless it is taken back too.
	DeletedWith resource.ID `json:"deletedWith,omitzero"`
	// Paused is set when no pass starts before a resume.
	Paused bool `json:"paused,omitempty"`
}

// ForgetInput is the payload of ForgetUpdate, which ends the management of a resource
// and sends nothing to Azure.
type ForgetInput struct {
	Reason string `json:"reason,omitempty"`
	By     string `json:"by,omitempty"`
}

// ForgetResult is the result of ForgetUpdate. The run completes at once.
type ForgetResult struct {
	// Busy is set when a step is running: the run completes after its request.
	Busy bool `json:"busy,omitempty"`
}

// WakeInput is the payload of WakeSignal: another resource changed.
type WakeInput struct {
	// ID changed to State at time At.
	ID    resource.ID `json:"id"`
	State string      `json:"state,omitempty"`
	At    time.Time   `json:"at"`
	// Trace is the W3C traceparent of what sent the signal, "" without traces.
	Trace string `json:"trace,omitempty"`
}

// Phase is the state of a resource in one word, for lists.
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

// Status is the result of StatusQuery and of a run that ended, and the data that get and
// describe show.
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
	Needs      []resource.ID `json:"needs,omitempty"`
	Generation int64         `json:"generation"`
	// AppliedBy is the user that applied the spec of Generation, as the client named it.
	AppliedBy string             `json:"appliedBy,omitempty"`
	Phase     Phase              `json:"phase"`
	Condition resource.Condition `json:"condition"`
	// Pass is the number of the last finished pass.
	Pass int64 `json:"pass"`
	// Deletion is what the applied manifest states about a deletion, nil for nothing.
	Deletion *resource.Deletion `json:"delete,omitempty"`
	// InPass is set while a pass runs, or a message has requested one.
	InPass bool `json:"inPass,omitempty"`
	// PassSince is when the pass that runs began; zero while none does.
	PassSince time.Time `json:"passSince,omitzero"`
	// Attempts counts the passes since the resource was last Ready, or a user last
	// requested one.
	Attempts int `json:"attempts,omitempty"`
	// WaitingFor are the resources that block, since WaitingSince: a change of one may end
	// the block.
	WaitingFor   []resource.ID `json:"waitingFor,omitempty"`
	WaitingSince time.Time     `json:"waitingSince,omitzero"`
	// NextTry is when the next pass starts by itself; zero means only on a message.
	NextTry time.Time `json:"nextTry,omitzero"`
	// NotReadySince is when the first pass since the resource was last Ready, or
	// since its spec changed, ended early; zero while none has. Overdue is set
	// once that is longer ago than the worker's overdue-after.
	NotReadySince time.Time `json:"notReadySince,omitzero"`
	Overdue       bool      `json:"overdue,omitempty"`
	Paused        bool      `json:"paused,omitempty"`
	// Deleting is set once a deletion was requested; Deleted when it is done.
	Deleting bool `json:"deleting,omitempty"`
	Deleted  bool `json:"deleted,omitempty"`
	// Abortable is set while the deletion has sent nothing and can be taken back. Cascade
	// is set when it deletes what is inside the resource too.
	Abortable bool `json:"abortable,omitempty"`
	Cascade   bool `json:"cascade,omitempty"`
	// Operation is the long-running operation in progress, "" for none.
	Operation      string    `json:"operation,omitempty"`
	OperationSince time.Time `json:"operationSince,omitzero"`
	// Differences are the result of the last pass that found any, at DifferencesAt.
	Differences   []resource.Difference `json:"differences,omitempty"`
	DifferencesAt time.Time             `json:"differencesAt,omitzero"`
	activities.Findings
	// Exports are the secrets that the manifest exports values to, without the values.
	Exports []exporting.Exported `json:"exports,omitempty"`
	// Decisions are the last decisions, oldest first.
	Decisions []Decision `json:"decisions,omitempty"`
}

// Decision is one line of the log that describe shows. Equal neighbours are one line
// with a count and the time of the last.
type Decision struct {
	At      time.Time       `json:"at"`
	Count   int             `json:"count,omitempty"`
	Pass    int64           `json:"pass"`
	Step    string          `json:"step"`
	Action  resource.Action `json:"action,omitempty"`
	Reason  resource.Reason `json:"reason,omitempty"`
	Message string          `json:"message,omitempty"`
	// Origin is resource.Verdict.Origin: "" for Armature's own decisions.
	Origin string `json:"origin,omitempty"`
}
