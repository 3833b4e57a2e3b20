package lookup

import (
	"errors"
	"sync"
	"time"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/resource"
)

const (
	// maxReadings bounds the cache, in resources, and maxLists that of lists.
	maxReadings = 2000
	maxLists    = 100
	// maxRefusalAge is how long a refusal is cached: after a fix of its cause, a
	// requested pass must not get the old one.
	maxRefusalAge = 2 * time.Second
	// maxFreshAge is how old a reading may be and still count as made for a verdict.
	maxFreshAge = 2 * time.Second
)

// Reading is the result of one GET: an object (without Observed when the resource
// is absent), or an error.
type Reading struct {
	Object *resource.Object
	Err    error

	// listing is that of a list, which has no Object.
	listing extensionhost.Listing
	at      time.Time
	// requested is set once a check has read the resource.
	requested bool
	// tombstone marks a reading that does not count any more. It keeps at and
	// requested, so that an older read in flight is not cached.
	tombstone bool
}

func (got Reading) toTombstone(at time.Time) Reading {
	return Reading{at: at, requested: got.requested, tombstone: true}
}

// Resolution returns the reading as the resolution of a reference.
func (got Reading) Resolution() extensions.Resolution {
	if got.Err != nil || !got.Object.Exists() {
		return extensions.Resolution{}
	}
	return extensions.Resolution{Found: true, Object: got.Object, Ready: got.Object.Ready()}
}

// isRefusal reports whether ARM returned an error that is not transient.
func isRefusal(err error) bool {
	failure, ok := errors.AsType[*arm.Error](err)
	return ok && !failure.Transient()
}

// variant is how a resource was read. Readings are not shared between credentials,
// which may have different rights.
type variant struct {
	apiVersion, credential string
	// max is that of a list.
	max int
}

// readings are the last readings by the key of a resource or of a list, at most max keys. Each
// counts for maxAge; the bodies of older ones are dropped.
type readings struct {
	max    int
	maxAge time.Duration
	now    func() time.Time

	mu    sync.Mutex
	known map[string]map[variant]Reading
	// sweptAt is the time of the last sweep.
	sweptAt time.Time
}

func newReadings(most int, maxAge time.Duration, now func() time.Time) *readings {
	return &readings{max: most, maxAge: maxAge, now: now, known: map[string]map[variant]Reading{}, sweptAt: now()}
}

// get returns the cached reading if it is new enough.
func (r *readings) get(key string, v variant, notBefore time.Time) (Reading, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	got, ok := r.known[key][v]
	return got, ok && !got.tombstone && r.now().Sub(got.at) < r.lifetime(got) && !got.at.Before(notBefore)
}

// allSince reports whether there are readings of a resource that count, and none of them is
// from before a time.
func (r *readings) allSince(key string, at time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	found := false
	for _, got := range r.known[key] {
		if got.tombstone {
			continue
		}
		if got.at.Before(at) {
			return false
		}
		found = true
	}
	return found
}

func (r *readings) untilExpiry(ids []resource.ID) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	var oldest time.Duration
	for _, id := range ids {
		for _, got := range r.known[id.Key()] {
			if !got.tombstone {
				oldest = max(oldest, r.now().Sub(got.at))
			}
		}
	}
	return r.expiryAt(oldest)
}

// expiryAt returns the time until a reading of an age expires, and 0 for a fresh one.
func (r *readings) expiryAt(age time.Duration) time.Duration {
	if age < maxFreshAge || age >= r.maxAge {
		return 0
	}
	return r.maxAge - age + time.Second
}

// lifetime returns how long a reading counts; a throttled one no longer than ARM's
// Retry-After.
func (r *readings) lifetime(got Reading) time.Duration {
	if failure, ok := errors.AsType[*arm.Error](got.Err); ok && failure.RetryAfter > 0 {
		return min(failure.RetryAfter, r.maxAge)
	}
	if got.Err != nil {
		return min(maxRefusalAge, r.maxAge)
	}
	return r.maxAge
}

// put caches a reading, unless a newer one is known.
func (r *readings) put(key string, v variant, got Reading) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.set(key, v, got)
}

func (r *readings) set(key string, v variant, got Reading) {
	r.sweep()
	variants, known := r.known[key]
	if variants[v].at.After(got.at) {
		return
	}
	if !known {
		r.evict()
		variants = map[variant]Reading{}
		r.known[key] = variants
	}
	variants[v] = got
}

// sweep replaces expired readings by tombstones, once per maxAge.
func (r *readings) sweep() {
	now := r.now()
	if now.Sub(r.sweptAt) < r.maxAge {
		return
	}
	r.sweptAt = now
	for _, variants := range r.known {
		for v, got := range variants {
			if now.Sub(got.at) >= r.maxAge {
				variants[v] = got.toTombstone(got.at)
			}
		}
	}
}

// evict drops expired readings from a full cache, and half of all where that is
// not enough.
func (r *readings) evict() {
	if len(r.known) < r.max {
		return
	}
	for key, variants := range r.known {
		expired := true
		for _, got := range variants {
			expired = expired && r.now().Sub(got.at) >= r.maxAge
		}
		if expired || len(r.known) >= r.max/2 {
			delete(r.known, key)
		}
	}
}

// refresh caches what was observed if a check has read the resource before.
func (r *readings) refresh(id resource.ID, v variant, observed map[string]any, at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if old := r.known[id.Key()][v]; old.requested && at.After(old.at) {
		r.set(id.Key(), v, Reading{Object: &resource.Object{ID: id, APIVersion: v.apiVersion, Observed: observed}, at: at, requested: true})
	}
}

// invalidate replaces all readings of a resource by tombstones, and leaves one for
// the variant of the writer.
func (r *readings) invalidate(key string, writer variant) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	r.set(key, writer, r.known[key][writer].toTombstone(now))
	for v, got := range r.known[key] {
		r.known[key][v] = got.toTombstone(now)
	}
}
