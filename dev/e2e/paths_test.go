package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"sync/atomic"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/activities/contents"
	"github.com/armature-io/armature/activities/writing"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/dev/internal/histories"
	"github.com/armature-io/armature/dev/temporaldev"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// TestRecordPaths plays paths of the workflows that an ARM server and workers reach seldom, late
// or by a race, with scripted activities on the real Temporal server, and records their histories.
func TestRecordPaths(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{})
	short := harness.New(t, binaries, harness.Options{ContinueAsNewAfter: 40})
	for name, play := range map[string]func(*played){
		"dry-runs": pathDryRuns, "stack-deleted": pathStackDeleted, "stack-refused": pathStackRefused,
		"forgotten": pathForgotten, "undone": pathUndone, "canceled": pathCanceled, "unregistered": pathUnregistered,
		"once": pathOnce, "once-fatal": pathOnceFatal, "reset": pathReset, "deleted-in-flight": pathDeletedInFlight,
		"owner-absent": pathOwnerAbsent, "queue": pathQueue, "slow-operation": pathSlowOperation, "frozen": pathFrozen, "spent": pathSpent, "long": pathLong,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			play(newPlayed(t, w, name, nil))
		})
	}
	for name, play := range map[string]func(*played){
		"queue-continued": pathQueueContinued, "freeze-continued": pathFreezeContinued, "budgets-continued": pathBudgetsContinued,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			play(newPlayed(t, short, name, nil))
		})
	}
}

// played is one scenario: a worker with scripted activities and a task queue of its own.
type played struct {
	*harness.World
	name string
	// script has the activities by name; a scenario replaces them before their first call.
	script map[string]any
}

// scripted returns an activity that returns the same result always.
func scripted[In, Out any](out Out) func(context.Context, In) (Out, error) {
	return func(context.Context, In) (Out, error) { return out, nil }
}

// inTurn returns an activity that returns one result after the other, the last one repeatedly.
func inTurn[In, Out any](results ...Out) func(context.Context, In) (Out, error) {
	var calls atomic.Int64
	return func(context.Context, In) (Out, error) {
		return results[min(int(calls.Add(1))-1, len(results)-1)], nil
	}
}

// ordinary returns an activity that fails within a workflow task, so that the workflow schedules
// it: messages arrive while it runs.
func ordinary[In, Out any](run func(context.Context, In) (Out, error)) func(context.Context, In) (Out, error) {
	return func(ctx context.Context, in In) (out Out, err error) {
		if activity.GetInfo(ctx).IsLocalActivity {
			return out, temporal.NewNonRetryableApplicationError("played later", activities.LookDeferred, nil)
		}
		return run(ctx, in)
	}
}

var (
	proceeds  = resource.Proceed("")
	succeeds  = resource.Verdict{Action: resource.ActionSuccess}
	unchanged = resource.Verdict{Action: resource.ActionSkip, Reason: resource.ReasonInSync}
	creates   = resource.Verdict{Action: resource.ActionProceed, Create: true, Message: "it does not exist"}
)

func present() activities.GetResourceResult {
	return activities.GetResourceResult{Verdict: proceeds, Exists: true, State: "Succeeded", Observed: json.RawMessage(`{"properties":{}}`)}
}

func absent() activities.GetResourceResult { return activities.GetResourceResult{Verdict: proceeds} }

