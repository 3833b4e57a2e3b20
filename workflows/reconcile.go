package workflows

import (
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"go.temporal.io/sdk/workflow"
)

// firstMessageTimeout is how long a run waits for the apply or delete that it was
// started with. That message comes with the first workflow task, so the time passes
// only when the message was refused.
const firstMessageTimeout = time.Second

// reconciler is one run of ReconcileResource.
type reconciler struct {
	state *State
	// messages counts the messages of this run: a wait ends when it changes.
	messages int64
	// timerFired is set when the timer of the next try fired.
	timerFired bool
	// inPass is set while a pass runs, since passSince.
	inPass    bool
	passSince time.Time
	// inDeletion is set while a deletion pass runs, deleteRuns while its DeleteResource does
	// and no earlier one may have sent a DELETE.
	inDeletion, deleteRuns bool
	// notifications are the inputs of the WakeDependents activities that run beside the loop.
	notifications []*activities.WakeDependentsInput
	// cancelPoll ends the wait for an operation, nil while there is none.
	cancelPoll func()
	// cancelRead cancels the step that is running, nil unless it only reads; interrupted is
	// set once it was called in the pass.
	cancelRead  func()
	interrupted bool
	// queued is the last pass if it waits for its turn, granted is set once the queue granted it.
	queued  *pass
	granted bool
	// becameReady is the last wake of the pass by another resource that became Ready and of which
	// the spec uses no value; nil for none.
	becameReady *WakeInput
	// cause is the last message that requested a pass, "" once the pass began.
	cause string
	// writing is set while an activity writes the spec.
	writing bool
	// maskedSpec is maskedFrom with what its body states about secrets.
	maskedFrom *resource.Desired
	maskedSpec resource.Desired
	// steps returns the steps of a pass; tests replace it.
	steps func(*reconciler) []step
	// wakes and reports are the signals that have not been received yet.
	wakes, reports workflow.ReceiveChannel
}

// ReconcileResource keeps one ARM resource the way its manifest describes, until it is
// deleted, canceled, or, with --once, Ready once.
func ReconcileResource(ctx workflow.Context, input ReconcileResourceInput) (*Status, error) {
	return newReconciler(input).run(ctx)
}

func newReconciler(input ReconcileResourceInput) *reconciler {
	r := &reconciler{state: &State{}, steps: (*reconciler).passSteps}
	if input.State != nil {
		r.state = input.State
	}
	return r
}

// run is the loop: it does what is due, and then waits. The spec is missing only when the first
// message was refused. An idle workflow keeps the frames from here to its wait on its stack, so
// they are small.
func (r *reconciler) run(ctx workflow.Context) (*Status, error) {
	err := r.start(ctx)
	for ends := false; err == nil && !ends; {
		if ends, err = r.advance(ctx); err == nil && !ends {
			err = r.wait(ctx)
		}
	}
	return r.state.status(), err
}

// advance runs passes and ends what messages requested to end, until nothing is due. It reports
// whether the run ends.
func (r *reconciler) advance(ctx workflow.Context) (ends bool, err error) {
	for r.state.Desired != nil {
		if err := ctx.Err(); err != nil {
			return true, err
		}
		if r.state.Forget != nil {
			r.endManagement(ctx)
			r.sendLastRequests(ctx)
			return true, r.awaitIdle(ctx)
		}
		if r.state.Undo != nil {
			r.finishUndo(ctx)
			continue
		}
		if r.shouldContinueAsNew(ctx) {
			if err := r.awaitNewRun(ctx); err != nil {
				return true, err
			}
			if r.isIdle(ctx) || r.leavesNotifications(ctx) {
				return true, r.continueAsNew(ctx)
			}
			if !r.passDue(ctx) {
				continue
			}
		}
		if !r.passDue(ctx) {
			r.sendRequests(ctx)
			return false, nil
		}
		r.runPass(ctx)
		if done, _ := r.finished(); !done {
			continue
		}
		r.sendLastRequests(ctx)
		if err := r.awaitIdle(ctx); err != nil {
			return true, err
		}
		// A message may have arrived meanwhile: what was accepted is done.
		if done, result := r.finished(); done {
			return true, result
		}
	}
	return true, nil
}

// start registers the handlers, waits for the first spec, and sends the notifications that the run
// before left.
func (r *reconciler) start(ctx workflow.Context) error {
	if err := r.registerHandlers(ctx); err != nil {
		return err
	}
	managed := func() bool { return r.state.Desired != nil }
	if err := awaitOrTimer(ctx, firstMessageTimeout, "waiting for the first apply", managed); err != nil {
		return err
	}
	r.resumeNotifications(ctx)
	return nil
}

