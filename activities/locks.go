package activities

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/armature-io/armature/activities/contents"
	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/resource"
)

// codeScopeLocked is ARM's refusal because of a management lock.
const codeScopeLocked = "ScopeLocked"

// locksAPIVersion is the api-version of management locks.
const locksAPIVersion = "2020-05-01"

// isLock reports whether a management lock refused a request.
func isLock(failure *arm.Error) bool { return strings.EqualFold(failure.Code, codeScopeLocked) }

// Lock is a management lock. Both levels refuse a DELETE.
type Lock struct {
	ID    resource.ID `json:"id"`
	Level string      `json:"level"`
	Notes string      `json:"notes,omitempty"`
}

// String returns the lock for people.
func (l Lock) String() string {
	text := fmt.Sprintf("%q (%s) on %s", l.ID.Name(), l.Level, l.ID.Owner())
	if l.Notes != "" {
		text += fmt.Sprintf(", with the note %q", l.Notes)
	}
	return text
}

// explainLocks names the locks behind a refusal: ARM's message names the scope, but not the
// lock. If the locks may not be read, ARM's message stays.
func explainLocks(ctx context.Context, client *arm.Client, id resource.ID, refusal resource.Verdict) resource.Verdict {
	requests, cancel := requestContext(ctx)
	defer cancel()
	locks, err := locksOf(requests, client, id)
	if err != nil || len(locks) == 0 {
		return refusal
	}
	names := make([]string, len(locks))
	for i, lock := range locks {
		names[i] = lock.String()
		refusal.WaitingFor = append(refusal.WaitingFor, lock.ID)
	}
	refusal.WaitingFor = refusal.WaitingFor[:min(len(locks), maxWaitingFor)]
	refusal.Message = fmt.Sprintf("locked by %s; remove the lock, or keep the resource. ARM says: %s", contents.NameAll(names), refusal.Message)
	return refusal
}

// locksOf returns the management locks at, above and below a resource, by their IDs. A list
// at any scope shows all three; a role at the resource alone may read only its own list.
func locksOf(ctx context.Context, client *arm.Client, id resource.ID) ([]Lock, error) {
	scope := containerOf(id)
	if scope.IsZero() {
		scope = id
	}
	const list = "providers/" + resource.TypeLock
	items, err := client.List(ctx, scope, list, locksAPIVersion, contents.MaxRead)
	if isForbidden(err) && !scope.Equal(id) {
		items, err = client.List(ctx, id, list, locksAPIVersion, contents.MaxRead)
	}
	if err != nil {
		return nil, fmt.Errorf("list the locks at %s: %w", scope, err)
	}
	var locks []Lock
	for _, item := range items {
		var listed struct {
			ID         string `json:"id"`
			Properties struct {
				Level string `json:"level"`
				Notes string `json:"notes"`
			} `json:"properties"`
		}
		if json.Unmarshal(item, &listed) != nil {
			continue
		}
		if lock, err := resource.ParseID(listed.ID); err == nil && touches(lock.Owner(), id) {
			locks = append(locks, Lock{ID: lock, Level: listed.Properties.Level, Notes: listed.Properties.Notes})
		}
	}
	slices.SortFunc(locks, func(a, b Lock) int { return strings.Compare(a.ID.Key(), b.ID.Key()) })
	return locks, nil
}
