package activities

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// In a run that was reset every PUT reads first, because it may have been sent
// before. Otherwise the run is like any other.
func TestPutResourceResetRun(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason   string
		observed string
		done     bool
		requests []string
	}{
		"InSync": {reason: "the PUT was sent before the reset", observed: thingBody, done: true, requests: []string{"GET t1"}},
		"InFlight": {
			reason:   "the operation that was started before the reset is joined",
			observed: `{"location":"westus2","properties":{"size":0,"provisioningState":"Updating"}}`, requests: []string{"GET t1"},
		},
		"Failed": {
			reason:   "a resource that failed is put again, as in every run: else it would stay Failed for the rest of this one",
			observed: `{"location":"westus2","properties":{"size":0,"provisioningState":"Failed"}}`,
			done:     true, requests: []string{"GET t1", "PUT t1"},
		},
		"Different": {
			reason:   "drift is put back",
			observed: `{"location":"westus2","properties":{"size":7}}`, done: true, requests: []string{"GET t1", "PUT t1"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, in := putWorld(t)
			w.put(thingText, c.observed)
			in.MaySent = true
			got, err := run(w, w.acts.PutResource, in)
			must(t, err)
			if got.Done != c.done || got.Verdict.Stops() {
				t.Errorf("%s: got %+v", c.reason, got)
			}
			if diff := cmp.Diff(c.requests, w.requests()); diff != "" {
				t.Errorf("%s: requests (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}