// passDue reports whether a pass is to run now. A deletion runs while paused.
func (r *reconciler) passDue(ctx workflow.Context) bool {
	if r.state.pauseBlocks() {
		return false
	}
	return r.state.Requests.Pass || r.timerFired || !r.state.Retry.NextTry.IsZero() && !workflow.Now(ctx).Before(r.state.Retry.NextTry)
}

// runPass runs a deletion pass, or a pass of five steps and exports, or the rest of one whose turn
// came. A deletion checks again what it would delete.
func (r *reconciler) runPass(ctx workflow.Context) {
	ctx = workflow.WithPriority(ctx, r.state.priority())
	requested, number := r.state.Requests.Pass, r.state.Pass+1
	r.state.Requests.Pass, r.timerFired = false, false
	r.inPass, r.passSince, r.interrupted = true, workflow.Now(ctx), false
	ctx, trace := r.beginTrace(ctx, requested)
	r.state.dropOldChanges(workflow.Now(ctx))
	queued := r.takeQueued()
	r.inDeletion = r.state.Deletion != nil
	switch {
	case r.inDeletion:
		r.deletePass(ctx)
	case queued != nil:
		r.continueQueued(ctx, queued)
	default:
		r.state.restartBackoff()
		r.runSteps(ctx, r.newPass(), r.steps(r))
	}
	r.receiveSignals(ctx)
	r.requestUnlessReady(ctx)
	r.inPass, r.inDeletion = false, false
	r.endTrace(ctx, trace, number)
	r.describe(ctx)
}

// finished reports whether the run ends, and with which error: after a deletion, and
// with --once when the resource is Ready or has failed permanently. A pass that a pause
// interrupted decides neither.
func (r *reconciler) finished() (bool, error) {
	switch {
	case r.state.deleted():
		return true, nil
	case !r.state.Once || r.state.Requests.Pass || r.state.Paused || r.state.Deletion != nil:
		return false, nil
	case r.state.Condition.Ready:
		return true, nil
	case r.state.Phase == PhaseFailed:
		return true, fatal(r.state.status())
	}
	return false, nil
}

// isIdle reports whether every handler has returned and no notification runs.
func (r *reconciler) isIdle(ctx workflow.Context) bool {
	return len(r.notifications) == 0 && workflow.AllHandlersFinished(ctx)
}

// awaitIdle waits until the run is idle.
func (r *reconciler) awaitIdle(ctx workflow.Context) error {
	return workflow.Await(ctx, func() bool { return r.isIdle(ctx) })
}

// shouldContinueAsNew reports whether the next run is to start. It is called between
// passes only, never between a PUT and its poll.
func (r *reconciler) shouldContinueAsNew(ctx workflow.Context) bool {
	return shouldContinueAsNew(ctx) || workflow.GetInfo(ctx).GetCurrentHistoryLength() > r.state.historyLimit()
}

// maxNotifyingBeforeNewRun is how long a run waits for its notifications before the next
// run starts them again. The second sweep of a notification comes after 5 s.
const maxNotifyingBeforeNewRun = 3 * time.Second

// leavesNotifications reports whether the next run takes over the notifications of this one.
func (r *reconciler) leavesNotifications(ctx workflow.Context) bool {
	return workflow.AllHandlersFinished(ctx) && !r.isUrgent(ctx)
}

// isUrgent reports whether a message has to be handled before the next run starts.
func (r *reconciler) isUrgent(ctx workflow.Context) bool {
	return (r.state.Forget != nil || r.state.Undo != nil || r.passDue(ctx)) &&
		workflow.GetInfo(ctx).GetCurrentHistoryLength() < maxUrgentLengths*r.state.historyLimit()
}

// awaitNewRun waits until the run is idle, or has something to do before the next run: a
// notification may need minutes.
func (r *reconciler) awaitNewRun(ctx workflow.Context) error {
	ready := func() bool { return r.isIdle(ctx) || r.isUrgent(ctx) }
	if ready() {
		return nil
	}
	_, err := workflow.AwaitWithTimeout(ctx, maxNotifyingBeforeNewRun, ready)
	return err
}

// continueAsNew starts the next run. It resumes the remaining wait, because the next
// try is an absolute time.
func (r *reconciler) continueAsNew(ctx workflow.Context) error {
	r.receiveSignals(ctx)
	r.state.HistoryLimit, r.state.Notifications = maxHistoryLength, r.unendedNotifications()
	return continueAsNew(ctx, ReconcileResourceWorkflow, ReconcileResourceInput{State: r.state})
}
