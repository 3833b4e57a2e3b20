package activities

import (
	"context"
	"fmt"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/resource"
)

const (
	// maxLookBytes is the largest body that is read within a workflow task: the result travels
	// with all others of the task in one request.
	maxLookBytes = 256 << 10
	// maxLookTime is the longest look that is worth its slot. The timeout of the local activity
	// (workflows/options.go) is a little longer.
	maxLookTime = 2 * time.Second
	// maxUnsuited bounds the known resources for which a look does not suffice.
	maxUnsuited = 10_000
	// defaultWorkflowSlots is the SDK's number.
	defaultWorkflowSlots = 1000
	// LookDeferred is the type of the error of a read within a workflow task that is to be an
	// ordinary activity.
	LookDeferred = "LookDeferred"
)

// looks bounds the reads within workflow tasks, as local activities: each keeps a slot that
// messages of users and freezes need, too. It is safe for concurrent use.
type looks struct {
	// max bounds all of them, and maxEach the looks of one subscription.
	max, maxEach int

	mu      sync.Mutex
	running int
	each    map[string]int // by subscription
	// unsuited are resources whose last read was slow, or whose body is large.
	unsuited map[string]bool
}

// newLooks returns the bounds for a worker with so many slots for workflow tasks: a quarter of
// them, and an eighth for one subscription.
func newLooks(slots int) *looks {
	return &looks{max: max(slots/4, 1), maxEach: max(slots/8, 1), each: map[string]int{}, unsuited: map[string]bool{}}
}

// begin returns a function that ends the look, nil if the resource is to be read by an ordinary
// activity.
func (l *looks) begin(id resource.ID) (end func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	subscription := id.Subscription()
	if l.running >= l.max || l.each[subscription] >= l.maxEach || l.unsuited[id.Key()] {
		return nil
	}
	l.running++
	l.each[subscription]++
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.running--
		if l.each[subscription]--; l.each[subscription] == 0 {
			delete(l.each, subscription)
		}
	}
}

// note takes the duration of a read and its result: a slow or large resource gets no look until
// an ordinary read is fast and small.
func (l *looks) note(id resource.ID, took time.Duration, result GetResourceResult, err error) {
	suits := took < maxLookTime && len(result.Observed) <= maxLookBytes
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case suits && err == nil:
		delete(l.unsuited, id.Key())
	case !suits && len(l.unsuited) < maxUnsuited:
		l.unsuited[id.Key()] = true
	}
}

// look is GetResource within a workflow task. It waits for nothing but the response: any other
// outcome is an error, after which the workflow schedules the ordinary activity.
func (a *Activities) look(ctx context.Context, in GetResourceInput) (GetResourceResult, error) {
	end := a.looks.begin(in.ID)
	if end == nil {
		return GetResourceResult{}, deferred("too many reads run within workflow tasks, or this one takes long")
	}
	defer end()
	result, err := a.get(arm.WithoutWaiting(ctx), in)
	if err == nil && len(result.Observed) > maxLookBytes {
		err = deferred(fmt.Sprintf("the body has more than %d KB", maxLookBytes>>10))
	}
	return result, err
}

// deferred returns the error of a look that is to be an ordinary activity.
func deferred(reason string) error {
	return temporal.NewNonRetryableApplicationError(reason, LookDeferred, nil)
}

// isLook reports whether a read runs within a workflow task.
func isLook(ctx context.Context) bool { return activity.GetInfo(ctx).IsLocalActivity }