// newPlayed starts the worker of a scenario; script replaces activities.
func newPlayed(t *testing.T, w *harness.World, name string, script map[string]any) *played {
	t.Helper()
	p := &played{World: w.On(t), name: name, script: map[string]any{
		"CheckOwner":       scripted[activities.CheckOwnerInput](activities.CheckOwnerResult{Verdict: proceeds}),
		"GetResource":      scripted[activities.GetResourceInput](present()),
		"PreCheck":         scripted[activities.PreCheckInput](activities.PreCheckResult{Verdict: unchanged}),
		"PutResource":      scripted[activities.PutResourceInput](activities.PutResourceResult{Verdict: resource.Proceed("accepted"), Sent: true, Done: true}),
		"PollOperation":    scripted[activities.PollOperationInput](activities.PollOperationResult{Verdict: succeeds}),
		"PostCheck":        scripted[activities.PostCheckInput](activities.PostCheckResult{Verdict: succeeds}),
		"CheckContents":    scripted[contents.Request](activities.CheckContentsResult{Verdict: proceeds}),
		"CheckDependents":  scripted[activities.CheckDependentsInput](activities.CheckDependentsResult{Verdict: proceeds}),
		"DeleteResource":   scripted[activities.DeleteResourceInput](activities.DeleteResourceResult{Verdict: resource.Proceed("accepted"), Accepted: true, Done: true}),
		"TakeTurn":         scripted[activities.TakeTurnInput](activities.TakeTurnResult{Verdict: proceeds}),
		"CheckTurn":        scripted[activities.CheckTurnInput](activities.CheckTurnResult{Held: true}),
		"RegisterProvider": scripted[activities.RegisterProviderInput](activities.RegisterProviderResult{Verdict: proceeds}),
		"WakeDependents":   scripted[activities.WakeDependentsInput](activities.WakeDependentsResult{}),
		"WakeLater":        scripted[activities.WakeDependentsInput](activities.WakeLaterResult{}),
		"AbortDependents":  scripted[activities.AbortDependentsInput](activities.AbortDependentsResult{Verdict: resource.Proceed("took back 2")}),
		"RecordRequests":   scripted[activities.RecordRequestsInput](activities.RecordRequestsResult{Written: 100}),
	}}
	maps.Copy(p.script, script)
	return p
}

// work starts the worker.
func (p *played) work() {
	p.T.Helper()
	w := worker.New(p.Client, p.name, worker.Options{})
	workflows.Register(w)
	for name, function := range p.script {
		w.RegisterActivityWithOptions(function, activity.RegisterOptions{Name: name})
	}
	if err := w.Start(); err != nil {
		p.T.Fatal(err)
	}
	p.T.Cleanup(w.Stop)
}

func (p *played) desired() resource.Desired {
	id := parsed(p.T, thing{group: p.name, name: p.name}.id())
	return resource.Desired{
		ID: id, APIVersion: "2024-01-01", Name: p.name, Body: json.RawMessage(`{"location":"westus2"}`),
		Owner: id.Owner(), OwnerAPIVersion: resource.ResourceGroupAPIVersion,
		Policy: resource.PolicyManage, Interval: time.Hour, Timeout: resource.DefaultTimeout,
	}
}

// begin starts a workflow with its first message, or sends the message to the one that runs.
func (p *played) begin(id, workflow string, input any, update string, in any) {
	p.T.Helper()
	options := workflows.StartOptions(p.desired(), p.name)
	options.ID = id
	p.start(options, workflow, input, update, in)
}

func (p *played) start(options client.StartWorkflowOptions, workflow string, input any, update string, in any) {
	p.T.Helper()
	options.WorkflowIDConflictPolicy = enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING
	handle, err := p.Client.UpdateWithStartWorkflow(p.T.Context(), client.UpdateWithStartWorkflowOptions{
		StartWorkflowOperation: p.Client.NewWithStartWorkflowOperation(options, workflow, input),
		UpdateOptions:          client.UpdateWorkflowOptions{WorkflowID: options.ID, UpdateName: update, WaitForStage: client.WorkflowUpdateStageCompleted, Args: []any{in}},
	})
	if err == nil {
		err = handle.Get(p.T.Context(), nil)
	}
	if err != nil {
		p.T.Fatal(err)
	}
}

// id is the workflow of the scenario's resource.
func (p *played) id() string { return p.desired().ID.WorkflowID() }

// apply starts the workflow of the resource.
func (p *played) apply(in workflows.ApplyInput) {
	p.T.Helper()
	in.Desired, in.By = p.desired(), "test"
	p.begin(p.id(), workflows.ReconcileResourceWorkflow, workflows.ReconcileResourceInput{}, workflows.ApplyUpdate, in)
}

