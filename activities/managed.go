package activities

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/armature-io/armature/activities/lookup"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/internal/servertime"
	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/resource"
)

const (
	// maxManagedAge is how long the state of a workflow is cached: the children of one owner
	// ask at the same time, and a wake makes them ask anew.
	maxManagedAge = 5 * time.Second
	// maxManagedStates bounds the cache, in resources.
	maxManagedStates = 2000
)

// managedStates caches what Temporal shows of the workflows of other resources: one
// Describe for each resource, worker and maximum age.
type managedStates struct {
	fleet    Fleet
	lookup   *lookup.Reader
	clock    *servertime.Clock
	requests singleflight.Group

	mu    sync.Mutex
	known map[string]managedState
}

type managedState struct {
	managed Managed
	known   bool
	at      time.Time
}

// of returns the state that Temporal shows of the workflow of a resource, neither from before
// the last change that this worker was notified of, nor from before since.
func (m *managedStates) of(ctx context.Context, id resource.ID, since time.Time) (Managed, bool, error) {
	notBefore := m.lookup.LastChange(id)
	if now := m.clock.Now(); since.After(now) {
		since = now // what is read now was read after the request
	}
	if since.After(notBefore) {
		notBefore = since
	}
	if state, ok := m.get(id, m.clock.Now(), notBefore); ok {
		return state.managed, state.known, nil
	}
	key := id.Key()
	if !notBefore.IsZero() {
		key += " since " + notBefore.String() // a request in flight may be from before
	}
	done := m.requests.DoChan(key, func() (any, error) {
		// Detached: a caller that gives up must not cancel the others' request.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookup.Timeout)
		defer cancel()
		state := managedState{at: m.clock.Now()}
		var err error
		if state.managed, state.known, err = m.fleet.Managed(ctx, id); err != nil {
			return managedState{}, err
		}
		m.put(id, state)
		return state, nil
	})
	select {
	case result := <-done:
		state, _ := result.Val.(managedState)
		return state.managed, state.known, result.Err
	case <-ctx.Done():
		return Managed{}, false, fmt.Errorf("describe workflow of %s: %w", id, ctx.Err())
	}
}

func (m *managedStates) get(id resource.ID, now, notBefore time.Time) (managedState, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	state, ok := m.known[id.Key()]
	return state, ok && now.Sub(state.at) < maxManagedAge && !state.at.Before(notBefore)
}

func (m *managedStates) put(id resource.ID, state managedState) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.known) >= maxManagedStates {
		maps.DeleteFunc(m.known, func(_ string, old managedState) bool { return state.at.Sub(old.at) >= maxManagedAge })
	}
	if m.known == nil || len(m.known) >= maxManagedStates {
		m.known = map[string]managedState{}
	}
	m.known[id.Key()] = state
}

// addTo adds the state of a resource's workflow to an object. The caller must own the object
// exclusively. If Temporal does not return the state, the object is not Ready: a check that
// asks for the Ready condition must not pass because of an outage.
func (m *managedStates) addTo(ctx context.Context, object *resource.Object, since time.Time) {
	managed, known, err := m.of(ctx, object.ID, since)
	switch {
	case err != nil:
		object.Managed = &resource.Managed{Reason: resource.ReasonCheckFailed}
	case known:
		object.Managed = &resource.Managed{Ready: managed.Ready, Reason: managed.Reason, Since: managed.Since}
		object.Labels, object.Policy, object.Generation = maps.Clone(managed.Labels), managed.Policy, managed.Generation
	}
}

// requireReady lets a managed resource count as ready only when its own post-check
// passed: a private endpoint without approval exists, and nothing that depends on it
// works.
func (m *managedStates) requireReady(ctx context.Context, found extensionhost.ResolvedReference, since time.Time) extensionhost.ResolvedReference {
	managed, known, err := m.of(ctx, found.Reference.ID, since)
	switch {
	case err != nil:
		found.Err = err
	case known:
		found.Resolution.Ready, found.Managed = managed.Ready, true
	}
	return found
}

// waitForReadyOwner returns a block while a managed owner is not Ready, where the manifest
// demands it; the given verdict else. An owner that Armature does not manage has no Ready
// condition: its provisioning state was checked.
func (m *managedStates) waitForReadyOwner(ctx context.Context, verdict resource.Verdict, desired resource.Desired, since time.Time) resource.Verdict {
	if verdict.Stops() || desired.WaitFor != resource.WaitForReady || desired.Owner.IsZero() {
		return verdict
	}
	managed, known, err := m.of(ctx, desired.Owner, since)
	switch {
	case err != nil:
		return resource.Fail(resource.ReasonCheckFailed, resource.RetrySlow, fmt.Sprintf(
			"cannot read the Ready condition of the owner %s from Temporal: %v", desired.Owner.Short(), err))
	case !known || managed.Ready:
		return verdict
	}
	message := fmt.Sprintf("Owner %q (%s) is not Ready in Armature", desired.Owner.Short(), desired.Owner.Type())
	if managed.Reason != "" {
		message += fmt.Sprintf(": its reason is %s", managed.Reason)
	}
	if !managed.Since.IsZero() {
		message += ", since " + text.Time(managed.Since)
	}
	block := resource.Block(resource.ReasonWaitingForOwner, message+" (waitFor: ready)")
	block.WaitingFor = []resource.ID{desired.Owner}
	return block
}
