package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"
)

// mostEvents is the length of a history at which the next run starts: some thirty
// passes. The server suggests it at 4,096 events, but a worker that restarted, or
// has no room to keep the run in memory, replays a history before each pass.
const mostEvents = 500

// firstMessage is how long a run waits for the apply or delete that it was
// started with. That message comes with the first workflow task, so the time
// passes only when the message was refused.
const firstMessage = time.Second

// reconciler is one run of ReconcileResource.
type reconciler struct {
	state *State
	// messages counts the messages of this run: a wait ends when it changes.
	messages int64
	// elapsed is set when the timer of the next try fired.
	elapsed bool
	// passing is set while a pass runs.
	passing bool
	// waking counts the activities that wake dependents beside the loop.
	waking int
	// steps returns the steps of a pass; tests replace it.
	steps func(*reconciler) []step
	// wakes are the signals that have not been received yet.
	wakes workflow.ReceiveChannel
}

// ReconcileResource keeps one ARM resource the way its manifest says, until it is
// deleted, canceled, or, with --once, Ready once.
func ReconcileResource(ctx workflow.Context, input ReconcileResourceInput) (Status, error) {
	return newReconciler(input).run(ctx)
}

func newReconciler(input ReconcileResourceInput) *reconciler {
	r := &reconciler{state: &State{}, steps: (*reconciler).fiveSteps}
	if input.State != nil {
		r.state = input.State
	}
	return r
}

// run is the loop: it runs a pass when one is due, else it waits.
func (r *reconciler) run(ctx workflow.Context) (Status, error) {
	err := r.start(ctx)
	for err == nil && r.state.Desired != nil {
		if err = ctx.Err(); err != nil {
			break
		}
		if r.shouldContinueAsNew(ctx) {
			err = r.continueAsNew(ctx)
			break
		}
		if !r.due(ctx) {
			err = r.wait(ctx)
			continue
		}
		r.runPass(ctx)
		if done, result := r.finished(); done {
			err = r.end(ctx, result)
			break
		}
	}
	return r.state.status(), err
}

// start registers the handlers and waits for the first spec.
func (r *reconciler) start(ctx workflow.Context) error {
	if err := r.handleMessages(ctx); err != nil {
		return err
	}
	managed := func() bool { return r.state.Desired != nil }
	return sleep(ctx, firstMessage, "waits for the first apply", managed)
}

// due reports whether a pass is to run now. A deletion works while paused.
func (r *reconciler) due(ctx workflow.Context) bool {
	if r.state.holds() {
		return false
	}
	return r.state.Wanted || r.elapsed || !r.state.NextTry.IsZero() && !workflow.Now(ctx).Before(r.state.NextTry)
}

// runPass runs one pass of the kind that is due.
func (r *reconciler) runPass(ctx workflow.Context) {
	r.state.Wanted, r.elapsed = false, false
	r.passing = true
	r.state.forget(workflow.Now(ctx))
	if r.state.Delete != nil {
		r.deletePass(ctx)
	} else {
		r.runSteps(ctx, r.newPass(), r.steps(r))
	}
	r.takeWakes(ctx)
	r.passing = false
	r.describe(ctx)
}

// finished reports whether the run is over, and with which error: after a
// deletion, and with --once when the resource is Ready or for good not. A pass
// that a pause cut short decided neither.
func (r *reconciler) finished() (bool, error) {
	switch {
	case r.state.gone():
		return true, nil
	case !r.state.Once || r.state.Wanted || r.state.Paused || r.state.Delete != nil:
		return false, nil
	case r.state.Condition.Ready:
		return true, nil
	case r.state.Phase == PhaseFailed:
		return true, fatal(r.state.status())
	}
	return false, nil
}

// end waits for the handlers that still answer and the wakes that go on: with err
// the run ends.
func (r *reconciler) end(ctx workflow.Context, err error) error {
	if await := workflow.Await(ctx, func() bool { return r.quiet(ctx) }); await != nil {
		return await
	}
	return err
}

func (r *reconciler) quiet(ctx workflow.Context) bool {
	return r.waking == 0 && workflow.AllHandlersFinished(ctx)
}

// shouldContinueAsNew asks between passes only: never between a PUT and its
// poll.
func (r *reconciler) shouldContinueAsNew(ctx workflow.Context) bool {
	info := workflow.GetInfo(ctx)
	return info.GetContinueAsNewSuggested() || info.GetTargetWorkerDeploymentVersionChanged() ||
		info.GetCurrentHistoryLength() > mostEvents
}

// continueAsNew starts the next run, on the newest worker version. It resumes
// the remaining wait, because the next try is an absolute time.
func (r *reconciler) continueAsNew(ctx workflow.Context) error {
	if err := workflow.Await(ctx, func() bool { return r.quiet(ctx) }); err != nil {
		return err
	}
	r.takeWakes(ctx)
	return workflow.NewContinueAsNewErrorWithOptions(ctx, workflow.ContinueAsNewErrorOptions{
		InitialVersioningBehavior: workflow.ContinueAsNewVersioningBehaviorAutoUpgrade,
	}, ReconcileResourceWorkflow, ReconcileResourceInput{State: r.state})
}
