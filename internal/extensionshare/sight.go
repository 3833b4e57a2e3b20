package extensionshare

import (
	"context"
	"maps"
	"slices"
	"sync"
)

// Sight is what a check looked at, for a trial of it. Its methods do nothing on nil, which is
// the sight of a pass.
type Sight struct {
	mu     sync.Mutex
	values []string
	reads  map[string]any
}

type sightKey struct{}

// WithSight returns the context of a check on trial.
func WithSight(ctx context.Context, sight *Sight) context.Context {
	return context.WithValue(ctx, sightKey{}, sight)
}

// SightOf returns the sight of a check on trial, nil in a pass.
func SightOf(ctx context.Context) *Sight {
	sight, _ := ctx.Value(sightKey{}).(*Sight)
	return sight
}

// IsOn reports whether the check is on trial.
func (s *Sight) IsOn() bool { return s != nil }

// NoteValues notes what a condition compared, with the values.
func (s *Sight) NoteValues(values []string) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.values = append(s.values, values...)
}

// NoteRead notes what the check reads by a name: the masked body of a resource, nil for one that
// is absent, or a list of bodies.
func (s *Sight) NoteRead(name string, read any) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reads == nil {
		s.reads = map[string]any{}
	}
	s.reads[name] = read
}

// Values returns what was compared.
func (s *Sight) Values() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.values)
}

// Reads returns what was read, by name.
func (s *Sight) Reads() map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.reads)
}