// send sends an update and waits for its result.
func (p *played) send(id, update string, in any) {
	p.T.Helper()
	p.Update([]string{id}, update, func(int) any { return in })
}

func (p *played) untilStatus(what string, done func(workflows.Status) bool) {
	p.T.Helper()
	p.UntilStatus(60*time.Second, p.desired().ID.String(), what, done)
}

func (p *played) untilReady(pass int64) {
	p.T.Helper()
	p.untilStatus("is Ready", func(s workflows.Status) bool { return s.Pass >= pass && s.Condition.Ready })
}

// end waits for the end of a run and records it.
func (p *played) end(id, scenario string) error {
	p.T.Helper()
	ctx, stop := context.WithTimeout(p.T.Context(), 2*time.Minute)
	defer stop()
	err := p.Client.GetWorkflow(ctx, id, "").Get(ctx, nil)
	if ctx.Err() != nil {
		p.T.Fatalf("%s does not end", id)
	}
	p.RecordWorkflow(id, "", scenario)
	return err
}

func (p *played) history(id string) *historypb.History {
	p.T.Helper()
	history, err := histories.Fetch(p.T.Context(), p.Client, id, "")
	if err != nil {
		p.T.Fatal(err)
	}
	return history
}

// record records a run once its last workflow task has completed: a replay checks no commands of
// one that has not.
func (p *played) record(id string) {
	p.T.Helper()
	p.Until(time.Minute, id+" rests", func() (bool, string) {
		open := 0
		for _, event := range p.history(id).GetEvents() {
			switch event.GetEventType() {
			case enumspb.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED:
				open++
			case enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED, enumspb.EVENT_TYPE_WORKFLOW_TASK_FAILED, enumspb.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT:
				open--
			}
		}
		return open <= 0, "a task is open"
	})
	p.RecordWorkflow(id, "", p.name)
}

// runID returns the latest run.
func (p *played) runID(id string) string {
	p.T.Helper()
	run, err := p.Client.DescribeWorkflowExecution(p.T.Context(), id, "")
	if err != nil {
		p.T.Fatal(err)
	}
	return run.GetWorkflowExecutionInfo().GetExecution().GetRunId()
}

// untilContinued waits until a run is no longer the latest, and records it.
func (p *played) untilContinued(id, runID, scenario string) {
	p.T.Helper()
	p.Until(60*time.Second, id+" continued as new", func() (bool, string) { return p.runID(id) != runID, "not yet" })
	p.RecordWorkflow(id, runID, scenario)
}

var errScripted = temporal.NewNonRetryableApplicationError("scripted", "Scripted", errors.New("scripted"))

func failing[In, Out any](context.Context, In) (out Out, err error) { return out, errScripted }

// pathDryRuns plans, imports, proves a move, asks for a deletion and diagnoses, each with
// success and, if that has another path, with failure.
func pathDryRuns(p *played) {
	id := p.desired().ID
	runs := map[string]struct {
		scenario string
		in       any
		ok, fail any
	}{
		workflows.PlanResourceWorkflow: {
			"plan-resource", activities.PlanResourceInput{Desired: p.desired()},
			scripted[activities.PlanResourceInput](activities.PlanResourceResult{}), failing[activities.PlanResourceInput, activities.PlanResourceResult],
		},
		workflows.PlanDeletionWorkflow: {
			"plan-deletion", activities.PlanDeletionInput{ID: id},
			scripted[activities.PlanDeletionInput](activities.PlanDeletionResult{}), failing[activities.PlanDeletionInput, activities.PlanDeletionResult],
		},
		workflows.ImportResourceWorkflow: {
			"import-resource", activities.ImportResourceInput{ID: id},
			scripted[activities.ImportResourceInput](activities.ImportResourceResult{}), failing[activities.ImportResourceInput, activities.ImportResourceResult],
		},
		workflows.TryChecksWorkflow: {
			"try-checks", activities.TryChecksInput{ID: id},
			scripted[activities.TryChecksInput](activities.TryChecksResult{}), failing[activities.TryChecksInput, activities.TryChecksResult],
		},
		workflows.MoveResourceWorkflow: {
			"move-resource", activities.MoveResourceInput{Old: id},
			scripted[activities.MoveResourceInput](activities.MoveResourceResult{}), failing[activities.MoveResourceInput, activities.MoveResourceResult],
		},
		workflows.DiagnoseWorkflow: {
			"diagnose", activities.DiagnoseInput{}, scripted[activities.DiagnoseInput](activities.DiagnoseResult{}), failing[activities.DiagnoseInput, activities.DiagnoseResult],
		},
	}
	for workflow, run := range runs {
		for result, activity := range map[string]any{"": run.ok, "-failed": run.fail} {
			q := newPlayed(p.T.(*testing.T), p.World, p.name+workflow+result, map[string]any{workflow: activity})
			q.work()
			options := client.StartWorkflowOptions{ID: q.name, TaskQueue: q.name}
			if _, err := q.Client.ExecuteWorkflow(q.T.Context(), options, workflow, run.in); err != nil {
				q.T.Fatal(err)
			}
			if err := q.end(q.name, run.scenario+result); err != nil && workflow != workflows.DiagnoseWorkflow {
				q.T.Error(err)
			}
		}
	}
}

