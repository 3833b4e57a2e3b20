package activities

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/armature-io/armature/resource"
)

// woken returns the changes of which the world was notified.
func (w *world) woken() []Change {
	w.fleet.mu.Lock()
	defer w.fleet.mu.Unlock()
	return slices.Clone(w.fleet.woken)
}

// In a bubble of fake time: both sweeps come by themselves, the second with a later time,
// which a workflow that the first one woke too early does not know.
func TestWakeLater(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := WakeDependentsInput{ID: id(t, clusterText), State: "Ready", At: w.now()}
	synctest.Test(t, func(t *testing.T) {
		if _, err := w.acts.WakeLater(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		w.advance(sweepInterval)
		for wait, sweeps := range map[time.Duration]int{laterSweep - 1: 0} {
			<-time.After(wait)
			synctest.Wait()
			if woken := w.woken(); len(woken) != sweeps {
				t.Errorf("%d sweeps after %s, want %d", len(woken), wait, sweeps)
			}
		}
		<-time.After(sweepInterval)
		synctest.Wait()
		if woken := w.woken(); len(woken) != 2 || !woken[0].At.Equal(in.At) || !woken[1].At.After(in.At) || woken[1].State != "Ready" {
			t.Errorf("sweeps %+v, want two, the second with a later time", woken)
		}
		if len(w.acts.later.pending) != 0 {
			t.Errorf("%d calls are left", len(w.acts.later.pending))
		}
	})
}

// A worker that stops makes its sweeps at once, and waits for them.
func TestFinishWakes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 3 {
		if _, err := w.acts.WakeLater(t.Context(), WakeDependentsInput{ID: id(t, clusterText), State: "Ready", At: w.now()}); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	before := time.Now()
	FinishWakes(ctx, w.acts)
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.fleet.woken) != 6 || time.Since(before) > laterSweep {
		t.Errorf("%d sweeps in %s, want 6 at once", len(w.fleet.woken), time.Since(before))
	}
}

func TestWakeLaterFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fleet.err = errors.New("visibility is away")
	if _, err := w.acts.WakeLater(t.Context(), WakeDependentsInput{ID: id(t, clusterText), State: "Ready", At: w.now()}); err != nil {
		t.Fatal(err)
	}
	FinishWakes(t.Context(), w.acts)
	w.mu.Lock()
	defer w.mu.Unlock()
	if text := w.log.String(); !strings.Contains(text, "their own next try") || !strings.Contains(text, "visibility is away") {
		t.Errorf("log %q, want the failure and what follows", text)
	}
}

// TestFindWaiters checks when an operation reports that nothing waits for its resource.
func TestFindWaiters(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reason  string
		id      string
		ask     bool
		awaited bool
		err     error
		want    bool
	}{
		"nothing waits":   {reason: "a list has none", id: clusterText, ask: true, want: true},
		"something waits": {reason: "it is to be notified", id: clusterText, ask: true, awaited: true},
		"no list":         {reason: "an error is no answer", id: clusterText, ask: true, err: errors.New("away")},
		"not asked":       {reason: "a run of an older order notifies by an activity", id: clusterText},
		"leaf":            {reason: "nothing ever waits for it, and the workflow knows", id: leafText, ask: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.fleet.awaited, w.fleet.err = c.awaited, c.err
			unawaited := w.acts.findWaiters(t.Context(), PollOperationInput{Target: resource.Target{ID: id(t, c.id)}, Waiters: c.ask})
			got := unawaited()
			for deadline := time.Now().Add(5 * time.Second); c.want && !got && time.Now().Before(deadline); got = unawaited() {
				<-time.After(time.Millisecond)
			}
			if got != c.want {
				t.Errorf("%s: %t, want %t", c.reason, got, c.want)
			}
		})
	}
}

// A list that is older than a short operation does not count.
func TestFindWaitersOfLongOperations(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	synctest.Test(t, func(t *testing.T) {
		ask := func() func() bool {
			unawaited := w.acts.findWaiters(t.Context(), PollOperationInput{Target: resource.Target{ID: id(t, clusterText)}, Waiters: true})
			synctest.Wait()
			return unawaited
		}
		soon, late := ask(), ask()
		<-time.After(maxWaitersAge)
		if !soon() {
			t.Error("a list of this operation does not count")
		}
		<-time.After(time.Second)
		if late() {
			t.Error("a list from the beginning of a long operation counts")
		}
	})
}
