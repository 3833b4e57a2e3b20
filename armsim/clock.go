package armsim

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"
)

// clock converts real time into simulated time.
type clock struct {
	real     func() time.Time
	scale    float64
	baseReal time.Time
	baseSim  time.Time
}

func newClock(real func() time.Time, scale float64) *clock {
	now := real()
	return &clock{real: real, scale: scale, baseReal: now, baseSim: now}
}

// now returns the simulated time.
func (c *clock) now() time.Time {
	elapsed := float64(c.real().Sub(c.baseReal)) * c.scale
	return c.baseSim.Add(time.Duration(elapsed))
}

// setScale changes the pace from now on; the time that has passed keeps its length.
func (c *clock) setScale(scale float64) {
	c.baseSim, c.baseReal, c.scale = c.now(), c.real(), scale
}

// advance adds d to the simulated time.
func (c *clock) advance(d time.Duration) { c.baseSim = c.baseSim.Add(d) }

// setRetryAfter sends a simulated wait as the real time that a client must wait: whole
// seconds in Retry-After, as the contract requires, and milliseconds (a header that the
// Azure SDKs prefer) where rounding would lose time.
func (c *clock) setRetryAfter(h http.Header, wait time.Duration) {
	if wait <= 0 {
		return
	}
	seconds := wait.Seconds() / c.scale
	whole := math.Ceil(seconds)
	h.Set("Retry-After", strconv.FormatFloat(whole, 'f', 0, 64))
	if whole != seconds {
		h.Set("Retry-After-Ms", strconv.FormatFloat(math.Max(1, math.Ceil(seconds*1000)), 'f', 0, 64))
	}
}

// SetTimeScale sets the number of simulated seconds per real second.
func (s *Simulator) SetTimeScale(scale float64) error {
	if scale <= 0 {
		return fmt.Errorf("set time scale %g: it must be positive", scale)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clock.setScale(scale)
	return nil
}

// Advance adds d to the simulated time.
func (s *Simulator) Advance(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clock.advance(d)
}
