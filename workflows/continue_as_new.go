package workflows

import (
	"cmp"

	"go.temporal.io/sdk/workflow"
)

// The number of events after which a run of ReconcileResource continues as new: about
// thirty passes. The server suggests it at 4,096 events, but a worker that restarted, or
// does not keep the run in memory, replays a history before each pass.
const (
	// firstHistoryLength is the limit of a run without one in its input. It is part of the
	// order of commands and never changes: a replay would continue a recorded run earlier
	// or later.
	firstHistoryLength = 500
	// maxHistoryLength is the limit that a run gives to the next one, and may change.
	maxHistoryLength = 500
	// maxUrgentLengths is how many times longer a run may become while messages arrive and
	// its notifications fail.
	maxUrgentLengths = 4
)

// historyLimit returns the number of events after which the run continues as new.
func (s *State) historyLimit() int { return cmp.Or(s.HistoryLimit, firstHistoryLength) }

// shouldContinueAsNew reports whether the server suggests a new run, or a newer worker
// version is there for it.
func shouldContinueAsNew(ctx workflow.Context) bool {
	info := workflow.GetInfo(ctx)
	return info.GetContinueAsNewSuggested() || info.GetTargetWorkerDeploymentVersionChanged()
}

// newRunAsked reports whether the server suggests a new run, or a MoveVersionSignal waits. A
// run that sleeps looks for it too: signals without a handler make its history longer.
func newRunAsked(ctx workflow.Context) bool {
	return shouldContinueAsNew(ctx) || workflow.GetSignalChannel(ctx, MoveVersionSignal).Len() > 0
}

// drainMoveRequests receives every MoveVersionSignal. It is called where the run has looked,
// or is going to look, whether it continues on another version.
func drainMoveRequests(ctx workflow.Context) {
	var none any
	for workflow.GetSignalChannel(ctx, MoveVersionSignal).ReceiveAsync(&none) {
	}
}

// continueAsNew returns the error with which a run continues as a new run of the same
// workflow, on the newest worker version.
func continueAsNew(ctx workflow.Context, name string, input any) error {
	drainMoveRequests(ctx)
	return workflow.NewContinueAsNewErrorWithOptions(ctx, workflow.ContinueAsNewErrorOptions{
		InitialVersioningBehavior: workflow.ContinueAsNewVersioningBehaviorAutoUpgrade,
	}, name, input)
}

// awaitHandlers waits until every update handler has returned.
func awaitHandlers(ctx workflow.Context) error {
	return workflow.Await(ctx, func() bool { return workflow.AllHandlersFinished(ctx) })
}
