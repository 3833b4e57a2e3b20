package activities

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/resource"
)

const leafText = groupText + "/providers/Microsoft.Network/routeTables/r1/routes/x"

func TestWakeDependents(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason   string
		id       string
		once     bool
		needed   []string
		sweeps   int
		notified int
		woken    int
	}{
		"TwoSweeps":   {reason: "the second sweep finds a workflow that began to wait just before the first", id: clusterText, sweeps: 2, woken: 2},
		"Once":        {reason: "a run that is about to end makes one sweep", id: clusterText, once: true, sweeps: 1, woken: 1},
		"Deleted":     {reason: "the resources that it needed may wait for its deletion", id: clusterText, once: true, needed: []string{groupText, thingText}, sweeps: 1, notified: 2, woken: 3},
		"Leaf":        {reason: "no resource waits for a leaf", id: leafText, once: true},
		"LeafDeleted": {reason: "its owner waits for it while both are deleted", id: leafText, once: true, needed: []string{groupText}, notified: 1, woken: 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			in := WakeDependentsInput{ID: id(t, c.id), State: "Ready", At: w.now(), Once: c.once}
			for _, text := range c.needed {
				in.Needed = append(in.Needed, id(t, text))
			}
			start := w.now()
			got, failures := finish(w, w.acts.WakeDependents, in)
			if len(w.fleet.woken) != c.sweeps || len(w.fleet.notified) != c.notified || got.Woken != c.woken {
				t.Errorf("%s: %d sweeps, %d notified, counted %d; want %d, %d, %d", c.reason, len(w.fleet.woken), len(w.fleet.notified), got.Woken, c.sweeps, c.notified, c.woken)
			}
			for _, change := range w.fleet.woken {
				if !change.At.Equal(start) || change.State != "Ready" || !change.ID.Equal(in.ID) {
					t.Errorf("sent %+v, want the same change at each sweep", change)
				}
			}
			if c.sweeps == 2 && (len(failures) != 1 || failures[0].Type() != ErrorNotYet || failures[0].NextRetryDelay() != 5*time.Second) {
				t.Errorf("between the sweeps: %v, want one benign wait of 5 s", failures)
			}
		})
	}
}

// TestWakeDependentsInSlot checks that both sweeps are one attempt while the worker
// has free slots, without a heartbeat.
func TestWakeDependentsInSlot(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reason string
		passes bool // the wait
		sweeps int  // of the first attempt
	}{
		"room":    {reason: "each attempt costs the server three transactions", passes: true, sweeps: 2},
		"stopped": {reason: "a worker that stops leaves the second sweep to another one", sweeps: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var waited time.Duration
			w := newWorld(t, func(s *setup) {
				s.options.MaxSlotWait = 0 // the default
				s.options.Pause = func(_ context.Context, delay time.Duration) bool {
					waited += delay
					return c.passes
				}
			})
			got, err := run(w, w.acts.WakeDependents, WakeDependentsInput{ID: id(t, clusterText), State: "Ready", At: w.now()})
			if len(w.fleet.woken) != c.sweeps || waited != 5*time.Second {
				t.Fatalf("%s: %d sweeps and a wait of %s, want %d and 5 s", c.reason, len(w.fleet.woken), waited, c.sweeps)
			}
			if c.passes {
				must(t, err)
				if got.Woken != 2 || w.beats != 0 {
					t.Errorf("%s: woke %d with %d heartbeats, want 2 and none", c.reason, got.Woken, w.beats)
				}
				return
			}
			if failure := applicationError(t, err); failure.Type() != ErrorNotYet {
				t.Errorf("%s: %v", c.reason, failure)
			}
			got, err = run(w, w.acts.WakeDependents, WakeDependentsInput{ID: id(t, clusterText), State: "Ready", At: w.now()})
			must(t, err)
			if len(w.fleet.woken) != 2 || got.Woken != 2 {
				t.Errorf("%s: the next attempt made %d sweeps in all, counted %d, want 2", c.reason, len(w.fleet.woken), got.Woken)
			}
		})
	}
}

// TestWakeDependentsErrors checks that an error is retried, less and less often, and
// that the sweep before it is not repeated.
func TestWakeDependentsErrors(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := WakeDependentsInput{ID: id(t, clusterText), State: "Ready", At: w.now(), Needed: []resource.ID{id(t, groupText)}}
	_, err := run(w, w.acts.WakeDependents, in)
	if failure := applicationError(t, err); failure.Type() != ErrorNotYet {
		t.Fatalf("after the first sweep: %v", failure)
	}
	w.fleet.err = errors.New("visibility is away")
	var delays []time.Duration
	for range 6 {
		_, err := run(w, w.acts.WakeDependents, in)
		failure := applicationError(t, err)
		if failure.Type() != errorWake || !strings.Contains(failure.Message(), "c1") {
			t.Errorf("error %q of type %s, want the resource in it", failure.Message(), failure.Type())
		}
		delays = append(delays, failure.NextRetryDelay())
	}
	for i := range delays[1:] {
		if delays[i+1] < delays[i] || delays[i+1] > 16*time.Second {
			t.Errorf("delays %v, want them to grow to 16 s: retries must not add to the load that caused the error", delays)
			break
		}
	}
	w.fleet.err, w.fleet.woken = nil, nil
	if _, err := run(w, w.acts.WakeDependents, in); err != nil || len(w.fleet.woken) != 1 {
		t.Errorf("after the errors: %v, %d more sweeps; want the second sweep only", err, len(w.fleet.woken))
	}
}
