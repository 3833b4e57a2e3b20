package activities

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/resource"
)

// codeScopeLocked is ARM's refusal because of a management lock.
const codeScopeLocked = "ScopeLocked"

// locksAPIVersion reads management locks.
const locksAPIVersion = "2020-05-01"

// isLock reports whether a management lock refused a request.
func isLock(failure *arm.Error) bool { return strings.EqualFold(failure.Code, codeScopeLocked) }

// explainLocks names the locks behind a refusal: ARM's message names the scope,
// but not the lock. Locks are inherited, so every scope above is looked at; where
// they may not be read, ARM's own words stand.
func (a *Activities) explainLocks(ctx context.Context, id resource.ID, refusal resource.Verdict) resource.Verdict {
	requests, cancel := forARM(ctx)
	defer cancel()
	var found []string
	for at := id; !at.IsZero() && !strings.EqualFold(at.Type(), resource.TypeManagementGroup); at = at.Owner() {
		items, err := a.Client.List(requests, at, "providers/Microsoft.Authorization/locks", locksAPIVersion, contentsSeen)
		if err != nil {
			continue
		}
		for _, item := range items {
			if text, applies := lockAt(item, at, id); applies {
				found = append(found, text)
			}
		}
	}
	if len(found) > 0 {
		refusal.Message = fmt.Sprintf("locked by %s; remove the lock, or leave the resource. ARM says: %s", names(found), refusal.Message)
	}
	return refusal
}

// lockAt is how a message calls a lock that a list at a scope shows, and whether
// it applies: the list also shows locks below the scope, which refuse the DELETE
// of what holds them.
func lockAt(item json.RawMessage, scope, id resource.ID) (string, bool) {
	var lock struct {
		ID         string `json:"id"`
		Name       string `json:"name"`
		Properties struct {
			Level string `json:"level"`
			Notes string `json:"notes"`
		} `json:"properties"`
	}
	if json.Unmarshal(item, &lock) != nil {
		return "", false
	}
	parsed, err := resource.ParseID(lock.ID)
	if err != nil {
		return "", false
	}
	on := parsed.Owner()
	if below := scope.Equal(id) && Contains(id, on); !on.Equal(scope) && !below {
		return "", false
	}
	text := fmt.Sprintf("%q (%s) on %s", lock.Name, lock.Properties.Level, on)
	if lock.Properties.Notes != "" {
		text += fmt.Sprintf(", which says %q", lock.Properties.Notes)
	}
	return text, true
}
