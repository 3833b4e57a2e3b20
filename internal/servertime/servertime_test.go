package servertime_test

import (
	"testing"
	"time"

	"github.com/armature-io/armature/internal/servertime"
)

// TestAhead compares a clock that differs from the server's, over messages of different
// delays.
func TestAhead(t *testing.T) {
	t.Parallel()
	const hour, second = time.Hour, time.Second
	cases := map[string]struct {
		reason string
		skew   time.Duration
		delays []time.Duration
		want   time.Duration
		shown  bool
	}{
		"Never":      {reason: "nothing was compared"},
		"Equal":      {"equal clocks, some delays", 0, []time.Duration{3 * second, second, 2 * second}, second, true},
		"Ahead":      {"the least delayed message counts", 2 * hour, []time.Duration{80 * second, 0, second}, 2 * hour, true},
		"AheadOnce":  {"one message may have been delayed", 2 * hour, []time.Duration{0}, 2 * hour, false},
		"BehindOnce": {"no delay makes a clock look behind", -2 * hour, []time.Duration{0}, -2 * hour, true},
		"Paused":     {"a pause between the server and the worker is no skew", 0, []time.Duration{0, 80 * second, 80 * second}, 0, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
			local := server.Add(c.skew)
			clk := servertime.New(func() time.Time { return local })
			for _, delay := range c.delays {
				local = server.Add(c.skew + delay)
				clk.Compare(server)
			}
			got, shown := clk.Ahead()
			if got != c.want || shown != c.shown {
				t.Errorf("ahead by %s, shown %t, want %s and %t: %s", got, shown, c.want, c.shown, c.reason)
			}
			if now := clk.Now(); len(c.delays) > 0 && !now.Equal(local.Add(-c.want)) {
				t.Errorf("the server's time is estimated as %s, want %s", now, local.Add(-c.want))
			}
		})
	}
}

// TestAheadForgets sets the local clock right: the estimate follows within the bounds.
func TestAheadForgets(t *testing.T) {
	t.Parallel()
	server, skew := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC), time.Hour
	clk := servertime.New(func() time.Time { return server.Add(skew) })
	for i := range 30 {
		if i == 10 {
			skew = 0 // NTP sets it back
		}
		if i == 20 {
			skew = 2 * time.Hour // and a user forward
		}
		server = server.Add(time.Second)
		clk.Compare(server)
		if got, _ := clk.Ahead(); i >= 10 && got != skew && i < 20 || i == 29 && got != skew {
			t.Errorf("comparison %d: ahead by %s, want %s", i, got, skew)
		}
	}
}

// TestElapsed counts the time of a suspended machine, in which the monotonic clock stood
// still.
func TestElapsed(t *testing.T) {
	t.Parallel()
	from := time.Now()
	for name, c := range map[string]struct {
		to   time.Time
		want time.Duration
	}{
		"Running":   {from.Add(3 * time.Second), 3 * time.Second},
		"Suspended": {from.Round(0).Add(time.Hour), time.Hour}, // no monotonic reading: the wall clock alone
	} {
		if got := servertime.Elapsed(from, c.to); got != c.want {
			t.Errorf("%s: %s elapsed, want %s", name, got, c.want)
		}
	}
}
