package activities

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/resource"
)

// TestGetWithin counts the requests of reads with a stated age.
func TestGetWithin(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(netText, `{"properties":{"size":1,"adminPassword":"`+planted+`"}}`)
	spec := desired(t, childText, thingBody)
	var since time.Time
	get := func(maxAge time.Duration) (arm.Response, error) {
		request := w.acts.requestWithoutBody(spec, PassFacts{Mandate: Mandate{RequestedAt: since}})
		return request.Client.GetWithin(t.Context(), id(t, netText), "2023-08-15", maxAge)
	}
	steps := []struct {
		reason   string
		after    time.Duration
		maxAge   time.Duration
		requests int
	}{
		{"the first one reads", 0, time.Minute, 1},
		{"the same age", 20 * time.Second, time.Minute, 1},
		{"an older reading than a reader of 10 s accepts", 0, 10 * time.Second, 2},
		{"40 s, beyond the age of owners", 20 * time.Second, time.Minute, 2},
		{"expired", 30 * time.Second, time.Minute, 3},
		{"ten minutes", 9 * time.Minute, 10 * time.Minute, 3},
		{"no age is a read", 0, 0, 4},
	}
	for _, s := range steps {
		w.advance(s.after)
		got, err := get(s.maxAge)
		if err != nil || len(w.requests()) != s.requests || !strings.Contains(string(got.Body), `"size":1`) {
			t.Fatalf("%s: %d requests, want %d; %s %v", s.reason, len(w.requests()), s.requests, got.Body, err)
		}
		if strings.Contains(string(got.Body), planted) || !json.Valid(got.Body) {
			t.Errorf("a secret is in what is cached: %s", got.Body)
		}
	}
	w.advance(time.Minute)
	since = w.now()
	_, _ = get(time.Hour)
	_, _ = get(time.Hour)
	if n := len(w.requests()); n != 5 {
		t.Errorf("a user requested the pass: %d requests, want one more", n-4)
	}
	w.advance(time.Second)
	w.acts.noteChanges([]Change{{ID: id(t, netText), State: "written", At: w.now()}})
	if _, _ = get(time.Hour); len(w.requests()) != 6 {
		t.Error("a reading from before a change is used")
	}
	w.sim.Delete(netText)
	if _, err := get(0); !arm.IsAbsent(err) {
		t.Errorf("an absent resource: %v, want what Get returns", err)
	}
}

// TestGetWithinShowsItsAge checks that a verdict names the age of such a reading, and is
// repeated when it is too old.
func TestGetWithinShowsItsAge(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(netText, thingBody)
	for range 2 {
		request := w.acts.requestWithoutBody(desired(t, childText, thingBody), PassFacts{})
		_, err := request.Client.GetWithin(t.Context(), id(t, netText), "2023-08-15", time.Minute)
		must(t, err)
		got := readerOf(request).withAge(resource.Block(resource.ReasonReconciliationBlocked, "busy"), nil)
		if want := "n1 read 50s ago"; w.now().Second() == 50 && (got.Freshness != want || got.RetryWithin != 11*time.Second) {
			t.Errorf("%q within %s, want %q within 11s", got.Freshness, got.RetryWithin, want)
		}
		w.advance(50 * time.Second)
	}
}
