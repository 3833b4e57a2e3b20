package activities

import (
	"context"
	"time"

	"go.temporal.io/sdk/activity"
)

// Bounds of the waits that an activity makes in its worker slot. Another attempt
// costs Temporal three transactions, a timer and a task: for a few seconds a slot
// costs less, for minutes it does not.
const (
	maxSlotWait = 5 * time.Second
	// maxSlotWaits is half of a worker's slots, so that the other half stays
	// available.
	maxSlotWaits = 500
	// minRequestTime is what must remain of the attempt after a wait: ARM gives up
	// on a provider after 60 s.
	minRequestTime = time.Minute + maxRequestMargin
)

// waitInSlot waits within the attempt. It returns false where another attempt
// should wait instead: the wait is long, the attempt's time nearly over, too many
// activities wait, or the worker stops.
func (a *Activities) waitInSlot(ctx context.Context, delay time.Duration) bool {
	deadline, bounded := ctx.Deadline()
	if delay > a.options.MaxSlotWait || bounded && time.Until(deadline) < delay+minRequestTime {
		return false
	}
	select {
	case a.slotWaits <- struct{}{}:
	default:
		return false
	}
	defer func() { <-a.slotWaits }()
	return a.options.Pause(ctx, delay)
}

// pause reports whether the delay passed before the attempt ended or the worker
// stopped.
func pause(ctx context.Context, delay time.Duration) bool {
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
	case <-activity.GetWorkerStopChannel(ctx):
	}
	return false
}
