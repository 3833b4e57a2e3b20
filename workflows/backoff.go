package workflows

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/armature-io/armature/resource"
)

// The waits of the retry classes.
const (
	firstRetry  = time.Second
	maxFast     = 30 * time.Second
	maxSlow     = 3 * time.Minute
	minVerySlow = time.Hour
	// maxFirstWait bounds the first wait for a resource: its change may have come
	// before the search attribute of this wait was visible, and then woke nothing.
	maxFirstWait = 2 * time.Second
	// minFirstResync is the shortest time to the first resync, which is spread over the
	// whole interval.
	minFirstResync = time.Minute
	// maxJitter is the largest part by which a wait is longer or shorter.
	maxJitter = 0.25
	// changeVisibleAfter is how long Azure may take to show a change that it accepted.
	changeVisibleAfter = time.Minute
)

// backoff returns the wait after a pass that did not end Ready: exponential within the
// class, with jitter, and at least the minimum that ARM asked for. Zero means that only a
// message starts a pass.
func (s *State) backoff(class resource.RetryClass, minimum time.Duration) time.Duration {
	var wait time.Duration
	switch class {
	case resource.RetryNone:
		return 0
	case resource.RetryVerySlow:
		wait = max(s.Desired.Interval, minVerySlow)
		if s.Desired.Policy == resource.PolicyObserve && s.Desired.Interval > 0 {
			wait = s.Desired.Interval // a report costs one GET
		}
	case resource.RetryFast:
		wait = exponential(s.Retry.Attempts, maxFast)
	default:
		wait = exponential(s.Retry.Attempts, maxSlow)
	}
	return max(s.jitter(wait), minimum)
}

// restartBackoff forgets the tries so far before a pass that a user requested: the user
// changed something, so the waits grow from the first one again.
func (s *State) restartBackoff() {
	if !s.Requests.At.IsZero() {
		s.Retry.Attempts = 0
	}
}

// retryDelay returns the wait after a verdict that ended a pass early, and whether the
// attempt counts for the next backoff. It is short when the resource begins to wait for
// others, and when the verdict rests on a reading that expires soon.
func (s *State) retryDelay(verdict resource.Verdict, class resource.RetryClass, newBlocker bool) (wait time.Duration, counts bool) {
	wait = s.backoff(class, verdict.RetryAfter)
	if verdict.Reason == resource.ReasonHeld && s.Desired.Interval > 0 {
		wait = s.jitter(s.Desired.Interval) // everything else is still corrected
	}
	// The queue of turns signals its next holder, whatever the search attributes show.
	if newBlocker && len(verdict.WaitingFor) > 0 && wait > 0 && verdict.Reason != resource.ReasonWaitingForSibling {
		wait = max(min(wait, maxFirstWait), verdict.RetryAfter)
	}
	if within := verdict.RetryWithin; within > 0 && wait > within {
		// The waits are spread, because the resources that wait for one resource share
		// its reading. It is the same try with a new reading, so it does not count.
		return max(within+time.Duration(s.fraction()*float64(2*time.Second)), verdict.RetryAfter), false
	}
	return wait, true
}

// resyncDelay returns the wait after a pass that ended Ready; zero means none. It is
// short after a PUT that Azure accepted but does not show yet.
func (s *State) resyncDelay(put bool, reason resource.Reason) time.Duration {
	wait := s.resync()
	if reason == resource.ReasonChangeNotTaken && put && (wait == 0 || wait > changeVisibleAfter) {
		return changeVisibleAfter
	}
	return wait
}

// resync returns the interval with jitter. The first one is spread over the whole
// interval, so that the passes after a mass apply do not coincide.
func (s *State) resync() time.Duration {
	interval := s.Desired.Interval
	if interval == 0 {
		return 0
	}
	if s.Ready.Passes == 1 {
		return max(time.Duration(s.fraction()*float64(interval)), min(minFirstResync, interval))
	}
	return s.jitter(interval)
}

// exponential returns 1 s, 2 s, 4 s, ... up to the maximum.
func exponential(attempts int, maximum time.Duration) time.Duration {
	wait := firstRetry
	for range attempts {
		if wait *= 2; wait >= maximum {
			return maximum
		}
	}
	return wait
}

// jitter lengthens or shortens a wait by at most a quarter.
func (s *State) jitter(wait time.Duration) time.Duration {
	return time.Duration(float64(wait) * (1 - maxJitter + 2*maxJitter*s.fraction()))
}

// fraction returns a number in [0, 1) that is the same at every replay: a hash of the
// workflow ID and the number of the pass.
func (s *State) fraction() float64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", s.Desired.ID.WorkflowID(), s.Pass))
	return float64(binary.BigEndian.Uint64(sum[:8])>>11) / (1 << 53)
}
