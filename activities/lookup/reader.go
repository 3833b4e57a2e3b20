package lookup

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

// Timeout bounds all reads of one local activity: the workflow handles no message
// while it runs.
const Timeout = 3 * time.Second

// maxChanges bounds the changes that a reader keeps, in resources and lists.
const maxChanges = 2000

// Reader reads owners and references through a cache, so that many children of
// one owner cost one GET per owner, worker and maximum age. It implements
// extensions.Resolver.
type Reader struct {
	client   *arm.Client
	masker   *secrets.Masker
	maxAge   time.Duration
	now      func() time.Time
	requests singleflight.Group
	versions *apiVersions
	offers   *cache[map[string]arm.Offer]
	settings *cache[map[string]string]
	readings *readings
	// lists are readings of lists.
	lists *readings

	// long has the readings of GetWithin that may be older than maxAge; nil in itself.
	long *Reader

	mu sync.Mutex
	// changes are the newest known changes, by the key of a resource or a list.
	changes map[string]change
	// announced is when this worker last announced a resource as free, by ID key.
	announced map[string]time.Time
}

// change is a change of a resource: at is its time by the clock of the workflow
// that noticed it, notedAt the time by this worker's clock when the reader first
// received it. Only times of one clock are compared with each other.
type change struct{ at, notedAt time.Time }

// New returns an empty reader. Readings expire after maxAge.
func New(client *arm.Client, masker *secrets.Masker, maxAge time.Duration, now func() time.Time) *Reader {
	r := newReader(client, masker, maxAge, now)
	r.long = newReader(client, masker, maxStatedAge, now)
	return r
}

func newReader(client *arm.Client, masker *secrets.Masker, maxAge time.Duration, now func() time.Time) *Reader {
	return &Reader{
		client: client, masker: masker, maxAge: maxAge, now: now,
		versions: newAPIVersions(client, now), offers: newCache[map[string]arm.Offer](maxOffersAge, now), settings: newCache[map[string]string](maxSettingsAge, now),
		readings: newReadings(maxReadings, maxAge, now), lists: newReadings(maxLists, maxAge, now),
		changes: map[string]change{}, announced: map[string]time.Time{},
	}
}

// Read returns a reading that is neither older than the maximum age, nor from
// before notBefore or the last noted change. Without an api-version it reads with
// the newest one of the type; the object carries it. The credential comes from the
// context.
func (r *Reader) Read(ctx context.Context, id resource.ID, apiVersion string, notBefore time.Time) Reading {
	// First, also before the caches: resources that share a connection may differ in what
	// they may read with it.
	if _, err := r.client.For(ctx, id); err != nil {
		return Reading{Err: err, at: r.now()}
	}
	if apiVersion == "" {
		var err error
		if apiVersion, err = r.APIVersion(ctx, id); err != nil {
			return Reading{Err: err, at: r.now()}
		}
	}
	v := variant{apiVersion: apiVersion, credential: r.client.ConnectionName(ctx, id)}
	return r.withFreshness(r.cached(ctx, wanted{r.readings, id.Key(), id.String(), v, notBefore}, func(ctx context.Context) Reading { return r.get(ctx, id, v) }))
}

// wanted is a reading that a caller wants, by its key; name is for errors.
type wanted struct {
	in        *readings
	key, name string
	variant   variant
	notBefore time.Time
}

// cached returns a reading that is neither from before notBefore nor from before the last
// noted change of its key: the cached one, that of a request in flight, or that of get.
func (r *Reader) cached(ctx context.Context, w wanted, get func(context.Context) Reading) Reading {
	w.notBefore = r.lastChange(w.key, w.notBefore)
	if got, ok := w.in.get(w.key, w.variant, w.notBefore); ok {
		return got
	}
	call := fmt.Sprintf("%s?%s?%s?%d", w.key, w.variant.apiVersion, w.variant.credential, w.variant.max)
	got := r.share(ctx, call, w.name, func(ctx context.Context) Reading {
		// A request may have ended since the cache was consulted above.
		if got, ok := w.in.get(w.key, w.variant, w.notBefore); ok {
			return got
		}
		return get(ctx)
	})
	// A request that was in flight before the change is too old. The second one
	// joined here started after this call did, so it is new enough even where
	// clocks differ.
	for try := 0; try < 2 && got.at.Before(w.notBefore) && ctx.Err() == nil; try++ {
		got = r.share(ctx, "fresh "+call, w.name, get)
	}
	return got
}

// NoteChange invalidates the readings of a resource, and of lists with it, that this worker
// took before it learned of the change. Later calls with the same change do nothing, so
// children that are notified later share the reading of the first one.
func (r *Reader) NoteChange(id resource.ID, at time.Time) {
	r.noteChange(id.Key(), at)
	r.noteChange(listKey(id), at)
}

