package activities

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/armature-io/armature/activities/contents"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/secrets"
)

// Times of WatchDeletions.
const (
	// watchInterval is the time between two looks at all resources, and watchPerResource is
	// added for each of them: a look is one request to Temporal for each resource.
	watchInterval    = 2 * time.Second
	watchPerResource = 50 * time.Millisecond
	// watchLength is how long one activity watches. Then the workflow starts another one.
	watchLength = 10 * time.Minute
	// requestGrace is how long after its start a deletion may not have been requested yet.
	requestGrace = 2 * time.Minute
	// unlockGrace is how long after the end of a lock Azure may still refuse a DELETE because
	// of it.
	unlockGrace = 3 * time.Minute
	// repeatInterval is the time between two requests to the workflow of one resource.
	repeatInterval = 10 * time.Second
)

// StackLock is a managed management lock that is deleted together with what it protects.
type StackLock struct {
	// Desired is the spec with which the lock is put back.
	Desired  resource.Desired `json:"desired"`
	Protects []resource.ID    `json:"protects"`
}

// Stack is the deletion of several resources by one request of a user.
type Stack struct {
	// Resources are those whose deletion has not ended, without the locks.
	Resources []resource.ID `json:"resources"`
	// Locks wait until Azure refuses the DELETE of something that they protect.
	Locks []StackLock `json:"locks,omitempty"`
	By    string      `json:"by,omitempty"`
	// ID is that of the DeleteStack, and Since is when it began; the workflow sets both.
	ID    string    `json:"id,omitempty"`
	Since time.Time `json:"since,omitzero"`
}

// WatchDeletionsResult is what a watch found.
type WatchDeletionsResult struct {
	// Stack has the resources and locks that remain.
	Stack Stack `json:"stack"`
	// Refused is the first resource that may not be deleted, zero for none, and Message says
	// why.
	Refused resource.ID     `json:"refused,omitzero"`
	Reason  resource.Reason `json:"reason,omitempty"`
	Message string          `json:"message,omitempty"`
}

// WatchDeletions watches the deletions of a stack until all have ended, one is refused, or some
// minutes have passed. It lets the deletion of a lock begin as soon as the lock is all that
// holds the DELETE of a resource.
func (a *Activities) WatchDeletions(ctx context.Context, in Stack) (WatchDeletionsResult, error) {
	defer startHeartbeat[struct{}](ctx).stop()
	requests, cancel := requestContext(ctx)
	defer cancel()
	end := a.now().Add(watchLength)
	w := stackWatch{Activities: a, stack: in, requested: map[string]time.Time{}, goneAt: map[string]time.Time{}}
	for {
		refused, err := w.look(requests)
		switch {
		case err != nil:
			return WatchDeletionsResult{}, stackError("watch the deletions", err)
		case refused != nil || len(w.stack.Resources) == 0 || !a.now().Before(end):
			result := WatchDeletionsResult{Stack: w.stack}
			if refused != nil {
				result.Refused, result.Reason, result.Message = refused.ID, refused.Reason, refused.Message
			}
			return result, nil
		}
		if !a.options.Pause(requests, watchInterval+watchPerResource*time.Duration(len(w.stack.Resources))) {
			return WatchDeletionsResult{Stack: w.stack}, nil
		}
	}
}

// stackWatch is one attempt of WatchDeletions. The next one begins without its memory: it only
// asks and waits once more.
type stackWatch struct {
	*Activities
	stack Stack
	// requested is when the deletion of a resource was last requested to continue, goneAt when a
	// lock was first absent.
	requested, goneAt map[string]time.Time
}

// look looks once at every resource, and returns one that may not be deleted.
func (w *stackWatch) look(ctx context.Context) (*Managed, error) {
	var remaining []resource.ID
	var refused *Managed
	for _, id := range w.stack.Resources {
		managed, known, err := w.Fleet.Managed(ctx, id)
		switch {
		case err != nil:
			return nil, err //nolint:wrapcheck // it names the resource
		case !known || managed.Gone:
			continue
		case !managed.Deleting && w.now().Sub(w.stack.Since) > requestGrace:
			continue // it was not requested, or taken back
		}
		remaining = append(remaining, id)
		if !managed.Deleting || !managed.Stopped {
			continue
		}
		if string(managed.Reason) == codeScopeLocked {
			waits, err := w.unlock(ctx, id)
			if err != nil {
				return nil, err
			}
			if waits {
				continue
			}
		}
		refused = &managed
	}
	w.stack.Resources = remaining
	return refused, nil
}

// unlock lets the deletion of the locks begin that protect a resource. It reports whether one
// of them may still be the reason that Azure refuses the DELETE.
func (w *stackWatch) unlock(ctx context.Context, id resource.ID) (waits bool, err error) {
	for _, lock := range w.stack.Locks {
		if !slices.ContainsFunc(lock.Protects, id.Equal) {
			continue
		}
		key, next := lock.Desired.ID.Key(), lock.Desired.ID
		managed, known, err := w.Fleet.Managed(ctx, next)
		switch {
		case err != nil:
			return false, err //nolint:wrapcheck // it names the resource
		case known && !managed.Gone && (managed.Stopped || !managed.Deleting && w.now().Sub(w.stack.Since) > requestGrace):
			continue // Azure refuses its DELETE, or a user took its deletion back
		case !known || managed.Gone:
			if w.goneAt[key].IsZero() {
				w.goneAt[key] = w.now()
			}
			if w.now().Sub(w.goneAt[key]) >= unlockGrace {
				continue
			}
			next = id // Azure enforces a lock for some seconds after its end
		}
		waits = true
		if err := w.continueDeletion(ctx, next); err != nil {
			return false, err
		}
	}
	return waits, nil
}

