package activities

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/internal/servertime"
	"github.com/armature-io/armature/resource"
)

// skewed returns the activities of a worker whose clock differs from the server's.
func (w *world) skewed(ahead time.Duration) *Activities {
	options := w.acts.options
	options.Now = func() time.Time { return w.now().Add(ahead) }
	options.Clock = servertime.New(options.Now)
	return New(w.acts.Dependencies, options)
}

// TestClocksOfWorkersDiffer lets two workers take turns with the attempts of a step that
// waits for its window. Their clocks are four hours apart.
//
//guard:clocks
func TestClocksOfWorkersDiffer(t *testing.T) {
	t.Parallel()
	setup := func(s *setup) { s.sim.ReadAfterWrite = 15 * time.Second }
	t.Run("PUT", func(t *testing.T) {
		t.Parallel()
		w, in := putWorld(t, setup)
		ahead, behind := w.skewed(2*time.Hour), w.skewed(-2*time.Hour)
		w.sim.AddFault(armsim.Fault{Method: http.MethodPut, Reset: true, Applied: true, Count: 1})
		put := func(ctx context.Context, in PutResourceInput) (PutResourceResult, error) {
			worker := ahead
			if w.attempt%2 == 0 {
				worker = behind
			}
			return worker.PutResource(ctx, in)
		}
		got, failures := finish(w, put, in)
		if w.puts(thingText) != 1 || got.Verdict.Stops() || len(failures) < 3 {
			t.Errorf("%d PUTs after %v, want one: %+v", w.puts(thingText), failures, got)
		}
	})
	t.Run("GET", func(t *testing.T) {
		t.Parallel()
		w, in := putWorld(t, setup)
		ahead, behind := w.skewed(2*time.Hour), w.skewed(-2*time.Hour)
		must(t, w.sim.Put(thingText, map[string]any{"location": "westus2"}))
		w.sim.AddFault(armsim.Fault{Method: http.MethodGet, Status: 404, Code: "ResourceNotFound", Count: 3})
		get := func(ctx context.Context, in GetResourceInput) (GetResourceResult, error) {
			worker := ahead
			if w.attempt%2 == 0 {
				worker = behind
			}
			return worker.GetResource(ctx, in)
		}
		got, _ := finish(w, get, GetResourceInput{Target: in.Desired.Target(), Expect: ExpectPresent})
		if !got.Exists || got.ReadAt.Sub(w.now()).Abs() > time.Minute {
			t.Errorf("read %+v, want the resource and the server's time: reads lag behind for less than the window", got)
		}
	})
	t.Run("PreCheck", func(t *testing.T) {
		t.Parallel()
		w, in := putWorld(t)
		for _, skew := range []time.Duration{2 * time.Hour, -2 * time.Hour} {
			worker := w.skewed(skew)
			got := local(w, worker.PreCheck, PreCheckInput{Desired: in.Desired, Applied: true, Existed: true, PutAt: w.now().Add(-time.Minute), Now: w.now()})
			if got.Verdict.Reason != resource.ReasonReconciling {
				t.Errorf("clock ahead by %s: %+v, want to wait for the PUT of a minute ago", skew, got.Verdict)
			}
		}
	})
}
