package activities

import (
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/resource"
)

// TestGuardOlderReads: a read after a PUT counts neither while it shows the values from before
// the PUT, nor while it shows the operation that ended; after RereadWindow it counts.
//
//guard:reads-after-a-put
func TestGuardOlderReads(t *testing.T) {
	t.Parallel()
	const before, after = `{"location":"westus2","properties":{"size":1}}`, `{"location":"westus2","properties":{"size":2}}`
	cases := map[string]struct {
		reason      string
		lag         time.Duration
		first, last string
		later       bool
		message     string
	}{
		"values of before":     {reason: "a replica lags", lag: 12 * time.Second, later: true, message: "properties.size"},
		"kept by Azure":        {reason: "after the window the values count", lag: time.Hour, message: "properties.size"},
		"operation in flight":  {reason: "the state lags behind the operation", first: "Updating", last: "Succeeded", later: true, message: "still Updating"},
		"in flight, much more": {reason: "after the window the state counts", first: "Updating", last: "Updating", message: "still Updating"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(s *setup) { s.sim.ReadAfterWrite = c.lag })
			w.put(groupText, `{"location":"westus2"}`)
			w.put(thingText, before)
			w.advance(2 * time.Hour)
			put, _ := finish(w, w.acts.PutResource, PutResourceInput{Desired: desired(t, thingText, after), ObservedAt: w.now()})
			if !put.Sent || put.Replaced == nil {
				t.Fatalf("PUT: sent %t, replaced %+v, %s", put.Sent, put.Replaced, put.Verdict.Message)
			}
			show := func(state string) {
				if state != "" {
					w.sim.Patch(thingText, map[string]any{"properties": map[string]any{"provisioningState": state}})
				}
			}
			show(c.first)
			in := GetResourceInput{Target: resource.Target{ID: id(t, thingText), APIVersion: "2023-08-15"}, Expect: ExpectPresent, Replaced: put.Replaced}
			_, err := run(w, w.acts.GetResource, in)
			if failure := applicationError(t, err); failure.Type() != ErrorNotYet || !strings.Contains(failure.Error(), c.message) {
				t.Errorf("%s: the first read ends with %v", c.reason, failure)
			}
			w.advance(15 * time.Second)
			show(c.last)
			got, _ := finish(w, w.acts.GetResource, in)
			if current := strings.Contains(string(got.Observed), `"size":2`) && got.InFlight == ""; !got.Exists || current != c.later {
				t.Errorf("%s: got %s, in flight %q", c.reason, got.Observed, got.InFlight)
			}
		})
	}
}
