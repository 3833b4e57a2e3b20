package service

import (
	"strings"

	"github.com/armature-io/armature/caller"
	"github.com/armature-io/armature/internal/searchattr"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// Verb is what a message asks for, by the name of the command that sends it.
type Verb string

// The verbs. A freeze has none: it works without a worker, and it only stops.
const (
	VerbApply     Verb = "apply"
	VerbReconcile Verb = "reconcile"
	VerbPause     Verb = "pause"
	VerbResume    Verb = "resume"
	VerbDelete    Verb = "delete"
	VerbAbort     Verb = "abort"
	VerbForget    Verb = "forget"
	VerbUnfreeze  Verb = "unfreeze"
)

// Action is a message that [Options.Authorize] decides about. What the sender states is
// not verified, By and From included; ID, Labels and Policy come from the workflow.
type Action struct {
	Verb Verb
	// Namespace and WorkflowID name the workflow that received the message.
	Namespace, WorkflowID string
	// RunID and UpdateID name the run and the message: the same message may be decided about
	// again.
	RunID, UpdateID string
	// ID is the resource, zero for an unfreeze.
	ID resource.ID
	// Labels and Policy are those in force; before the first apply they are those of the
	// message.
	Labels map[string]string
	Policy resource.Policy
	// Desired is the spec of an apply, or of a deletion by manifest; else nil. It must not
	// be changed.
	Desired *resource.Desired
	// Force, DropBaseline and Recreate qualify a reconcile: it skips guards, drops what was
	// accepted as kept by Azure, or approves that a resource is created again or replaced.
	// Every apply and reconcile of a user also approves removals that are held.
	Force, DropBaseline, Recreate bool
	// Cascade, EndScope and WithData qualify a deletion, and say what else goes with it.
	Cascade, EndScope, WithData bool
	// From is the owner whose deletion with Cascade sent the deletion or its end, zero for a
	// user.
	From resource.ID
	// Selector is that of an unfreeze; "" is everything.
	Selector string
	// Reason and By are the reason and the user, as the sender states them.
	Reason, By string
	// Header is what interceptors of the sender added to the message, by name.
	Header map[string]*commonpb.Payload
	// Caller is the sender by its token, where Options.Callers verified one, else nil.
	Caller *caller.Caller
}

// Subject returns what the action is about, for messages.
func (a Action) Subject() string {
	switch {
	case a.isFreeze() && a.Selector == "":
		return "everything"
	case a.isFreeze():
		return a.Selector
	}
	return a.ID.Short()
}

// isFreeze reports whether the action sets or lifts a freeze, which is about no resource.
func (a Action) isFreeze() bool { return a.Verb == VerbUnfreeze || a.Verb == verbFreeze }

// internalUpdates are messages between workers; they stop or count and start nothing. A
// freeze is among them because it must work without a worker.
var internalUpdates = map[string]bool{
	workflows.FreezeUpdate: true, workflows.TakeTurnUpdate: true, workflows.SpendUpdate: true,
}

// newAction returns the action of an update, and false for one that nothing decides about.
func newAction(ctx workflow.Context, in *interceptor.UpdateInput, data converter.DataConverter) (Action, bool) {
	if internalUpdates[in.Name] || len(in.Args) == 0 {
		return Action{}, false
	}
	info := workflow.GetInfo(ctx)
	action := Action{
		Verb: Verb(in.Name), Namespace: info.Namespace, WorkflowID: info.WorkflowExecution.ID, RunID: info.WorkflowExecution.RunID, Header: interceptor.WorkflowHeader(ctx),
	}
	if message := workflow.GetCurrentUpdateInfo(ctx); message != nil {
		action.UpdateID = message.ID
	}
	action.read(in.Args[0])
	if action.Verb == VerbUnfreeze {
		return action, true
	}
	texts := func(name string) (value string) {
		// A memo that does not parse names no resource, which the caller refuses.
		_ = data.FromPayload(info.Memo.GetFields()[name], &value)
		return value
	}
	action.ID, _ = resource.ParseID(texts(workflows.MemoID))
	action.Policy, action.Labels = resource.Policy(texts(workflows.MemoPolicy)), map[string]string{}
	labels, _ := workflow.GetTypedSearchAttributes(ctx).GetKeywordList(temporal.NewSearchAttributeKeyKeywordList(searchattr.ReconcileLabels))
	for _, label := range labels {
		name, value, _ := strings.Cut(label, "=")
		action.Labels[name] = value
	}
	return action, true
}

// read fills in what the message states.
func (a *Action) read(message any) {
	switch m := message.(type) {
	case workflows.ApplyInput:
		a.Desired, a.By = &m.Desired, m.By
	case workflows.ReconcileInput:
		a.Force, a.DropBaseline, a.Recreate, a.Reason, a.By = m.Force, m.DropBaseline, m.Recreate, m.Reason, m.By
	case workflows.PauseInput:
		a.Reason, a.By = m.Reason, m.By
	case workflows.DeleteInput:
		a.Cascade, a.EndScope, a.WithData, a.From, a.Desired, a.By = m.Cascade, m.EndScope, m.WithData, m.From, m.Desired, m.By
	case workflows.AbortInput:
		a.From, a.By = m.From, m.By
	case workflows.ForgetInput:
		a.Reason, a.By = m.Reason, m.By
	case workflows.Freeze:
		a.Selector, a.Reason, a.By = m.Selector, m.Reason, m.By
	}
}
