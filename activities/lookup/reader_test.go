package lookup

import (
	"fmt"
	"testing"
	"time"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/resource"
)

const group = "/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/g%d"

// clock is a clock that a test advances.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func testReader() (*Reader, *clock) {
	c := &clock{at: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)}
	return New(&arm.Client{}, nil, 30*time.Second, c.now), c
}

func testID(t *testing.T, n int) resource.ID {
	t.Helper()
	id, err := resource.ParseID(fmt.Sprintf(group, n))
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// bodies counts the cached bodies.
func (r *readings) bodies() int {
	n := 0
	for _, variants := range r.known {
		for _, got := range variants {
			if got.Object.Exists() {
				n++
			}
		}
	}
	return n
}

// A worker manages thousands of resources: it must not keep the bodies of those
// that no check reads.
func TestReaderCachesOnlyRequestedResources(t *testing.T) {
	t.Parallel()
	r, c := testReader()
	id := testID(t, 1)
	r.Drop(t.Context(), id, "2023-08-15") // as its PUT does
	c.at = c.at.Add(time.Second)
	r.Cache(t.Context(), id, "2023-08-15", map[string]any{"a": "b"}, c.at)
	if n := r.readings.bodies(); n != 0 {
		t.Errorf("the bodies of %d resources are cached that no check has read", n)
	}
}

func TestReadingsDropExpiredBodies(t *testing.T) {
	t.Parallel()
	r, c := testReader()
	owner, v := testID(t, 1), variant{apiVersion: "2023-08-15", credential: arm.CredentialDefaultName}
	body := map[string]any{"a": "b"}
	r.readings.put(owner.Key(), v, Reading{Object: &resource.Object{Observed: body}, at: c.at, requested: true})
	if n := r.readings.bodies(); n != 1 {
		t.Fatalf("%d bodies are cached, want that of the owner", n)
	}
	c.at = c.at.Add(r.maxAge)
	r.readings.put(testID(t, 2).Key(), v, Reading{Object: &resource.Object{}, at: c.at, requested: true})
	if n := r.readings.bodies(); n != 0 {
		t.Errorf("%d expired bodies are cached", n)
	}
	// Its own pass refreshes it all the same: a check has read it once.
	r.Cache(t.Context(), owner, v.apiVersion, body, c.at)
	if got, ok := r.readings.get(owner.Key(), v, time.Time{}); !ok || !got.Object.Exists() {
		t.Error("the reading of the owner's own pass is not cached")
	}
}

func TestReadingsAreBounded(t *testing.T) {
	t.Parallel()
	r, c := testReader()
	for i := range maxReadings + 10 {
		r.readings.put(testID(t, i).Key(), variant{}, Reading{Object: &resource.Object{}, at: c.at, requested: true})
	}
	if n := len(r.readings.known); n > maxReadings || n < maxReadings/2 {
		t.Errorf("%d readings are cached, want at most %d and no less than half of them", n, maxReadings)
	}
}

// A PUT invalidates all readings, of every credential and api-version.
func TestDropInvalidatesAllVariants(t *testing.T) {
	t.Parallel()
	r, c := testReader()
	id, other := testID(t, 1), variant{apiVersion: "2022-01-01", credential: "readers"}
	r.readings.put(id.Key(), other, Reading{Object: &resource.Object{}, at: c.at, requested: true})
	r.Drop(t.Context(), id, "2024-01-01")
	if _, ok := r.readings.get(id.Key(), other, time.Time{}); ok {
		t.Error("the reading of another credential from before the PUT still counts")
	}
}

func TestChangesAreBounded(t *testing.T) {
	t.Parallel()
	r, c := testReader()
	for i := range 3 * maxChanges {
		r.NoteChange(testID(t, i), c.at)
		c.at = c.at.Add(time.Second)
	}
	if n := len(r.changes); n > maxChanges {
		t.Errorf("%d changes are kept, want at most %d", n, maxChanges)
	}
}

func TestShouldAnnounceFreeKeepsRecentOnly(t *testing.T) {
	t.Parallel()
	r, c := testReader()
	first, second := r.ShouldAnnounceFree(testID(t, 1)), r.ShouldAnnounceFree(testID(t, 1))
	c.at = c.at.Add(r.maxAge + time.Second)
	if third := r.ShouldAnnounceFree(testID(t, 2)); !first || second || !third || len(r.announced) != 1 {
		t.Errorf("announced %t, %t, %t with %d kept, want true, false, true and the last one", first, second, third, len(r.announced))
	}
}

// The resources of one apply ask one after the other while the read of their owner is in
// flight: all of them join it, because it began after their requests less the shared age.
func TestRequestsJoinTheReadInFlight(t *testing.T) {
	t.Parallel()
	r, c := testReader()
	const shared = 2 * time.Second
	id := testID(t, 1)
	r.NoteRequest(id, c.at.Add(-shared))
	first := c.at
	for range 4 {
		c.at = c.at.Add(400 * time.Millisecond)
		r.NoteRequest(id, c.at.Add(-shared))
		if got := r.LastChange(id); !got.Equal(first) {
			t.Fatalf("a request after %s makes the read that began before it too old", c.at.Sub(first))
		}
	}
	c.at = c.at.Add(shared)
	r.NoteRequest(id, c.at.Add(-shared))
	if got := r.LastChange(id); !got.Equal(c.at) {
		t.Errorf("a request after %s shares a read that began before it", c.at.Sub(first))
	}
}