func (p *played) stack() activities.Stack {
	id := p.desired().ID
	return activities.Stack{Resources: []resource.ID{id}, Locks: []activities.StackLock{{Desired: p.desired(), Protects: []resource.ID{id}}}, By: "test"}
}

func (p *played) deleteStack(results ...activities.WatchDeletionsResult) {
	p.script["WatchDeletions"] = inTurn[activities.Stack](results...)
	p.script["EndDeletions"] = scripted[activities.Stack](activities.EndDeletionsResult{Verdict: resource.Proceed("put 1 lock back")})
	p.work()
	id := workflows.DeleteStackIDPrefix + p.name
	if _, err := p.Client.ExecuteWorkflow(p.T.Context(), client.StartWorkflowOptions{ID: id, TaskQueue: p.name}, workflows.DeleteStackWorkflow, p.stack()); err != nil {
		p.T.Fatal(err)
	}
	if err := p.end(id, p.name); err != nil {
		p.T.Error(err)
	}
}

func pathStackDeleted(p *played) {
	stack := p.stack()
	p.deleteStack(activities.WatchDeletionsResult{Stack: stack}, activities.WatchDeletionsResult{Stack: activities.Stack{Locks: stack.Locks}})
}

func pathStackRefused(p *played) {
	p.deleteStack(activities.WatchDeletionsResult{Stack: p.stack(), Refused: p.desired().ID, Message: "refused"})
}

// pathForgotten forgets a resource whose cascade waits for its dependents.
func pathForgotten(p *played) {
	p.script["CheckDependents"] = scripted[activities.CheckDependentsInput](activities.CheckDependentsResult{Verdict: resource.Block(resource.ReasonWaitingForDependents, "1 resource")})
	p.work()
	p.apply(workflows.ApplyInput{})
	p.untilReady(1)
	p.send(p.id(), workflows.DeleteUpdate, workflows.DeleteInput{Cascade: true, By: "test"})
	p.untilStatus("waits for its dependents", func(s workflows.Status) bool { return s.Condition.Reason == resource.ReasonWaitingForDependents })
	p.send(p.id(), workflows.ForgetUpdate, workflows.ForgetInput{By: "test"})
	if err := p.end(p.id(), p.name); err != nil {
		p.T.Error(err)
	}
}

// pathUndone takes back a cascade whose resource waits in a queue for its turn.
func pathUndone(p *played) {
	p.script["CheckContents"] = scripted[contents.Request](activities.CheckContentsResult{Verdict: proceeds, Turn: p.desired().Owner})
	p.script["TakeTurn"] = scripted[activities.TakeTurnInput](activities.TakeTurnResult{Verdict: resource.Block(resource.ReasonWaitingForSibling, "a sibling has the turn")})
	p.work()
	p.apply(workflows.ApplyInput{})
	p.untilReady(1)
	p.send(p.id(), workflows.DeleteUpdate, workflows.DeleteInput{Cascade: true, By: "test"})
	p.untilStatus("waits for its turn", func(s workflows.Status) bool { return s.Condition.Reason == resource.ReasonWaitingForSibling })
	p.send(p.id(), workflows.AbortUpdate, workflows.AbortInput{By: "test"})
	p.untilReady(3)
	p.record(p.id())
}