func (r *Reader) noteChange(key string, at time.Time) {
	if r.long != nil {
		r.long.noteChange(key, at)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, ok := r.changes[key]; ok && !at.After(known.at) {
		return
	}
	if len(r.changes) >= maxChanges {
		// No reading from before these is cached any more.
		maps.DeleteFunc(r.changes, func(_ string, c change) bool { return r.now().Sub(c.notedAt) > r.maxAge })
	}
	r.changes[key] = change{at: at, notedAt: r.now()}
}

// NoteRequest invalidates the readings of a resource from before a user requested a pass, at a
// time of the server; the zero time is no request. A reading from after it is shared, also
// one in flight: the resources of one apply have the same owner.
func (r *Reader) NoteRequest(id resource.ID, at time.Time) { r.noteRequest(r.readings, id.Key(), at) }

func (r *Reader) noteRequest(in *readings, key string, at time.Time) {
	// No reading from before the last change counts anyway.
	if at.IsZero() || !r.lastChange(key, time.Time{}).Before(at) || in.allSince(key, at) {
		return
	}
	r.noteChange(key, at)
}

// LastChange returns when this worker, by its clock, was last notified of a change of a
// resource; the zero time where it was not.
func (r *Reader) LastChange(id resource.ID) time.Time { return r.lastChange(id.Key(), time.Time{}) }

// ShouldAnnounceFree reports whether this worker should announce that a resource
// blocks nothing any more, at most once per maximum age. Thousands may wait for the
// resource, and each of their tries finds the same until the wake reaches them.
func (r *Reader) ShouldAnnounceFree(id resource.ID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	maps.DeleteFunc(r.announced, func(_ string, last time.Time) bool { return now.Sub(last) >= r.maxAge })
	if _, recent := r.announced[id.Key()]; recent {
		return false
	}
	r.announced[id.Key()] = now
	return true
}

// lastChange returns the later of notBefore and the time of the last noted change.
func (r *Reader) lastChange(key string, notBefore time.Time) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	if notedAt := r.changes[key].notedAt; notedAt.After(notBefore) {
		return notedAt
	}
	return notBefore
}

// share joins the request in flight for the call, or makes one. Its errors have name.
func (r *Reader) share(ctx context.Context, call, name string, get func(context.Context) Reading) Reading {
	done := r.requests.DoChan(call, func() (any, error) {
		// Detached: a caller that gives up must not cancel the others' request.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), Timeout)
		defer cancel()
		return get(ctx), nil
	})
	select {
	case result := <-done:
		got, _ := result.Val.(Reading)
		return got
	case <-ctx.Done():
		return Reading{Err: fmt.Errorf("read %s: %w", name, ctx.Err()), at: r.now()}
	}
}

// get makes the request. It caches objects, absences and refusals, not transient
// errors.
func (r *Reader) get(ctx context.Context, id resource.ID, v variant) Reading {
	started := r.now()
	response, err := r.client.Get(ctx, id, v.apiVersion)
	got := Reading{Object: &resource.Object{ID: id, APIVersion: v.apiVersion}, at: started, requested: true}
	switch {
	case arm.IsAbsent(err):
	case err != nil:
		got.Err = err
	default:
		body, err := resource.DecodeBody(response.Body)
		got.Err = err
		if err == nil {
			got.Object.Observed = r.masker.Mask(id.Type(), body, nil)
		}
	}
	if got.Err == nil || isRefusal(got.Err) {
		r.readings.put(id.Key(), v, got)
	}
	return got
}

// withFreshness returns a copy with the age of the reading in its object.
func (r *Reader) withFreshness(got Reading) Reading {
	if got.Object == nil {
		return got
	}
	object := *got.Object
	object.Freshness = r.freshness(got)
	got.Object = &object
	return got
}

// freshness returns the age of a reading as a text.
func (r *Reader) freshness(got Reading) string {
	if age := r.now().Sub(got.at).Round(time.Second); age > 0 {
		return "read " + text.Duration(age) + " ago"
	}
	return "read now"
}

// Resolve implements extensions.Resolver.
func (r *Reader) Resolve(ctx context.Context, reference resource.Reference) (extensions.Resolution, error) {
	got := r.Read(ctx, reference.ID, reference.APIVersion, time.Time{})
	return got.Resolution(), got.Err
}

// Cache takes over what a step of this worker just read of a resource that a check
// has read before: its children need no GET. Other resources are not cached.
func (r *Reader) Cache(ctx context.Context, id resource.ID, apiVersion string, observed map[string]any, at time.Time) {
	r.readings.refresh(id, variant{apiVersion: apiVersion, credential: r.client.ConnectionName(ctx, id)}, observed, at)
}

// Drop invalidates all readings of a resource that was just written, and of lists with it,
// including a read in flight: its children would wait on a state from before the write.
func (r *Reader) Drop(ctx context.Context, id resource.ID, apiVersion string) {
	if r.long != nil {
		r.long.Drop(ctx, id, apiVersion)
	}
	r.readings.invalidate(id.Key(), variant{apiVersion: apiVersion, credential: r.client.ConnectionName(ctx, id)})
	r.noteChange(listKey(id), r.now())
}

// UntilExpiry returns the time until the oldest reading of some resources expires,
// and 0 while all of them are fresh. A resource blocked by an older reading would
// otherwise wait a whole period for something that may have ended before.
func (r *Reader) UntilExpiry(ids []resource.ID) time.Duration { return r.readings.untilExpiry(ids) }
