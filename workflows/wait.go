package workflows

import (
	"slices"
	"time"

	"github.com/armature-io/armature/resource"
	"go.temporal.io/sdk/workflow"
)

// longWait is the timer of a wait that only a message ends, and the longest of all. A new worker
// version asks by MoveVersionSignal.
const longWait = 30 * 24 * time.Hour

// Wait is what a resource waits for.
type Wait struct {
	// For are the resources that block it, since Since.
	For   []resource.ID `json:"for,omitempty"`
	Since time.Time     `json:"since,omitzero"`
	// BlockedBy are the resources for which the owner check blocked last, without those
	// that the run was notified of since.
	BlockedBy []resource.ID `json:"blockedBy,omitempty"`
	// QueueParent is the parent in whose queue for a turn the resource waits.
	QueueParent resource.ID `json:"queueParent,omitzero"`
}

// begin records the resources that block now, and reports whether they are others than
// before.
func (w *Wait) begin(blockers []resource.ID, now time.Time) bool {
	changed := !slices.Equal(waitingKeys(w.For), waitingKeys(blockers))
	if changed {
		w.Since = now
	}
	w.For = blockers
	return changed
}

// lasted returns how long the resource has been waiting for the same resources; 0 for none.
func (w *Wait) lasted(now time.Time) time.Duration {
	if len(w.For) == 0 {
		return 0
	}
	return now.Sub(w.Since)
}

// waiting is one wait of the loop: for its timer, for a message, or until the run is as long as it
// may be.
type waiting struct {
	*reconciler
	ctx      workflow.Context
	messages int64 // that were handled before it
	timer    workflow.Future
	cancel   workflow.CancelFunc
	due      bool // the timer is that of the next try
}

// beginWait starts the timer of a wait, and shows why the resource waits.
func (r *reconciler) beginWait(ctx workflow.Context) *waiting {
	if r.state.pauseBlocks() {
		r.setPhase(ctx, PhasePaused, resource.ReasonPaused)
		r.state.Announced.Ready = false // dependents wait while it is paused; the pass after a resume wakes them
	}
	r.summarizeState(ctx)
	w := &waiting{reconciler: r, ctx: ctx, messages: r.messages}
	duration, due, summary := r.nextTimer(ctx)
	w.due = due
	w.timer, w.cancel = startTimer(ctx, duration, summary)
	return w
}

func (w *waiting) ended() bool {
	return w.reconciler.messages != w.messages || w.timer.IsReady() || w.shouldContinueAsNew(w.ctx)
}

func (w *waiting) interrupted() bool { return w.ended() || w.wakes.Len()+w.reports.Len() > 0 }

// wait blocks until the next try is due, a message arrives, or the run is as long as it may
// be: wakes that bring nothing new, and signals without a handler, do not end the wait.
func (r *reconciler) wait(ctx workflow.Context) error {
	w := r.beginWait(ctx)
	for !w.ended() {
		if err := workflow.Await(ctx, w.interrupted); err != nil {
			return err // canceled, and the timer with it
		}
		r.receiveSignals(ctx)
	}
	// The timer decides, not a second reading of the clock.
	r.timerFired = w.due && w.timer.IsReady()
	w.cancel()
	return nil
}

// nextTimer returns the duration of the next timer, whether the next try is due when it
// fires, and its summary. Without a next try there is a timer too: its summary shows
// what the workflow waits for.
func (r *reconciler) nextTimer(ctx workflow.Context) (duration time.Duration, due bool, summary string) {
	switch {
	case r.state.pauseBlocks():
		return longWait, false, "paused: waiting for resume"
	case r.state.Retry.NextTry.IsZero():
		return longWait, false, summarize(r.state.Retry.Reason)
	}
	remaining := r.state.Retry.NextTry.Sub(workflow.Now(ctx))
	return min(remaining, longWait), remaining <= longWait, summarize(r.state.Retry.Reason)
}

// awaitOrTimer blocks until the condition holds or a timer with a summary fires. It
// cancels the timer when the condition wins; workflow.AwaitWithTimeout would let it fire.
func awaitOrTimer(ctx workflow.Context, timeout time.Duration, summary string, condition func() bool) error {
	if condition() {
		return nil
	}
	timer, cancel := startTimer(ctx, timeout, summary)
	defer cancel()
	return workflow.Await(ctx, func() bool { return condition() || timer.IsReady() })
}

func startTimer(ctx workflow.Context, duration time.Duration, summary string) (workflow.Future, workflow.CancelFunc) {
	timerCtx, cancel := workflow.WithCancel(ctx)
	return workflow.NewTimerWithOptions(timerCtx, duration, workflow.TimerOptions{Summary: summary}), cancel
}
