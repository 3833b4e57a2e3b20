package activities

import (
	"context"
	"sync"
	"time"

	"github.com/armature-io/armature/internal/tracing"
	"github.com/armature-io/armature/secrets"
)

const (
	// laterSweep is the time from the end of a pass to the first sweep of WakeLater: the
	// server has recorded the pass by then.
	laterSweep = time.Second
	// maxWaitersAge is the age of a list of waiting workflows that an operation uses: an
	// activity, which survives the worker, notifies those that wait for longer.
	maxWaitersAge = 5 * time.Second
	// laterTimeout bounds a sweep of WakeLater.
	laterTimeout = time.Minute
)

// WakeLaterResult is empty: nothing was woken yet.
type WakeLaterResult struct{}

// WakeLater is WakeDependents for a resource that nothing waited for a moment ago, as a
// local activity: the worker makes the sweeps by itself after the pass. They are for
// workflows that began to wait meanwhile. A worker that is killed within these seconds
// makes none, and such a workflow continues at its own next try.
func (a *Activities) WakeLater(ctx context.Context, in WakeDependentsInput) (WakeLaterResult, error) {
	trace := tracing.ParentOf(ctx)
	a.later.add(laterSweep, func(ctx context.Context) { a.sweepLater(trace.Into(ctx), in) })
	a.later.add(sweepInterval, func(ctx context.Context) {
		// A workflow that the first sweep woke too early, and that still waits, does not
		// know this time.
		second := in
		second.At = a.clock.Now()
		a.sweepLater(trace.Into(ctx), second)
	})
	return WakeLaterResult{}, nil
}

func (a *Activities) sweepLater(ctx context.Context, in WakeDependentsInput) {
	ctx, cancel := context.WithTimeout(ctx, laterTimeout)
	defer cancel()
	if _, err := a.sweep(ctx, in); err != nil {
		a.Log.Warn("cannot notify the resources that wait; they continue at their own next try",
			"resource", in.ID.String(), "error", secrets.Scrub(err.Error(), nil))
	}
}

// FinishWakes makes the sweeps of WakeLater that are still to come, at once. A worker that
// stops calls it after its last activity. It is no method, because those are activities.
func FinishWakes(ctx context.Context, a *Activities) { a.later.finish(ctx) }

// later are calls that are due later; the zero value has none.
type later struct {
	mu      sync.Mutex
	pending map[*laterCall]struct{}
	running sync.WaitGroup
}

type laterCall struct {
	call  func(context.Context)
	timer *time.Timer
}

// add calls call after a delay, or when finish is called before.
func (l *later) add(delay time.Duration, call func(context.Context)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pending == nil {
		l.pending = map[*laterCall]struct{}{}
	}
	c := &laterCall{call: call}
	l.pending[c] = struct{}{}
	c.timer = time.AfterFunc(delay, func() {
		if l.take(c) {
			defer l.running.Done()
			call(context.Background())
		}
	})
}

// take removes a call that is to run now, and returns false where another one did.
func (l *later) take(c *laterCall) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, known := l.pending[c]; !known {
		return false
	}
	delete(l.pending, c)
	l.running.Add(1)
	return true
}

// finish makes all pending calls, and returns when they and those that run have returned or
// ctx is done.
func (l *later) finish(ctx context.Context) {
	l.mu.Lock()
	var calls []*laterCall
	for c := range l.pending {
		calls = append(calls, c)
	}
	l.mu.Unlock()
	for _, c := range calls {
		if c.timer.Stop(); l.take(c) {
			go func() {
				defer l.running.Done()
				c.call(ctx)
			}()
		}
	}
	done := make(chan struct{})
	go func() {
		l.running.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// findWaiters starts to look for workflows that wait for the resource of an operation, and
// returns a function that reports that there are none. While nothing is known it reports
// false.
func (a *Activities) findWaiters(ctx context.Context, in PollOperationInput) func() bool {
	found, asked := make(chan bool, 1), time.Now()
	if in.Waiters && !a.Registry.Leaf(in.ID.Type()) {
		go func() {
			awaited, err := a.Waker.Awaited(ctx, in.ID)
			found <- err == nil && !awaited
		}()
	}
	return func() bool {
		select {
		case unawaited := <-found:
			return unawaited && time.Since(asked) <= maxWaitersAge
		default:
			return false
		}
	}
}
