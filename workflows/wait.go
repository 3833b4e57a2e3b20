package workflows

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/resource"
	"go.temporal.io/sdk/workflow"
)

// The retry classes in time.
const (
	fastCap     = 30 * time.Second
	slowCap     = 3 * time.Minute
	firstRetry  = time.Second
	verySlowMin = time.Hour
	// firstTimer bounds the first wait for a resource: what it became while the
	// search attribute was on its way woke nobody here.
	firstTimer = 2 * time.Second
	// jitterPart is the largest part by which a wait is longer or shorter.
	jitterPart = 0.25
	// longestTimer keeps sleepers in touch with new worker versions, and a
	// jittered hour is one timer.
	longestTimer = 90 * time.Minute
	// firstResyncMin is the least time to the first resync, which is spread
	// over the whole interval.
	firstResyncMin = time.Minute
)

// wait blocks until the next try is due or a message arrives. A wake that brings
// nothing new does not end the wait.
func (r *reconciler) wait(ctx workflow.Context) error {
	if r.state.holds() {
		r.setPhase(ctx, PhasePaused, resource.ReasonPaused)
		r.state.Told.Ready = false // dependents wait while it is paused; the pass after a resume wakes them
	}
	handled := r.messages
	duration, due, summary := r.nextTimer(ctx)
	timer, cancel := startTimer(ctx, duration, summary)
	defer cancel()
	ended := func() bool { return r.messages != handled || timer.IsReady() }
	for !ended() {
		if err := workflow.Await(ctx, func() bool { return ended() || r.wakes.Len() > 0 }); err != nil {
			return err
		}
		r.takeWakes(ctx)
	}
	// The timer decides, not the clock: a replay must reach the same conclusion.
	r.elapsed = due && r.messages == handled
	return nil
}

// nextTimer is the length of the next timer, whether the next try is due when it
// fires, and what it says. Without a next try there is a timer all the same: it
// says what is waited for, and when it fires, run looks for a new worker version.
func (r *reconciler) nextTimer(ctx workflow.Context) (most time.Duration, try bool, summary string) {
	if paused := r.state.holds(); paused || r.state.NextTry.IsZero() {
		return longestTimer, false, text.Cut(r.waitingFor(paused), maxSummaryRunes)
	}
	remaining := r.state.NextTry.Sub(workflow.Now(ctx))
	return min(remaining, longestTimer), remaining <= longestTimer, text.Cut(r.state.Waiting, maxSummaryRunes)
}

// waitingFor is what a wait without a next try waits for.
func (r *reconciler) waitingFor(paused bool) string {
	if paused {
		return "paused: waits for resume"
	}
	return r.state.Waiting
}

// sleep races a named timer against a condition, and cancels the timer when the
// condition wins: workflow.AwaitWithTimeout would leave it to fire for nothing.
func sleep(ctx workflow.Context, most time.Duration, summary string, until func() bool) error {
	if until() {
		return nil
	}
	timer, cancel := startTimer(ctx, most, summary)
	defer cancel()
	return workflow.Await(ctx, func() bool { return until() || timer.IsReady() })
}

func startTimer(ctx workflow.Context, most time.Duration, summary string) (workflow.Future, workflow.CancelFunc) {
	timerCtx, cancel := workflow.WithCancel(ctx)
	return workflow.NewTimerWithOptions(timerCtx, most, workflow.TimerOptions{Summary: summary}), cancel
}

// backoff is the wait after a pass that did not end Ready: exponential within
// the class, with jitter, never less than ARM asked for. Zero means: wait for a
// message.
func (r *reconciler) backoff(class resource.RetryClass, least time.Duration) time.Duration {
	var wait time.Duration
	switch class {
	case resource.RetryNone:
		return 0
	case resource.RetryVerySlow:
		wait = max(r.state.Desired.Interval, verySlowMin)
		if r.state.Desired.Policy == resource.PolicyObserve && r.state.Desired.Interval > 0 {
			wait = r.state.Desired.Interval // a report costs one GET
		}
	case resource.RetryFast:
		wait = exponential(r.state.Attempts, fastCap)
	default:
		wait = exponential(r.state.Attempts, slowCap)
	}
	return max(r.jitter(wait), least)
}

// resync is the wait after a pass that ended Ready. The first one is spread
// over the whole interval, so that a mass apply does not come back at once.
func (r *reconciler) resync() time.Duration {
	interval := r.state.Desired.Interval
	if interval == 0 {
		return 0
	}
	if r.state.Syncs == 1 {
		return max(time.Duration(r.fraction()*float64(interval)), min(firstResyncMin, interval))
	}
	return r.jitter(interval)
}

// exponential is 1 s, 2 s, 4 s, ... up to the cap.
func exponential(attempts int, most time.Duration) time.Duration {
	wait := firstRetry
	for range attempts {
		if wait *= 2; wait >= most {
			return most
		}
	}
	return wait
}

// jitter lengthens or shortens a wait by at most a quarter.
func (r *reconciler) jitter(wait time.Duration) time.Duration {
	return time.Duration(float64(wait) * (1 - jitterPart + 2*jitterPart*r.fraction()))
}

// fraction is in [0, 1), the same at every replay: a hash of the workflow ID
// and the number of the pass.
func (r *reconciler) fraction() float64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", r.state.Desired.ID.WorkflowID(), r.state.Pass))
	return float64(binary.BigEndian.Uint64(sum[:8])>>11) / (1 << 53)
}
