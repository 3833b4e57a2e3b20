package activities

import (
	"context"
	"encoding/json"
	"fmt"
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

// explainLocks names the locks behind a refusal: ARM's message names the scope, but
// not the lock. Locks are inherited, so it reads every scope above. Where the locks
// may not be read, ARM's message stays.
func explainLocks(ctx context.Context, client *arm.Client, id resource.ID, refusal resource.Verdict) resource.Verdict {
	requests, cancel := requestContext(ctx)
	defer cancel()
	var found []string
	for scope := id; !scope.IsZero() && !strings.EqualFold(scope.Type(), resource.TypeManagementGroup); scope = scope.Owner() {
		items, err := client.List(requests, scope, "providers/Microsoft.Authorization/locks", locksAPIVersion, contents.MaxRead)
		if err != nil {
			continue
		}
		for _, item := range items {
			if text, applies := describeLock(item, scope, id); applies {
				found = append(found, text)
			}
		}
	}
	if len(found) > 0 {
		refusal.Message = fmt.Sprintf("locked by %s; remove the lock, or keep the resource. ARM says: %s", contents.NameAll(found), refusal.Message)
	}
	return refusal
}

// describeLock returns the text of a lock that ARM lists at a scope, and reports
// whether it applies. The list also shows locks below the scope; they apply only
// where they refuse the DELETE of the resource that contains them.
func describeLock(item json.RawMessage, scope, id resource.ID) (string, bool) {
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
	lockID, err := resource.ParseID(lock.ID)
	if err != nil {
		return "", false
	}
	locked := lockID.Owner()
	if inside := scope.Equal(id) && Contains(id, locked); !locked.Equal(scope) && !inside {
		return "", false
	}
	text := fmt.Sprintf("%q (%s) on %s", lock.Name, lock.Properties.Level, locked)
	if lock.Properties.Notes != "" {
		text += fmt.Sprintf(", with the note %q", lock.Properties.Notes)
	}
	return text, true
}
