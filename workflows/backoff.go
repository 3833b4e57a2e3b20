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
	maxWoken    = 30 * time.Minute
	minVerySlow = time.Hour
	// maxFirstWait bounds the first wait for a resource: its change may have come
	// before the search attribute of this wait was visible, and then woke nothing.
	maxFirstWait = 2 * time.Second
	// minFirstResync is the shortest time to the first resync, which is spread over the
	// whole interval.
	minFirstResync = time.Minute
	// maxJitter is the largest part by which a wait is longer or shorter.
	maxJitter = 0.25
	// maxFollowing is how long a resource that is not Ready is tried again whenever a reading
	// expires. Later the age of a reading is small beside the wait.
	maxFollowing = 10 * time.Minute
	// changeVisibleAfter is how long Azure may take to show a change that it accepted.
	changeVisibleAfter = time.Minute
)

// backoff returns the wait after a pass that did not end Ready, without jitter: exponential
// within the class. Zero means that only a message starts a pass.
func (s *State) backoff(class resource.RetryClass, reason resource.Reason) time.Duration {
	interval := s.Desired.Interval
	switch {
	case s.keepsInterval(class, reason):
		return interval
	case interval > 0 && reason == resource.ReasonDriftDetected:
		return interval // a report costs one GET
	case class == resource.RetryVerySlow:
		return max(interval, minVerySlow)
	case class == resource.RetryFast:
		return exponential(s.Retry.Attempts, maxFast)
	case class == resource.RetryWoken:
		return exponential(s.Retry.Attempts, maxWoken)
	}
	return exponential(s.Retry.Attempts, maxSlow)
}

// keepsInterval reports whether passes follow at the interval: they only read after a final
// refusal, and correct all that is not held.
func (s *State) keepsInterval(class resource.RetryClass, reason resource.Reason) bool {
	return class == resource.RetryNone || reason == resource.ReasonHeld && s.Desired.Interval > 0
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
func (s *State) retryDelay(now time.Time, verdict resource.Verdict, class resource.RetryClass, newBlocker bool) (wait time.Duration, counts bool) {
	wait = s.jitter(s.backoff(class, verdict.Reason))
	if s.keepsInterval(class, verdict.Reason) {
		return wait, true
	}
	wait = max(wait, verdict.RetryAfter)
	// The queue of turns signals its next holder, whatever the search attributes show.
	if newBlocker && len(verdict.WaitingFor) > 0 && verdict.Reason != resource.ReasonWaitingForSibling {
		wait = max(min(wait, maxFirstWait), verdict.RetryAfter)
	}
	if within := verdict.RetryWithin; within > 0 && wait > within && s.Retry.notReadyFor(now) < maxFollowing {
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
	interval := max(s.Desired.Interval, s.Reported.Interval)
	if s.Desired.Interval == 0 {
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

// longest returns the longest time to the next try while the waits do not grow: it is the
// same from try to try, in whole seconds, or minutes from one on.
func longest(backoff, wait time.Duration) time.Duration {
	bound, unit := max(time.Duration(float64(backoff)*(1+maxJitter)), wait), time.Second
	if bound >= time.Minute {
		unit = time.Minute
	}
	return (bound + unit - 1).Truncate(unit)
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
