package activities

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/resource"
)

// slotWait lets a world wait in the slot, on its own clock; done is the result of a
// wait.
func slotWait(t *testing.T, spec armsim.OperationSpec, done bool) (*world, PollOperationInput, *[]time.Duration) {
	t.Helper()
	var w *world
	var waits []time.Duration
	w, put := putWorld(t, long(spec), func(s *setup) {
		s.options.MaxSlotWait = 0 // the default
		s.options.Pause = func(_ context.Context, delay time.Duration) bool {
			waits = append(waits, delay)
			w.advance(delay)
			return done
		}
	})
	return w, begin(t, w, put), &waits
}

func TestPollWaitsInSlot(t *testing.T) {
	t.Parallel()
	const second = time.Second
	cases := map[string]struct {
		reason string
		after  []float64
		given  func(*world)
		limit  time.Duration
		// waits are made in the slot, delays between attempts.
		waits, delays []time.Duration
	}{
		"seconds": {reason: "some seconds are one attempt", after: []float64{1, 5, 2}, waits: []time.Duration{second, 5 * second, 2 * second}},
		"minutes": {reason: "a longer wait uses no slot", after: []float64{1, 60, 2}, waits: []time.Duration{second, 2 * second}, delays: []time.Duration{60 * second}},
		"error": {
			reason: "a failed attempt shows users why it takes long", after: []float64{1, 1, 1},
			given: func(w *world) { w.sim.AddFault(armsim.Fault{On: "operation", Status: 500, Count: 1}) },
			waits: []time.Duration{second, second, second}, delays: []time.Duration{5 * second},
		},
		"crowded": {
			reason: "the other half of the slots stays available", after: []float64{1, 1, 1},
			given: func(w *world) {
				for range maxSlotWaits {
					w.acts.slotWaits <- struct{}{}
				}
			},
			delays: []time.Duration{second, second, second},
		},
		"late": {
			reason: "the request after the wait would have no time", after: []float64{1, 1, 1}, limit: minRequestTime,
			delays: []time.Duration{second, second, second},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, in, waits := slotWait(t, armsim.OperationSpec{Shape: armsim.ShapeAsync, Polls: 2, RetryAfter: c.after}, true)
			if c.given != nil {
				c.given(w)
			}
			got, failures := finishWithin(w, c.limit, w.acts.PollOperation, in)
			want(t, got.Verdict, resource.ActionSuccess, "", "")
			wantDelays(t, c.reason, failures, c.delays)
			if diff := cmp.Diff(c.waits, *waits); diff != "" {
				t.Errorf("%s: waits in the slot (-want +got):\n%s", c.reason, diff)
			}
			if w.beats != len(c.delays) {
				t.Errorf("%s: %d heartbeats, want one for each failed attempt: %d", c.reason, w.beats, len(c.delays))
			}
			if name != "crowded" && len(w.acts.slotWaits) != 0 {
				t.Errorf("%d slots are still taken", len(w.acts.slotWaits))
			}
		})
	}
}

// TestPollShort checks that a poll returns its progress once the operation outlasts a time, and
// that the next one continues with it: no request is repeated, and the duration counts from the
// start.
func TestPollShort(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reason string
		polls  int
		want   int
	}{
		"short": {reason: "an operation of three seconds ends first", polls: 2},
		"long":  {reason: "after five of seven seconds the poll returns", polls: 6, want: 5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, in, _ := slotWait(t, armsim.OperationSpec{Shape: armsim.ShapeAsync, Polls: c.polls, RetryAfter: []float64{1}}, true)
			in.Short = 5 * time.Second
			got, err := run(w, w.acts.PollOperation, in)
			must(t, err)
			if polls := len(w.requests()); (got.Progress != nil) != (c.want > 0) || c.want > 0 && polls != c.want {
				t.Fatalf("%s: %d polls, %+v", c.reason, polls, got)
			}
			if got.Progress != nil {
				w.fresh()
				in.Short, in.Progress = 0, got.Progress
				w.advance(time.Second)
				got, err = run(w, w.acts.PollOperation, in)
				must(t, err)
			}
			want(t, got.Verdict, resource.ActionSuccess, "", "")
			if got.Polls != c.polls+1 || got.Progress != nil || len(w.requests()) != got.Polls {
				t.Errorf("%s: %+v with %d requests, want each poll once", c.reason, got, len(w.requests()))
			}
		})
	}
}

// TestPollWaitInterrupted checks that a wait that is cut short keeps the progress
// for the next attempt.
func TestPollWaitInterrupted(t *testing.T) {
	t.Parallel()
	w, in, _ := slotWait(t, armsim.OperationSpec{Shape: armsim.ShapeAsync, Polls: 1, RetryAfter: []float64{2}}, false)
	_, err := run(w, w.acts.PollOperation, in)
	if failure := applicationError(t, err); failure.Type() != ErrorNotYet || failure.NextRetryDelay() != 2*time.Second {
		t.Errorf("got %v, want another attempt after ARM's Retry-After", failure)
	}
	if !strings.Contains(string(w.details), `"started"`) {
		t.Errorf("the next attempt gets %s", w.details)
	}
	if n := len(w.requests()); n != 0 {
		t.Errorf("%d polls before ARM's time came", n)
	}
}

func TestPause(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reason         string
		stopped, ended bool
		took           time.Duration
		want           bool
	}{
		"over":    {reason: "the time passed", took: 3 * time.Second, want: true},
		"stopped": {reason: "a worker that stops does not wait", stopped: true},
		"ended":   {reason: "neither does an attempt that has ended", ended: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &world{t: t, stop: make(chan struct{})}
				if c.stopped {
					close(w.stop)
				}
				begun := time.Now()
				got, err := run(w, func(ctx context.Context, delay time.Duration) (bool, error) {
					if c.ended {
						var cancel context.CancelFunc
						ctx, cancel = context.WithCancel(ctx)
						cancel()
					}
					return pause(ctx, delay), nil
				}, 3*time.Second)
				must(t, err)
				if got != c.want || time.Since(begun) != c.took {
					t.Errorf("%s: %t after %s, want %t after %s", c.reason, got, time.Since(begun), c.want, c.took)
				}
			})
		})
	}
}
