package activities

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/resource"
)

// cached is the reading that is kept, if it is new enough.
func (r *ownerReader) cached(key string, after time.Time) (reading, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	got, ok := r.known[key]
	return got, ok && !got.written && r.now().Sub(got.at) < r.lifetime(got) && !got.at.Before(after)
}

// freshFor is how old a reading may be and still count as made for a verdict.
const freshFor = 2 * time.Second

// expires is when the oldest of the readings of some resources is no longer kept,
// from now; 0 when all of them are fresh. Who blocks on one that is not would
// otherwise wait for a whole period on what may have been over before.
func (r *ownerReader) expires(ids []resource.ID) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	var oldest time.Duration
	for _, id := range ids {
		for key, got := range r.known {
			if strings.HasPrefix(key, id.Key()+"?") && !got.written {
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
func (r *ownerReader) lifetime(got reading) time.Duration {
	var failure *arm.Error
	if errors.As(got.err, &failure) && failure.RetryAfter > 0 {
		return min(failure.RetryAfter, r.maxAge)
	}
	if got.err != nil {
		return min(refusalKept, r.maxAge)
	}
	return r.maxAge
}

func (r *ownerReader) keep(key string, got reading) {
	r.mu.Lock()
	defer r.mu.Unlock()
	old, known := r.known[key]
	if known && old.at.After(got.at) {
		return
	}
	if !known && len(r.known) >= ownersKept {
		for old, entry := range r.known {
			if len(r.known) >= ownersKept/2 || r.now().Sub(entry.at) >= r.maxAge {
				delete(r.known, old)
			}
		}
	}
	r.known[key] = got
}

// learn takes over what a step of this worker just saw of a resource that is
// somebody's owner: the children need no GET to know it.
func (r *ownerReader) learn(ctx context.Context, id resource.ID, apiVersion string, observed map[string]any, at time.Time) {
	key := readingKey(ctx, id, apiVersion)
	r.mu.Lock()
	old, wanted := r.known[key]
	r.mu.Unlock()
	if wanted && at.After(old.at) {
		r.keep(key, reading{object: &resource.Object{ID: id, APIVersion: apiVersion, Observed: observed}, at: at})
	}
}

// forget drops what is known of a resource that was just written: its children
// would wait on an answer from before. The next of them reads it. A mark stays,
// so that a read that is on its way now is not kept either.
func (r *ownerReader) forget(ctx context.Context, id resource.ID, apiVersion string) {
	mark := reading{at: r.now(), written: true}
	r.mu.Lock()
	defer r.mu.Unlock()
	for key := range r.known {
		if strings.HasPrefix(key, id.Key()+"?") {
			r.known[key] = mark
		}
	}
	r.known[readingKey(ctx, id, apiVersion)] = mark
}

// dated is a copy that says how fresh it is.
func (r *ownerReader) dated(got reading) reading {
	if got.object == nil {
		return got
	}
	object := *got.object
	object.Freshness = "read now"
	if age := r.now().Sub(got.at).Round(time.Second); age > 0 {
		object.Freshness = fmt.Sprintf("read %s ago", age)
	}
	got.object = &object
	return got
}
