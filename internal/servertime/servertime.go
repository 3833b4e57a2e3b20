// Package servertime estimates the time of the Temporal server, so that workers with different
// clocks agree about times that they read from one another.
package servertime

import (
	"slices"
	"sync"
	"time"
)

const (
	// maxSamples and maxSampleAge bound the samples that the estimate uses.
	maxSamples   = 8
	maxSampleAge = 10 * time.Minute
	// minSamples is how many samples show a clock that is ahead: one of them may have been
	// delayed on its way. A clock that is behind is shown by one.
	minSamples = 3
)

// Clock is a local clock with an estimate of how far it is ahead of the server's. It is
// safe for concurrent use.
type Clock struct {
	local func() time.Time

	mu      sync.Mutex
	samples []sample
}

// sample is one comparison. ahead is too large by the time that the message took.
type sample struct {
	at    time.Time
	ahead time.Duration
}

// New returns a clock that has not been compared yet; local is its source.
func New(local func() time.Time) *Clock { return &Clock{local: local} }

// Local returns the local time.
func (c *Clock) Local() time.Time { return c.local() }

// Compare records the time of the server in a message that just arrived.
func (c *Clock) Compare(server time.Time) {
	at := c.local()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.samples = slices.DeleteFunc(c.samples, func(old sample) bool { return Elapsed(old.at, at) > maxSampleAge })
	if len(c.samples) == maxSamples {
		c.samples = slices.Delete(c.samples, 0, 1)
	}
	// Round(0): the wall clocks are compared.
	c.samples = append(c.samples, sample{at: at, ahead: at.Round(0).Sub(server.Round(0))})
}

// Ahead returns how far the local clock is ahead of the server's, negative where it is
// behind, and whether enough comparisons show it. The smallest of the last samples counts:
// it was delayed least.
func (c *Clock) Ahead() (time.Duration, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.samples) == 0 {
		return 0, false
	}
	ahead := c.samples[0].ahead
	for _, s := range c.samples {
		ahead = min(ahead, s.ahead)
	}
	return ahead, ahead < 0 || len(c.samples) >= minSamples
}

// Now returns the estimated time of the server, the local time before the first comparison.
// The estimate is early by the delay of messages, never late, as long as the clocks run
// alike: what was read before a change never looks newer than the change.
func (c *Clock) Now() time.Time {
	ahead, _ := c.Ahead()
	return c.local().Add(-ahead)
}

// Elapsed returns the time between two readings of one clock. The monotonic clock stands
// still while the machine is suspended, the wall clock does not: the longer one counts.
func Elapsed(from, to time.Time) time.Duration {
	return max(to.Sub(from), to.Round(0).Sub(from.Round(0)))
}
