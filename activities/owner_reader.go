package activities

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/secrets"
	"golang.org/x/sync/singleflight"
)

// Bounds of the reads that a local activity makes.
const (
	// readBudget bounds all reads of one check: messages wait meanwhile.
	readBudget = 3 * time.Second
	// changesKept bounds the changes that are remembered, in resources.
	changesKept = 2000
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
	// versions are those of what is read without a stated one.
	versions *apiVersions

	readings *readings

	mu sync.Mutex
	// changes are the newest changes of which this worker was told, by ID key.
	changes map[string]change
	// freed is when a check of this worker last called a resource free, by ID key.
	freed map[string]time.Time
}

// change is a change of which this worker was told: at is its time by the
// workflow that saw it, told when this worker first heard of it by its own
// clock. Only times of one clock are compared with each other.
type change struct{ at, told time.Time }

func newOwnerReader(client *arm.Client, masker *secrets.Masker, maxAge time.Duration, now func() time.Time) *ownerReader {
	return &ownerReader{client: client, masker: masker, maxAge: maxAge, now: now,
		readings: newReadings(maxAge, now), changes: map[string]change{}, freed: map[string]time.Time{}, versions: newAPIVersions(client, now)}
}

// read gives a reading that is neither older than the maximal age nor from
// before after. Without an api-version it takes the newest of the type; the object
// says which.
func (r *ownerReader) read(ctx context.Context, id resource.ID, apiVersion string, after time.Time) reading {
	if apiVersion == "" {
		var err error
		if apiVersion, err = r.versions.of(ctx, id); err != nil {
			return reading{err: err, at: r.now()}
		}
	}
	as := readAs{apiVersion: apiVersion, credential: arm.CredentialName(ctx)}
	key := id.Key() + "?" + as.apiVersion + "?" + as.credential
	after = r.since(id, after)
	if got, ok := r.readings.cached(id, as, after); ok {
		return r.dated(got)
	}
	get := func(ctx context.Context) reading { return r.get(ctx, id, as) }
	got := r.join(ctx, key, id, func(ctx context.Context) reading {
		// Between the look above and here a request may have ended.
		if got, ok := r.readings.cached(id, as, after); ok {
			return got
		}
		return get(ctx)
	})
	// What was on its way before the change is too old. The second request that
	// is waited for started after this call did, so it is new enough, whatever
	// the clocks say.
	for try := 0; try < 2 && got.at.Before(after) && ctx.Err() == nil; try++ {
		got = r.join(ctx, "fresh "+key, id, get)
	}
	return r.dated(got)
}

// heard notes changes. What this worker read before it heard of one does not
// count any more; the children that hear of it later share the reading of the
// first.
func (r *ownerReader) heard(changes []Change) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range changes {
		if known, ok := r.changes[c.ID.Key()]; ok && !c.At.After(known.at) {
			continue
		}
		if len(r.changes) >= changesKept {
			r.forgetChanges()
		}
		r.changes[c.ID.Key()] = change{at: c.At, told: r.now()}
	}
}

// forgetChanges drops those from before which no reading is kept any more.
func (r *ownerReader) forgetChanges() {
	for key, c := range r.changes {
		if r.now().Sub(c.told) > r.maxAge {
			delete(r.changes, key)
		}
	}
}

// firstFree reports whether a resource is to be called free. Thousands may wait for
// it, and each try that comes before all of them are told finds the same: one in a
// while tells enough.
func (r *ownerReader) firstFree(id resource.ID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	if last, known := r.freed[id.Key()]; known && now.Sub(last) < r.maxAge {
		return false
	}
	maps.DeleteFunc(r.freed, func(_ string, last time.Time) bool { return now.Sub(last) >= r.maxAge })
	r.freed[id.Key()] = now
	return true
}

// since is the time from which on a reading counts.
func (r *ownerReader) since(id resource.ID, after time.Time) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	if told := r.changes[id.Key()].told; told.After(after) {
		return told
	}
	return after
}

// join waits for the request that is on its way, or makes one.
func (r *ownerReader) join(ctx context.Context, key string, id resource.ID, get func(context.Context) reading) reading {
	answer := r.group.DoChan(key, func() (any, error) {
		// Detached: a reader that gives up must not take the others along.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readBudget)
		defer cancel()
		return get(ctx), nil
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
func (r *ownerReader) get(ctx context.Context, id resource.ID, as readAs) reading {
	started := r.now()
	response, err := r.client.Get(ctx, id, as.apiVersion)
	got := reading{object: &resource.Object{ID: id, APIVersion: as.apiVersion}, at: started, asked: true}
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
		r.readings.keep(id, as, got)
	}
	return got
}

// dated is a copy that says how fresh it is.
func (r *ownerReader) dated(got reading) reading {
	if got.object == nil {
		return got
	}
	object := *got.object
	object.Freshness = "read now"
	if age := r.now().Sub(got.at).Round(time.Second); age > 0 {
		object.Freshness = "read " + text.Duration(age) + " ago"
	}
	got.object = &object
	return got
}

// Resolve implements extensions.Resolver.
func (r *ownerReader) Resolve(ctx context.Context, reference resource.Reference) (extensions.Resolution, error) {
	got := r.read(ctx, reference.ID, reference.APIVersion, time.Time{})
	return got.resolution(), got.err
}