// continueDeletion requests that a deletion continues.
func (w *stackWatch) continueDeletion(ctx context.Context, id resource.ID) error {
	if w.now().Sub(w.requested[id.Key()]) < repeatInterval {
		return nil
	}
	w.requested[id.Key()] = w.now()
	return w.Fleet.Release(ctx, id, w.stack.ID, w.stack.By) //nolint:wrapcheck // it names the resource
}

// EndDeletionsResult names what became of the rest of a stack.
type EndDeletionsResult struct {
	Verdict resource.Verdict `json:"verdict"`
}

// EndDeletions ends the deletion of a stack. It takes back the deletions that remain and for
// which no DELETE was sent. A lock whose resources are all gone is deleted; any other lock is
// put back. It may be repeated.
func (a *Activities) EndDeletions(ctx context.Context, in Stack) (EndDeletionsResult, error) {
	defer startHeartbeat[struct{}](ctx).stop()
	requests, cancel := requestContext(ctx)
	defer cancel()
	unneeded, protecting, err := a.sortLocks(requests, in.Locks)
	if err != nil {
		return EndDeletionsResult{}, stackError("look up what the locks protect", err)
	}
	back := slices.Clone(in.Resources)
	for _, lock := range protecting {
		back = append(back, lock.Desired.ID)
	}
	var parts []string
	var sent []resource.ID
	if len(back) > 0 {
		aborted, err := a.Fleet.Abort(requests, Cascade{Resources: back, Stack: in.ID, By: in.By})
		if err != nil {
			return EndDeletionsResult{}, stackError("take back the deletions", err)
		}
		parts = append(parts, fmt.Sprintf("took back the deletions of %d resources", aborted.Count))
		if sent = slices.Concat(aborted.Sent, aborted.Running); len(sent) > 0 {
			parts = append(parts, "Azure may have accepted the DELETE of "+contents.NameAll(contents.DisplayNames(sent)))
		}
	}
	for _, lock := range protecting {
		restored, err := a.putBack(requests, lock.Desired, in.By, slices.ContainsFunc(sent, lock.Desired.ID.Equal))
		if err != nil {
			return EndDeletionsResult{}, stackError("put the lock back", err)
		}
		if restored {
			parts = append(parts, "put back the lock "+contents.DisplayName(lock.Desired.ID))
		}
	}
	for _, lock := range unneeded {
		if err := a.Fleet.Release(requests, lock.Desired.ID, in.ID, in.By); err != nil {
			return EndDeletionsResult{}, stackError("delete the lock", err)
		}
	}
	return EndDeletionsResult{Verdict: a.report("EndDeletions", resource.Proceed(strings.Join(parts, "; ")))}, nil
}

// putBack applies a lock again that was deleted. It asks Temporal, because a watch that was
// killed may have released the lock without a record. While the stack deletes the lock (sent) it
// returns an error, with which the activity is repeated. A lock that another request deletes, or
// that was created again, is left as it is.
func (a *Activities) putBack(ctx context.Context, lock resource.Desired, by string, sent bool) (restored bool, err error) {
	managed, known, err := a.Fleet.Managed(ctx, lock.ID)
	switch {
	case err != nil:
		return false, err //nolint:wrapcheck // it names the resource
	case !known || managed.Gone:
		return true, a.Fleet.Apply(ctx, lock, by) //nolint:wrapcheck // it names the resource
	case sent && managed.Deleting && managed.Reason != resource.ReasonCreatedAgain:
		return false, fmt.Errorf("%s is still being deleted", lock.ID)
	}
	return false, nil
}

// sortLocks separates the locks that protect a resource that is still managed from the others.
func (a *Activities) sortLocks(ctx context.Context, locks []StackLock) (unneeded, protecting []StackLock, err error) {
	for _, lock := range locks {
		stays := false
		for _, id := range lock.Protects {
			managed, known, err := a.Fleet.Managed(ctx, id)
			if err != nil {
				return nil, nil, err //nolint:wrapcheck // it names the resource
			}
			stays = stays || known && !managed.Gone
		}
		if stays {
			protecting = append(protecting, lock)
		} else {
			unneeded = append(unneeded, lock)
		}
	}
	return unneeded, protecting, nil
}

// errorStack is the type of an error of Temporal during the deletion of a stack; it is in
// histories.
const errorStack = "StackFailed"

func stackError(task string, err error) error {
	return temporal.NewApplicationErrorWithOptions(task+": "+secrets.Scrub(err.Error(), nil), errorStack,
		temporal.ApplicationErrorOptions{NextRetryDelay: transientDelay})
}
