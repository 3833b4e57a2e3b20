package activities

import (
	"context"
	"fmt"
	"log/slog"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/armature-io/armature/activities/lookup"
	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/resource"
)

var _ extensionhost.Lister = (*stepReader)(nil)

// stepReader is how the links of one step see other resources. It keeps what was read, because
// the verdict states its age.
type stepReader struct {
	// id is the resource under reconciliation.
	id      resource.ID
	client  *arm.Client
	lookup  *lookup.Reader
	managed *managedStates
	etags   *ignoredETags
	log     *slog.Logger
	// readSince is the time before which no reading of another resource counts.
	readSince time.Time

	mu   sync.Mutex
	seen []sighting
	// writes are what the links wrote, as texts.
	writes []string
}

// sighting is one resource that a link read, or a list of resources.
type sighting struct {
	// id is the resource, or the parent of the list.
	id        resource.ID
	freshness string
	// untilExpiry is set for a reading that the cache of owners and references does not have.
	untilExpiry time.Duration
	// collection is the name of a list, "" for a resource, and items are its resources but the
	// one under reconciliation.
	collection string
	items      []resource.ID
}

// isAbout reports whether a sighting is about one of some resources.
func (s sighting) isAbout(ids []resource.ID) bool {
	among := func(id resource.ID) bool { return slices.ContainsFunc(ids, id.Equal) }
	if len(s.items) > 0 {
		return slices.ContainsFunc(s.items, among)
	}
	return among(s.id)
}

func (s sighting) String() string {
	if s.collection != "" {
		return fmt.Sprintf("%s of %s %s", path.Base(s.collection), s.id.Short(), s.freshness)
	}
	return s.id.Short() + " " + s.freshness
}

// readerOf returns the reader of a request that requestWithoutBody made.
func readerOf(request extensionhost.Request) *stepReader {
	reader, _ := request.Resolver.(*stepReader)
	return reader
}

// Resolve reads a resource through the cache, with its Ready condition where Armature
// manages it.
func (s *stepReader) Resolve(ctx context.Context, reference resource.Reference) (extensions.Resolution, error) {
	s.lookup.NoteRequest(reference.ID, s.readSince)
	got := s.lookup.Read(ctx, reference.ID, reference.APIVersion, time.Time{})
	resolution := got.Resolution()
	if got.Err == nil {
		s.note(sighting{id: reference.ID, freshness: got.Object.Freshness})
	}
	if resolution.Found {
		s.managed.addTo(ctx, resolution.Object, s.readSince)
		resolution.Managed = resolution.Object.Managed
	}
	return resolution, got.Err
}

// List implements extensionhost.Lister.
func (s *stepReader) List(ctx context.Context, list extensionhost.List) (extensionhost.Listing, error) {
	got, age, err := s.lookup.List(ctx, list, s.readSince)
	if err != nil {
		return got, err
	}
	seen := sighting{id: list.Parent, freshness: age.Text, untilExpiry: age.UntilExpiry, collection: list.Collection()}
	for _, item := range got.Resources {
		if !item.ID.Equal(s.id) {
			seen.items = append(seen.items, item.ID)
		}
	}
	s.note(seen)
	return got, nil
}

// maxNamedWrites bounds the writes in a verdict.
const maxNamedWrites = 5

// withWrites returns a verdict that names what the links of the step wrote.
func (s *stepReader) withWrites(verdict resource.Verdict) resource.Verdict {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.writes) == 0 {
		return verdict
	}
	named := strings.Join(s.writes[:min(len(s.writes), maxNamedWrites)], ", ")
	if more := len(s.writes) - maxNamedWrites; more > 0 {
		named += fmt.Sprintf(" and %d more", more)
	}
	verdict.Message = strings.TrimPrefix(verdict.Message+"; an extension sent "+named, "; ")
	return verdict
}

// wrote reports whether a link of the step wrote.
func (s *stepReader) wrote() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.writes) > 0
}

// ages returns the ages of what the links of the step read. The reader may be nil.
func (s *stepReader) ages() string {
	if s == nil {
		return ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var ages []string
	for _, one := range s.seen {
		ages = append(ages, one.String())
	}
	return strings.Join(ages, ", ")
}

func (s *stepReader) note(one sighting) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.seen, func(known sighting) bool { return known.id.Equal(one.id) && known.collection == one.collection })
	if i < 0 {
		s.seen = append(s.seen, one)
		return
	}
	s.seen[i] = one
}

// maxNamedSightings bounds the resources in the text of an age.
const maxNamedSightings = 3

// withAge returns a verdict that stops with the age of what the links read, and with the
// time at which the oldest reading expires: the check is repeated then, not after the wait
// of its class. An owner counts where the links saw it.
func (s *stepReader) withAge(verdict resource.Verdict, owner *resource.Object) resource.Verdict {
	s.mu.Lock()
	seen := slices.Clone(s.seen)
	s.mu.Unlock()
	if !verdict.Stops() || verdict.Class == resource.RetryNone {
		return verdict
	}
	if extensionhost.NamesAll(verdict) {
		seen = slices.DeleteFunc(seen, func(one sighting) bool { return !one.isAbout(verdict.WaitingFor) })
	}
	if owner != nil && owner.Freshness != "" && !slices.ContainsFunc(seen, func(known sighting) bool { return known.id.Equal(owner.ID) && known.collection == "" }) {
		seen = append(seen, sighting{id: owner.ID, freshness: owner.Freshness})
	}
	ids := slices.Clone(verdict.WaitingFor)
	var ages []string
	within := time.Duration(0)
	for i, one := range seen {
		if one.collection == "" {
			ids = append(ids, one.id)
		}
		within = sooner(within, one.untilExpiry)
		if i < maxNamedSightings {
			ages = append(ages, one.String())
		}
	}
	if verdict.Freshness == "" {
		verdict.Freshness = strings.Join(ages, ", ")
	}
	verdict.RetryWithin = sooner(verdict.RetryWithin, sooner(within, s.lookup.UntilExpiry(ids)))
	return verdict
}

// sooner returns the shorter of two waits, of which 0 is none.
func sooner(a, b time.Duration) time.Duration {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

// withAge is stepReader.withAge for a check that gets the owner, too. The owner counts if the
// verdict waits for it, or is that of a link in Go, which may have looked at it; a resource
// group has no state that many ask for, and the defaults look at the resource alone.
func withAge(request extensionhost.Request, verdict resource.Verdict) resource.Verdict {
	owner := request.Owner
	rests := func() bool {
		return verdict.Origin != "" && !extensionhost.NamesAll(verdict) || slices.ContainsFunc(verdict.WaitingFor, owner.ID.Equal)
	}
	if owner == nil || owner.ID.IsContainer() || owner.Freshness == freshReading || !rests() {
		owner = nil
	}
	return readerOf(request).withAge(verdict, owner)
}

// freshReading is the age of what was read for the verdict.
const freshReading = "read now"
