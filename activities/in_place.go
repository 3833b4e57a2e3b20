package activities

import (
	"context"
	"time"

	"go.temporal.io/sdk/activity"
)

// Bounds of the waits that an activity makes in its slot. Another attempt costs
// Temporal three transactions, a timer and a task: for a few seconds a slot is the
// cheaper one, for minutes it is not.
const (
	inPlaceMost = 5 * time.Second
	// inPlaceAtOnce is half of the slots that a worker has: others than those who
	// wait always find one.
	inPlaceAtOnce = 500
	// requestRoom is what must be left of the attempt after a wait: ARM gives up
	// on a provider after 60 s.
	requestRoom = time.Minute + answerMargin
)

// waitInPlace waits within the attempt. False says that it is to be another
// attempt: the wait is long, the attempt's time nearly over, too many wait, or the
// worker stops.
func (a *Activities) waitInPlace(ctx context.Context, delay time.Duration) bool {
	deadline, bounded := ctx.Deadline()
	if delay > a.options.InPlace || bounded && time.Until(deadline) < delay+requestRoom {
		return false
	}
	select {
	case a.places <- struct{}{}:
	default:
		return false
	}
	defer func() { <-a.places }()
	return a.options.Pause(ctx, delay)
}

// pause reports whether the time passed before the attempt ended or the worker
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
