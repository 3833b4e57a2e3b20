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
}

// reconcileResource is the workflow ReconcileResource: it keeps one ARM resource
// the way its manifest says, until it is deleted, canceled, or Ready once.
func reconcileResource(p *packer) func(workflow.Context, ReconcileResourceInput) (*Status, error) {
	return func(ctx workflow.Context, input ReconcileResourceInput) (*Status, error) {
		r, err := start(ctx, input, p)
		if err != nil || r.state.Desired == nil {
			return r.state.status(), err
		}
		return r.run(ctx)
	}
}

// start sets the handlers and waits for the spec.
func start(ctx workflow.Context, input ReconcileResourceInput, p *packer) (*reconciler, error) {
	r := &reconciler{state: &State{}, packer: p, steps: (*reconciler).fiveSteps}
	if input.State != nil {
		r.state = input.State
	}
	if err := r.handleMessages(ctx); err != nil {
		return r, err
	}
	managed := func() bool { return r.state.Desired != nil }
	return r, sleep(ctx, firstMessage, "waits for the first apply", managed)
}

// run is the loop: a pass when one is due, else a wait.
func (r *reconciler) run(ctx workflow.Context) (*Status, error) {
	for {
		if err := ctx.Err(); err != nil {
			return r.state.status(), err
		}
		if r.shouldContinueAsNew(ctx) {
			return r.state.status(), r.continueAsNew(ctx)
		}
		if r.due(ctx) {
			r.runPass(ctx)
			if done, err := r.finished(); done {
				return r.end(ctx, err)
			}
			continue
		}
		if err := r.wait(ctx); err != nil {
			return r.state.status(), err
		}
	}
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

// end waits for the handlers that still answer and the wakes that go on, and
// ends the run.
func (r *reconciler) end(ctx workflow.Context, err error) (*Status, error) {
	if await := workflow.Await(ctx, func() bool { return r.quiet(ctx) }); await != nil {
		return r.state.status(), await
	}
	return r.state.status(), err
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
