package activities

import (
	"errors"
	"sync"
	"time"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

const (
	// readingsKept bounds the readings, in resources.
	readingsKept = 2000
	// refusalKept is how long a refusal is kept: who mended it and asks for a
	// pass must not be answered from before.
	refusalKept = 2 * time.Second
	// freshFor is how old a reading may be and still count as made for a verdict.
	freshFor = 2 * time.Second
)

// reading is one answer: an object (without Observed when absent), or an error.
type reading struct {
	object *resource.Object
	err    error
	at     time.Time
	// asked is set when a check wanted to know the resource.
	asked bool
	// written marks a resource of which only readings from later are kept.
	written bool
}

// mark is what stays of a reading that does not count any more.
func (got reading) mark(at time.Time) reading {
	return reading{at: at, asked: got.asked, written: true}
}

// resolution is the reading as an answer to a reference.
func (got reading) resolution() extensions.Resolution {
	if got.err != nil || !got.object.Exists() {
		return extensions.Resolution{}
	}
	return extensions.Resolution{Found: true, Object: got.object, Ready: got.object.Ready()}
}

// readAs is how a resource was read: what one credential may read is not told to
// another one.
type readAs struct{ apiVersion, credential string }

// readings are the last answers by resource, each of use for maxAge. What is
// older is dropped, so that a worker holds the bodies of what was asked for of
// late and no others.
type readings struct {
	maxAge time.Duration
	now    func() time.Time

	mu    sync.Mutex
	known map[string]map[readAs]reading
	// dropped is when the old ones were dropped last.
	dropped time.Time
}

func newReadings(maxAge time.Duration, now func() time.Time) *readings {
	return &readings{maxAge: maxAge, now: now, known: map[string]map[readAs]reading{}, dropped: now()}
}

// cached is the reading that is kept, if it is new enough.
func (r *readings) cached(id resource.ID, as readAs, after time.Time) (reading, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	got, ok := r.known[id.Key()][as]
	return got, ok && !got.written && r.now().Sub(got.at) < r.lifetime(got) && !got.at.Before(after)
}

// expires is when the oldest of the readings of some resources is no longer kept,
// from now; 0 when all of them are fresh. Who blocks on one that is not would
// otherwise wait for a whole period on what may have been over before.
func (r *readings) expires(ids []resource.ID) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	var oldest time.Duration
	for _, id := range ids {
		for _, got := range r.known[id.Key()] {
			if !got.written {
				oldest = max(oldest, r.now().Sub(got.at))
			}
		}
	}
	if oldest < freshFor || oldest >= r.maxAge {
		return 0
	}
	return r.maxAge - oldest + time.Second
}

// lifetime is how long a reading is kept: a refused one for want of budget no
// longer than ARM asked for.
func (r *readings) lifetime(got reading) time.Duration {
	var failure *arm.Error
	if errors.As(got.err, &failure) && failure.RetryAfter > 0 {
		return min(failure.RetryAfter, r.maxAge)
	}
	if got.err != nil {
		return min(refusalKept, r.maxAge)
	}
	return r.maxAge
}

// keep takes a reading, unless a newer one is known.
func (r *readings) keep(id resource.ID, as readAs, got reading) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.set(id, as, got)
}

func (r *readings) set(id resource.ID, as readAs, got reading) {
	r.drop()
	of, known := r.known[id.Key()]
	if of[as].at.After(got.at) {
		return
	}
	if !known {
		r.makeRoom()
		of = map[readAs]reading{}
		r.known[id.Key()] = of
	}
	of[as] = got
}

// drop leaves a mark of what is too old to count.
func (r *readings) drop() {
	now := r.now()
	if now.Sub(r.dropped) < r.maxAge {
		return
	}
	r.dropped = now
	for _, of := range r.known {
		for as, got := range of {
			if now.Sub(got.at) >= r.maxAge {
				of[as] = got.mark(got.at)
			}
		}
	}
}

// makeRoom drops what is too old, and half of all where that is not enough.
func (r *readings) makeRoom() {
	if len(r.known) < readingsKept {
		return
	}
	for key, of := range r.known {
		old := true
		for _, got := range of {
			old = old && r.now().Sub(got.at) >= r.maxAge
		}
		if old || len(r.known) >= readingsKept/2 {
			delete(r.known, key)
		}
	}
}

// learn takes over what a step of this worker just saw of a resource that some
// check asked for: the children need no GET to know it.
func (r *readings) learn(id resource.ID, as readAs, observed map[string]any, at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if old := r.known[id.Key()][as]; old.asked && at.After(old.at) {
		r.set(id, as, reading{object: &resource.Object{ID: id, APIVersion: as.apiVersion, Observed: observed}, at: at, asked: true})
	}
}

// forget drops what is known of a resource that was just written: its children
// would wait on an answer from before. The next of them reads it. A mark stays,
// so that a read that is on its way now is not kept either.
func (r *readings) forget(id resource.ID, as readAs) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	r.set(id, as, r.known[id.Key()][as].mark(now))
	for as, got := range r.known[id.Key()] {
		r.known[id.Key()][as] = got.mark(now)
	}
}
