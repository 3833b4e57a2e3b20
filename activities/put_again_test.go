package activities

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/resource"
)

// later makes the next run a second attempt, after one that recorded the details.
func (w *world) later(details putProgress) {
	w.t.Helper()
	raw, err := json.Marshal(details)
	must(w.t, err)
	w.attempt, w.details = 1, raw
}

func TestPutResourceSecondAttempt(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason   string
		observed string
		message  string
		done     bool
		requests []string
	}{
		"InFlight": {
			reason: "an operation in flight is Armature's own: joined, not repeated", observed: `{"location":"westus2","properties":{"size":0,"provisioningState":"Creating"}}`,
			message: "joined the operation in flight (Creating)", requests: []string{"GET t1"},
		},
		"InSync": {
			reason: "the PUT had arrived and is done", observed: thingBody, message: "in sync meanwhile", done: true, requests: []string{"GET t1"},
		},
		"EndedBadly": {
			reason: "the PUT had arrived and failed: whether to PUT again is the next pass's decision", observed: `{"location":"westus2","properties":{"size":0,"provisioningState":"Failed"}}`,
			message: "ended meanwhile: Failed", done: true, requests: []string{"GET t1"},
		},
		"StillDifferent": {
			reason: "the PUT had not arrived", observed: `{"location":"westus2","properties":{"size":7}}`,
			message: "ARM accepted the PUT", done: true, requests: []string{"GET t1", "PUT t1"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, in := putWorld(t)
			if c.observed != "" {
				w.put(thingText, c.observed)
			}
			w.later(putProgress{})
			got, err := run(w, w.acts.PutResource, in)
			must(t, err)
			want(t, got.Verdict, resource.ActionProceed, "", "", c.message)
			if got.Done != c.done || !got.Sent || got.Token != "" || got.RetryAfter != 0 {
				t.Errorf("%s: got %+v", c.reason, got)
			}
			if diff := cmp.Diff(c.requests, w.requests()); diff != "" {
				t.Errorf("%s: requests (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

// An absent resource after a PUT of unknown outcome is read for the whole window
// before it counts as absent: ARM's reads may lag.
func TestPutResourceRereadsAbsence(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(*world, *PutResourceInput){
		"SecondAttempt": func(w *world, _ *PutResourceInput) { w.later(putProgress{}) },
		"ResetRun":      func(_ *world, in *PutResourceInput) { in.MaySent = true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, in := putWorld(t)
			prepare(w, &in)
			start := w.now()
			got, failures := finish(w, w.acts.PutResource, in)
			if got.Verdict.Stops() || !got.Sent || w.puts(thingText) != 1 {
				t.Errorf("got %+v, %d PUTs", got, w.puts(thingText))
			}
			if took := w.now().Sub(start); took != 20*time.Second || len(failures) != 4 {
				t.Errorf("the second PUT came after %s and %d reads", took, len(failures))
			}
			for _, failure := range failures {
				if failure.Type() != ErrorNotYet {
					t.Errorf("error %v", failure)
				}
			}
		})
	}
}

// A worker that dies after the absence counted may have sent another PUT: the wait
// starts over.
func TestPutResourceWaitsAgainAfterAnotherLoss(t *testing.T) {
	t.Parallel()
	w, in := putWorld(t)
	w.later(putProgress{})
	for w.attempt < 5 {
		_, err := run(w, w.acts.PutResource, in)
		w.advance(applicationError(t, err).NextRetryDelay())
	}
	w.attempt++ // the attempt that sends, and dies
	start := w.now()
	finish(w, w.acts.PutResource, in)
	if took := w.now().Sub(start); took != 20*time.Second || w.puts(thingText) != 1 {
		t.Errorf("the next PUT came after %s; %d PUTs", took, w.puts(thingText))
	}
}

func TestPutResourceLostResponse(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		setup  func(*setup)
		fault  armsim.Fault
		puts   int
	}{
		"Reset": {reason: "the PUT had arrived, its response was lost", fault: armsim.Fault{Reset: true, Applied: true, Count: 1}, puts: 1},
		"GatewayTimeout": {
			reason: "a 504 leaves the outcome unknown", fault: armsim.Fault{Status: 504, Applied: true, Count: 1}, puts: 1,
		},
		"ResetOfLongOne": {
			reason: "the operation is joined by reading", setup: long(armsim.OperationSpec{Shape: armsim.ShapeAsync, Seconds: 600}),
			fault: armsim.Fault{Reset: true, Applied: true, Count: 1}, puts: 1,
		},
		"ReadsLag": {
			reason: "a 404 right after the PUT does not count", setup: func(s *setup) { s.sim.ReadAfterWrite = 12 * time.Second },
			fault: armsim.Fault{Reset: true, Applied: true, Count: 1}, puts: 1,
		},
		"NeverArrived": {reason: "while the resource is absent after the window, the PUT is sent again", fault: armsim.Fault{Reset: true, Count: 1}, puts: 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.setup == nil {
				c.setup = func(*setup) {}
			}
			w, in := putWorld(t, c.setup)
			c.fault.Method = http.MethodPut
			w.sim.AddFault(c.fault)
			got, failures := finish(w, w.acts.PutResource, in)
			if got.Verdict.Stops() || !got.Sent || len(failures) == 0 {
				t.Errorf("%s: got %+v after %v", c.reason, got, failures)
			}
			if n := w.puts(thingText); n != c.puts {
				t.Errorf("%s: ARM accepted %d PUTs, want %d", c.reason, n, c.puts)
			}
		})
	}
}

func TestPutResourceUnknownOutcome(t *testing.T) {
	t.Parallel()
	w, in := putWorld(t)
	w.sim.AddFault(armsim.Fault{Method: http.MethodPut, Reset: true, Applied: true, Count: 1})
	w.sim.AddFault(armsim.Fault{Method: http.MethodGet, Reset: true})
	got, failures := finish(w, w.acts.PutResource, in)
	want(t, got.Verdict, resource.ActionError, resource.ReasonArmUnreachable, resource.RetrySlow)
	if !got.Unknown || len(failures) != maxTransientErrors-1 {
		t.Errorf("got %+v after %v: the next pass must know that a PUT may be in progress", got, failures)
	}
	w, in = putWorld(t)
	w.later(putProgress{})
	w.sim.AddFault(armsim.Fault{Method: http.MethodGet, Status: 409, Code: "Conflict"})
	if got, err := run(w, w.acts.PutResource, in); err != nil || !got.Unknown {
		t.Errorf("got %+v, %v: a refused read does not show the outcome of the PUT before", got, err)
	}
	w, in = putWorld(t)
	in.ObservedAt = time.Time{}
	w.sim.AddFault(armsim.Fault{Method: http.MethodGet, Reset: true})
	if got, _ := finish(w, w.acts.PutResource, in); got.Unknown {
		t.Errorf("got %+v: no PUT was ever sent", got)
	}
}

// A worker that stops sends no PUT, and the next worker knows that.
func TestPutResourceWorkerStopping(t *testing.T) {
	t.Parallel()
	w, in := putWorld(t)
	close(w.stop)
	_, err := run(w, w.acts.PutResource, in)
	if failure := applicationError(t, err); failure.Type() != errorStopping || len(w.requests()) != 0 {
		t.Errorf("error %v, requests %v", err, w.requests())
	}
	w.stop = make(chan struct{})
	got, err := run(w, w.acts.PutResource, in)
	must(t, err)
	if diff := cmp.Diff([]string{"PUT t1"}, w.requests()); diff != "" || !got.Done {
		t.Errorf("the next worker made (-want +got):\n%s", diff)
	}
}

// A refused connection carries no PUT: neither the next attempt nor the next pass
// treats the outcome as unknown.
func TestPutResourceConnectionRefused(t *testing.T) {
	t.Parallel()
	w, in := putWorld(t)
	w.server.Close()
	got, failures := finish(w, w.acts.PutResource, in)
	want(t, got.Verdict, resource.ActionError, resource.ReasonArmUnreachable, resource.RetrySlow, "ARM cannot be reached", "refused")
	if got.Unknown {
		t.Errorf("got %+v: nothing was ever sent", got)
	}
	wantDelays(t, "a few attempts", failures, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second})
}

func TestPutResourceForce(t *testing.T) {
	t.Parallel()
	w, in := putWorld(t)
	w.put(thingText, `{"location":"westus2","properties":{"size":7,"provisioningState":"Updating"}}`)
	in.Force, in.ObservedAt = true, time.Time{}
	_, err := run(w, w.acts.PutResource, in)
	must(t, err)
	if diff := cmp.Diff([]string{"GET t1", "PUT t1"}, w.requests()); diff != "" {
		t.Errorf("a forced PUT is sent (-want +got):\n%s", diff)
	}
	w.sim.ResetCounters()
	w.later(putProgress{})
	got, err := run(w, w.acts.PutResource, in)
	must(t, err)
	if diff := cmp.Diff([]string{"GET t1"}, w.requests()); diff != "" || !strings.Contains(got.Verdict.Message, "joined") {
		t.Errorf("a forced PUT was repeated (-want +got):\n%s", diff)
	}
}