// pathCanceled cancels a run whose request for a turn is in flight.
func pathCanceled(p *played) {
	taking := make(chan struct{}, 1)
	p.script["PreCheck"] = scripted[activities.PreCheckInput](activities.PreCheckResult{Verdict: creates, Turn: p.desired().Owner})
	p.script["TakeTurn"] = ordinary(func(ctx context.Context, _ activities.TakeTurnInput) (activities.TakeTurnResult, error) {
		select {
		case taking <- struct{}{}:
		default:
		}
		select {
		case <-ctx.Done():
		case <-time.After(3 * time.Second):
		}
		return activities.TakeTurnResult{Verdict: proceeds}, nil
	})
	p.work()
	p.apply(workflows.ApplyInput{})
	<-taking
	if err := p.Client.CancelWorkflow(p.T.Context(), p.id(), ""); err != nil {
		p.T.Fatal(err)
	}
	if err := p.end(p.id(), p.name); err == nil {
		p.T.Error("the canceled run succeeds")
	}
}

// pathSlowOperation waits for an operation that is asked about first after ten seconds.
func pathSlowOperation(p *played) {
	p.script["GetResource"] = inTurn[activities.GetResourceInput](absent(), present())
	p.script["PreCheck"] = inTurn[activities.PreCheckInput](activities.PreCheckResult{Verdict: creates}, activities.PreCheckResult{Verdict: unchanged})
	p.script["PutResource"] = scripted[activities.PutResourceInput](activities.PutResourceResult{
		Verdict: resource.Proceed("accepted"), Sent: true, Token: "t", RetryAfter: 10 * time.Second,
	})
	p.work()
	p.apply(workflows.ApplyInput{})
	p.untilReady(1)
	p.record(p.id())
}

// pathUnregistered registers a provider and sends the PUT again.
func pathUnregistered(p *played) {
	p.script["PreCheck"] = scripted[activities.PreCheckInput](activities.PreCheckResult{Verdict: creates})
	p.script["GetResource"] = inTurn[activities.GetResourceInput](absent(), present())
	p.script["PutResource"] = inTurn[activities.PutResourceInput](
		activities.PutResourceResult{Verdict: resource.Block(resource.ReasonReconciling, "not registered"), Unregistered: "Microsoft.Example"},
		activities.PutResourceResult{Verdict: resource.Proceed("accepted"), Sent: true, Done: true},
	)
	p.work()
	p.apply(workflows.ApplyInput{})
	p.untilReady(1)
	p.record(p.id())
}

func pathOnce(p *played) {
	p.work()
	p.apply(workflows.ApplyInput{Once: true})
	if err := p.end(p.id(), p.name); err != nil {
		p.T.Error(err)
	}
}

func pathOnceFatal(p *played) {
	p.script["PreCheck"] = scripted[activities.PreCheckInput](activities.PreCheckResult{Verdict: resource.Fail(resource.ReasonOperationFailed, resource.RetryNone, "denied")})
	p.work()
	p.apply(workflows.ApplyInput{Once: true})
	if err := p.end(p.id(), p.name); err == nil {
		p.T.Error("a run with --once whose resource failed for good succeeds")
	}
}

// pathReset resets a run to its first workflow task.
func pathReset(p *played) {
	p.work()
	p.apply(workflows.ApplyInput{})
	p.untilReady(1)
	run := p.runID(p.id())
	if _, err := p.Client.ResetWorkflowExecution(p.T.Context(), &workflowservice.ResetWorkflowExecutionRequest{
		Namespace: temporaldev.Namespace, WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: p.id()}, Reason: "test",
		WorkflowTaskFinishEventId: 4, RequestId: p.name,
	}); err != nil {
		p.T.Fatal(err)
	}
	p.Until(60*time.Second, "the run was reset", func() (bool, string) { return p.runID(p.id()) != run, "not yet" })
	p.untilReady(1) // a request before would be part of the first pass
	p.send(p.id(), workflows.ReconcileUpdate, workflows.ReconcileInput{By: "test"})
	p.untilReady(2)
	p.record(p.id())
}

