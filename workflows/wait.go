package workflows

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"

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

// wait sleeps until the next try or a message, in named timers. Whoever sleeps
// keeps the frames from the SDK's to here on its stack, and Go halves a stack to
// 4 KiB only while less than 1,248 bytes of it are in use, of which the SDK's frames
// take 900 when Direct calls the workflow: so what the wait needs lives in a struct
// of its own, and its parts are functions of their own.
func (r *reconciler) wait(ctx workflow.Context) error {
	s := r.fallAsleep(ctx)
	for s.goesOn(ctx) {
		s.woke(ctx, workflow.Await(ctx, s.stirs))
	}
	return s.end()
}

// sleeper is one wait of the loop.
type sleeper struct {
	r      *reconciler
	timer  workflow.Future
	cancel workflow.CancelFunc
	// stirs reports whether there is something to look at.
	stirs func() bool
	// packed is set while the state was packed when the wait went on.
	packed bool
	// try is set when the next try is due when the timer fires.
	try bool
	// seen are the messages before the wait.
	seen int64
	// err ended the wait: the run was canceled.
	err error
}

func (r *reconciler) fallAsleep(ctx workflow.Context) *sleeper {
	if r.state.holds() {
		r.setPhase(ctx, PhasePaused, resource.ReasonPaused)
		r.state.Told.Ready = false // dependsOn waits while it is paused: the resume wakes
	}
	s := &sleeper{r: r, seen: r.messages}
	most, try, summary := r.nextTimer(ctx)
	s.try = try
	s.timer, s.cancel = startTimer(ctx, most, summary)
	s.stirs = s.stirred
	return s
}

// goesOn packs the state, unless the wait is over.
//
//go:noinline
func (s *sleeper) goesOn(ctx workflow.Context) bool {
	if s.err != nil || s.over() {
		return false
	}
	s.packed = s.r.pack(ctx)
	return true
}

// woke unpacks the state and takes the wakes: one that says nothing new does not
// end the wait.
//
//go:noinline
func (s *sleeper) woke(ctx workflow.Context, err error) {
	s.err = err
	s.r.unpack()
	s.r.takeWakes(ctx)
}

// end says whether the next try is due. The timer decides, not a second look at the
// clock.
func (s *sleeper) end() error {
	s.cancel()
	s.r.elapsed = s.err == nil && s.try && !s.moved()
	return s.err
}

// moved reports whether a message came.
func (s *sleeper) moved() bool { return s.r.messages != s.seen }

// over reports whether the wait is.
func (s *sleeper) over() bool { return s.moved() || s.timer.IsReady() }

// stirred reports whether there is something to look at. A message that changed
// nothing leaves the state unpacked.
func (s *sleeper) stirred() bool {
	return s.over() || s.r.wakes.Len() > 0 || s.packed && s.r.state != nil
}

// nextTimer is the length of the next timer, whether the next try is due when it
// fires, and what it says. Without a next try there is a timer all the same: it
// says what is waited for, and when it fires, run looks for a new worker version.
func (r *reconciler) nextTimer(ctx workflow.Context) (most time.Duration, try bool, summary string) {
	if paused := r.state.holds(); paused || r.state.NextTry.IsZero() {
		return longestTimer, false, cut(r.waitingFor(paused))
	}
	remaining := r.state.NextTry.Sub(workflow.Now(ctx))
	return min(remaining, longestTimer), remaining <= longestTimer, cut(r.state.Waiting)
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
