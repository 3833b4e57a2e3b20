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
	// state is nil while the run sleeps and packed holds it.
	state  *State
	packed packed
	packer *packer
	// messages counts the messages of this run: a wait ends when it moves.
	messages int64
	// elapsed is set when the timer of the next try fired.
	elapsed bool
	// passing is set while a pass runs.
	passing bool
	// waking counts the wakes that go on beside the loop.
	waking int
	// steps are those of a pass.
	steps func(*reconciler) []step
	// wakes are the signals that were not taken yet.
	wakes workflow.ReceiveChannel
	// failed is what the run ends with, nil for the status alone.
	failed error
}

// reconcileResource is the workflow ReconcileResource, for runs that share a packer:
// it keeps one ARM resource the way its manifest says, until it is deleted,
// canceled, or Ready once.
func reconcileResource(p *packer) func(workflow.Context, ReconcileResourceInput) (*Status, error) {
	return func(ctx workflow.Context, input ReconcileResourceInput) (*Status, error) {
		return start(ctx, input, p).run(ctx)
	}
}

// start sets the handlers and waits for the spec.
func start(ctx workflow.Context, input ReconcileResourceInput, p *packer) *reconciler {
	r := &reconciler{state: &State{}, packer: p, steps: (*reconciler).fiveSteps}
	if input.State != nil {
		r.state = input.State
	}
	if r.failed = r.handleMessages(ctx); r.failed == nil {
		managed := func() bool { return r.state.Desired != nil }
		r.failed = sleep(ctx, firstMessage, "waits for the first apply", managed)
	}
	return r
}

// run is the loop: a pass when one is due, else a wait.
func (r *reconciler) run(ctx workflow.Context) (*Status, error) {
	for !r.over(ctx) {
		r.failed = r.wait(ctx)
	}
	return r.state.status(), r.failed
}

// over makes the passes that are due, and reports whether the run is over.
//
//go:noinline
func (r *reconciler) over(ctx workflow.Context) bool {
	for r.failed == nil && r.state.Desired != nil {
		if r.failed = ctx.Err(); r.failed != nil {
			return true
		}
		if r.shouldContinueAsNew(ctx) {
			r.failed = r.continueAsNew(ctx)
			return true
		}
		if !r.due(ctx) {
			return false
		}
		r.runPass(ctx)
		if done, err := r.finished(); done {
			r.failed = r.end(ctx, err)
			return true
		}
	}
	return true
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