// pathDeletedInFlight deletes a resource while an operation of another tool is in flight, and
// one whose DELETE has an operation.
func pathDeletedInFlight(p *played) {
	creating := present()
	creating.InFlight = "Creating"
	p.script["GetResource"] = inTurn[activities.GetResourceInput](present(), creating, present(), absent())
	p.script["DeleteResource"] = scripted[activities.DeleteResourceInput](activities.DeleteResourceResult{Verdict: resource.Proceed("accepted"), Accepted: true, Token: "t"})
	p.work()
	p.apply(workflows.ApplyInput{})
	p.untilReady(1)
	p.send(p.id(), workflows.DeleteUpdate, workflows.DeleteInput{By: "test"})
	if err := p.end(p.id(), p.name); err != nil {
		p.T.Error(err)
	}
}

// pathOwnerAbsent deletes a resource whose owner is absent already.
func pathOwnerAbsent(p *played) {
	p.script["CheckOwner"] = inTurn[activities.CheckOwnerInput](
		activities.CheckOwnerResult{Verdict: proceeds}, activities.CheckOwnerResult{Verdict: proceeds, OwnerAbsent: true})
	p.work()
	p.apply(workflows.ApplyInput{})
	p.untilReady(1)
	p.send(p.id(), workflows.DeleteUpdate, workflows.DeleteInput{By: "test"})
	if err := p.end(p.id(), p.name); err != nil {
		p.T.Error(err)
	}
}

// pathLong runs so many passes that the run continues as new by the length of its history.
func pathLong(p *played) {
	p.work()
	p.apply(workflows.ApplyInput{})
	run := p.runID(p.id())
	for pass := int64(1); p.runID(p.id()) == run; pass++ {
		p.untilReady(pass)
		p.send(p.id(), workflows.ReconcileUpdate, workflows.ReconcileInput{By: "test"})
	}
	p.untilContinued(p.id(), run, p.name)
}

// siblings are resources that take turns below one parent.
type siblings struct {
	*played
	parent resource.ID
	queue  string
}

func newSiblings(p *played) siblings {
	parent := p.desired().Owner
	return siblings{p, parent, workflows.SiblingsWorkflowID(parent)}
}

// turn is that of the sibling with a name. Its workflow does not run unless it was started.
func (s siblings) turn(name string) activities.Turn {
	id := parsed(s.T, thing{group: s.name, name: name}.id())
	return activities.Turn{Parent: s.parent, ID: id, WorkflowID: id.WorkflowID(), RunID: name}
}

// take requests a turn.
func (s siblings) take(name string) {
	s.T.Helper()
	s.begin(s.queue, workflows.SerializeSiblingsWorkflow, workflows.SerializeSiblingsInput{}, workflows.TakeTurnUpdate, []activities.Turn{s.turn(name)})
}

func (s siblings) endTurn(name string) {
	s.T.Helper()
	if err := s.Client.SignalWorkflow(s.T.Context(), s.queue, "", workflows.EndTurnSignal, s.turn(name)); err != nil {
		s.T.Fatal(err)
	}
}

// pathQueue grants turns: to the next in the queue, which runs; to one whose run has ended, so
// that it is skipped; and away from a holder that lost its run.
func pathQueue(p *played) {
	p.script["CheckTurn"] = inTurn[activities.CheckTurnInput](activities.CheckTurnResult{Held: true}, activities.CheckTurnResult{})
	p.work()
	p.apply(workflows.ApplyInput{})
	p.untilReady(1)
	s := newSiblings(p)
	s.take("a")
	s.take(p.name)
	s.take("ended")
	s.take("b")
	s.endTurn("a")
	s.take(p.name)
	s.take("c")
	s.endTurn("c")
	if err := p.end(s.queue, p.name); err != nil {
		p.T.Error(err)
	}
}

