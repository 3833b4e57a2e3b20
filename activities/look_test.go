package activities

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/resource"
)

// look runs GetResource as a local activity, and returns the type of its error, "" for none.
func (w *world) look(in GetResourceInput) string {
	w.t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(quiet{})
	env := suite.NewTestActivityEnvironment()
	env.SetTestTimeout(5 * time.Second)
	_, err := env.ExecuteLocalActivity(w.acts.GetResource, in)
	if err == nil {
		return ""
	}
	failure, ok := errors.AsType[*temporal.ApplicationError](err)
	if !ok {
		w.t.Fatalf("error of a look: %v", err)
	}
	return failure.Type()
}

// TestLookBounds fills the bounds of looks: the eighth of one subscription, then the quarter of
// all. A deferred look sends nothing.
func TestLookBounds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(s *setup) { s.options.WorkflowSlots = 16 })
	must(t, w.sim.Put(groupText, map[string]any{"location": "westus2"}))
	in := GetResourceInput{Target: resource.Target{ID: id(t, thingText), APIVersion: "2023-08-15"}}
	other := func(subscription int) resource.ID {
		return id(t, fmt.Sprintf("/subscriptions/22222222-2222-2222-2222-%012d/resourceGroups/rg1", subscription))
	}
	steps := []struct {
		begin resource.ID
		want  string
	}{
		{want: ""},
		{begin: in.ID, want: ""},
		{begin: in.ID, want: LookDeferred},
	}
	var ends []func()
	for i, step := range steps {
		if !step.begin.IsZero() {
			ends = append(ends, w.acts.looks.begin(step.begin))
		}
		before := len(w.sim.Requests())
		if got := w.look(in); got != step.want {
			t.Errorf("step %d: error %q, want %q", i+1, got, step.want)
		}
		if sent := len(w.sim.Requests()) - before; (sent == 0) != (step.want == LookDeferred) {
			t.Errorf("step %d: %d requests", i+1, sent)
		}
	}
	third, fourth := w.acts.looks.begin(other(1)), w.acts.looks.begin(other(2))
	if third == nil || fourth == nil || w.acts.looks.begin(other(3)) != nil {
		t.Error("four of 16 slots are for looks: want a third and a fourth, and no fifth")
	}
	for _, end := range append(ends, third, fourth) {
		end()
	}
	if got := w.look(in); got != "" || w.acts.looks.running != 0 || len(w.acts.looks.each) != 0 {
		t.Errorf("after all have ended: error %q, %d running, %v", got, w.acts.looks.running, w.acts.looks.each)
	}
}

// TestLookWithoutTokens checks that a look waits for no request budget, and does not turn a used
// up one into a verdict.
func TestLookWithoutTokens(t *testing.T) {
	t.Parallel()
	var w *world
	w = newWorld(t, func(s *setup) {
		s.client = func(o *arm.Options) {
			o.Throttle = arm.NewThrottle(arm.ThrottleOptions{Clock: func() time.Time { return w.now() }})
		}
	})
	in := GetResourceInput{Target: resource.Target{ID: id(t, thingText), APIVersion: "2023-08-15"}}
	w.sim.AddFault(armsim.Fault{Status: 429, Code: "SubscriptionRequestsThrottled", Headers: map[string]string{"Retry-After": "300"}, Count: 1})
	if got, err := run(w, w.acts.GetResource, in); err != nil || !got.Verdict.Stops() {
		t.Fatalf("a throttled read: %+v %v", got.Verdict, err)
	}
	if got := w.look(in); got != LookDeferred {
		t.Errorf("a look without tokens: error %q, want %s", got, LookDeferred)
	}
	if sent := len(w.sim.Requests()); sent != 1 {
		t.Errorf("%d requests, want the throttled one", sent)
	}
}

// TestUnsuitedLook checks that a resource whose body is large, or whose read was slow, is not
// looked at until an ordinary read shows that it is small and fast.
func TestUnsuitedLook(t *testing.T) {
	t.Parallel()
	var w *world
	slow := false
	w = newWorld(t, func(s *setup) {
		s.handler = func(h http.Handler) http.Handler {
			return http.HandlerFunc(func(out http.ResponseWriter, request *http.Request) {
				if slow {
					w.advance(maxLookTime)
				}
				h.ServeHTTP(out, request)
			})
		}
	})
	body := func(size int) map[string]any {
		return map[string]any{"location": "westus2", "properties": map[string]any{"note": strings.Repeat("x", size)}}
	}
	must(t, w.sim.Put(groupText, map[string]any{"location": "westus2"}))
	must(t, w.sim.Put(thingText, body(maxLookBytes)))
	in := GetResourceInput{Target: resource.Target{ID: id(t, thingText), APIVersion: "2023-08-15"}}
	for i, step := range []struct {
		change func()
		want   string
		sends  bool
	}{
		{func() {}, LookDeferred, true},
		{func() {}, LookDeferred, false},
		{func() { must(t, w.sim.Put(thingText, body(1))) }, LookDeferred, false},
		{func() { mustRun(w, in) }, "", true},
		{func() { slow = true }, "", true},
		{func() { slow = false }, LookDeferred, false},
		{func() { mustRun(w, in) }, "", true},
	} {
		step.change()
		before := len(w.sim.Requests())
		if got := w.look(in); got != step.want {
			t.Errorf("step %d: error %q, want %q", i+1, got, step.want)
		}
		if sent := len(w.sim.Requests()) > before; sent != step.sends {
			t.Errorf("step %d: a request was sent: %t, want %t", i+1, sent, step.sends)
		}
	}
}

// mustRun reads the resource by an ordinary activity.
func mustRun(w *world, in GetResourceInput) {
	w.t.Helper()
	_, err := run(w, w.acts.GetResource, in)
	must(w.t, err)
}
