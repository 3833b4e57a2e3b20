package activities

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/secrets"
	"golang.org/x/sync/singleflight"
)

// Bounds of the reads that a local activity makes.
const (
	// readBudget bounds all reads of one check: messages wait meanwhile.
	readBudget = 3 * time.Second
	// ownersKept bounds the cache, in resources.
	ownersKept = 2000
)

// ownerReader reads owners and references through a cache, so that many
// children of one owner cost one GET: at most one per owner, worker and maximal
// age. It implements extensions.Resolver.
type ownerReader struct {
	client *arm.Client
	masker *secrets.Masker
	maxAge time.Duration
	now    func() time.Time
	group  singleflight.Group

	mu    sync.Mutex
	known map[string]reading
}

// reading is one answer: an object (without Observed when absent), or an error.
type reading struct {
	object *resource.Object
	err    error
	at     time.Time
}

func newOwnerReader(client *arm.Client, masker *secrets.Masker, maxAge time.Duration, now func() time.Time) *ownerReader {
	return &ownerReader{client: client, masker: masker, maxAge: maxAge, now: now, known: map[string]reading{}}
}

// resolution is the reading as an answer to a reference.
func (got reading) resolution() extensions.Resolution {
	if got.err != nil || !got.object.Exists() {
		return extensions.Resolution{}
	}
	return extensions.Resolution{Found: true, Object: got.object, Ready: got.object.Ready()}
}

// read gives a reading that is neither older than the maximal age nor from
// before after.
func (r *ownerReader) read(ctx context.Context, id resource.ID, apiVersion string, after time.Time) reading {
	key := id.Key() + "?" + apiVersion
	r.mu.Lock()
	got, ok := r.known[key]
	r.mu.Unlock()
	if ok && r.now().Sub(got.at) < r.lifetime(got) && got.at.After(after) {
		return r.dated(got)
	}
	got = r.join(ctx, key, id, apiVersion)
	if got.at.Before(after) && ctx.Err() == nil {
		// The request was on its way before the change. One that starts from
		// here on is new enough, whatever the clocks say.
		got = r.join(ctx, key, id, apiVersion)
	}
	return r.dated(got)
}

// lifetime is how long a reading is kept: a refused one for want of budget no
// longer than ARM asked for.
func (r *ownerReader) lifetime(got reading) time.Duration {
	var failure *arm.Error
	if errors.As(got.err, &failure) && failure.RetryAfter > 0 {
		return min(failure.RetryAfter, r.maxAge)
	}
	return r.maxAge
}

// join waits for the request that is on its way, or makes one.
func (r *ownerReader) join(ctx context.Context, key string, id resource.ID, apiVersion string) reading {
	answer := r.group.DoChan(key, func() (any, error) {
		// Detached: a reader that gives up must not take the others along.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readBudget)
		defer cancel()
		return r.get(ctx, key, id, apiVersion), nil
	})
	select {
	case result := <-answer:
		got, _ := result.Val.(reading)
		return got
	case <-ctx.Done():
		return reading{err: fmt.Errorf("read %s: %w", id, ctx.Err()), at: r.now()}
	}
}

// get makes the request. Answers are kept, also refusals; faults are not.
func (r *ownerReader) get(ctx context.Context, key string, id resource.ID, apiVersion string) reading {
	started := r.now()
	response, err := r.client.Get(ctx, id, apiVersion)
	got := reading{object: &resource.Object{ID: id, APIVersion: apiVersion}, at: started}
	switch {
	case arm.IsAbsent(err):
	case err != nil:
		got.err = err
	default:
		body, err := resource.DecodeBody(response.Body)
		got.err = err
		if err == nil {
			got.object.Observed = r.masker.Mask(body, nil)
		}
	}
	if !isFault(got.err) {
		r.keep(key, got)
	}
	return got
}

func (r *ownerReader) keep(key string, got reading) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.known[key]; !known && len(r.known) >= ownersKept {
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
func (r *ownerReader) learn(id resource.ID, apiVersion string, observed map[string]any, at time.Time) {
	key := id.Key() + "?" + apiVersion
	r.mu.Lock()
	old, wanted := r.known[key]
	r.mu.Unlock()
	if wanted && at.After(old.at) {
		r.keep(key, reading{object: &resource.Object{ID: id, APIVersion: apiVersion, Observed: observed}, at: at})
	}
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

// Resolve implements extensions.Resolver.
func (r *ownerReader) Resolve(ctx context.Context, reference resource.Reference) (extensions.Resolution, error) {
	got := r.read(ctx, reference.ID, reference.APIVersion, time.Time{})
	return got.resolution(), got.err
}

// errNotObserved is the error of a $ref whose path shows nothing.
var errNotObserved = errors.New("not observed")