// pathQueueContinued takes turns until the run continues as new, with a holder and a queue.
func pathQueueContinued(p *played) {
	p.work()
	p.apply(workflows.ApplyInput{})
	p.untilReady(1)
	s := newSiblings(p)
	s.take("a")
	s.take(p.name)
	run := p.runID(s.queue)
	for p.runID(s.queue) == run {
		s.take("a")
	}
	p.untilContinued(s.queue, run, p.name)
	s.endTurn("a")
	s.take(p.name)
	p.RecordWorkflow(s.queue, "", p.name+"-next")
}

// freeze sends a freeze.
func (p *played) freeze(update string, in workflows.Freeze) {
	p.T.Helper()
	in.By = "test"
	p.begin(p.freezes(), workflows.HoldFreezeWorkflow, workflows.HoldFreezeInput{}, update, in)
}

// freezes is the workflow of the scenario's freezes.
func (p *played) freezes() string { return workflows.FreezeWorkflowID + ":" + p.name }

// pathFrozen freezes everything and a label, releases one, and lifts both.
func pathFrozen(p *played) {
	p.work()
	p.freeze(workflows.FreezeUpdate, workflows.Freeze{})
	p.freeze(workflows.FreezeUpdate, workflows.Freeze{Selector: "a=b"})
	p.freeze(workflows.FreezeUpdate, workflows.Freeze{Selector: "a=b"})
	p.freeze(workflows.UnfreezeUpdate, workflows.Freeze{Selector: "c=d", Release: true})
	p.freeze(workflows.UnfreezeUpdate, workflows.Freeze{Selector: "e=f"})
	p.freeze(workflows.UnfreezeUpdate, workflows.Freeze{Selector: "a=b"})
	p.freeze(workflows.UnfreezeUpdate, workflows.Freeze{})
	if err := p.end(p.freezes(), p.name); err != nil {
		p.T.Error(err)
	}
}

// pathFreezeContinued freezes until the run continues as new.
func pathFreezeContinued(p *played) {
	p.work()
	p.freeze(workflows.FreezeUpdate, workflows.Freeze{})
	run := p.runID(p.freezes())
	for p.runID(p.freezes()) == run {
		p.freeze(workflows.FreezeUpdate, workflows.Freeze{Selector: "a=b"})
		p.freeze(workflows.UnfreezeUpdate, workflows.Freeze{Selector: "a=b"})
	}
	p.untilContinued(p.freezes(), run, p.name)
	p.freeze(workflows.UnfreezeUpdate, workflows.Freeze{})
	if err := p.end(p.freezes(), p.name+"-next"); err != nil {
		p.T.Error(err)
	}
}

// spend asks the budget for a PUT of the sibling with a name.
func (p *played) spend(name string) {
	p.T.Helper()
	id := parsed(p.T, thing{group: p.name, name: name}.id())
	p.begin(p.budgets(), workflows.HoldBudgetsWorkflow, workflows.HoldBudgetsInput{}, workflows.SpendUpdate,
		[]writing.Expense{{Budget: "corrections", Limit: 3, ID: id, Token: "1", With: []resource.ID{id.Owner()}}})
}

func (p *played) budgets() string { return workflows.BudgetsWorkflowID(p.name) }

// pathSpent spends a budget and more, and once again what was granted.
func pathSpent(p *played) {
	p.work()
	for _, name := range []string{"a", "b", "a", "c", "d"} {
		p.spend(name)
	}
	p.record(p.budgets())
}

// pathBudgetsContinued spends until the run continues as new.
func pathBudgetsContinued(p *played) {
	p.work()
	p.spend("a")
	run := p.runID(p.budgets())
	for p.runID(p.budgets()) == run {
		p.spend("a")
	}
	p.untilContinued(p.budgets(), run, p.name)
	p.spend("b")
	p.RecordWorkflow(p.budgets(), "", p.name+"-next")
}
