package service

import "testing"

func TestCollectorSlack(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason  string
		heap    collector
		took    uint64
		slack   uint64
		percent int
	}{
		"start":        {reason: "before the first collection nothing is known to live", took: 1 << 20, slack: 16 << 20, percent: 1000},
		"small, rests": {reason: "a worker at rest holds 16 MiB of garbage", heap: collector{live: 16 << 20}, took: 1 << 20, slack: 16 << 20, percent: 100},
		"some work":    {reason: "it collects every half minute", heap: collector{live: 32 << 20}, took: 8 << 20, slack: 48 << 20, percent: 150},
		"small, busy":  {reason: "the heap grows by 64 MiB", heap: collector{live: 16 << 20}, took: 1 << 30, slack: 64 << 20, percent: 400},
		"large, rests": {reason: "what sleeps does not double", heap: collector{live: 160 << 20}, took: 1 << 20, slack: 16 << 20, percent: 10},
		"large, busy":  {reason: "by half of what lives at most", heap: collector{live: 600 << 20}, took: 2 << 30, slack: 300 << 20, percent: 50},
		"roots":        {reason: "the percentage is of stacks and globals too", heap: collector{live: 60 << 20, roots: 4 << 20}, took: 1 << 30, slack: 64 << 20, percent: 100},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			slack := tc.heap.slack(tc.took)
			if slack != tc.slack {
				t.Errorf("slack %d, want %d: %s", slack, tc.slack, tc.reason)
			}
			if got := tc.heap.percent(slack); got != tc.percent {
				t.Errorf("%d percent, want %d: %s", got, tc.percent, tc.reason)
			}
		})
	}
}

// TestReadCollector holds that this Go counts what the collector is tuned by.
func TestReadCollector(t *testing.T) {
	t.Parallel()
	heap, known := readCollector()
	if !known || heap.allocated == 0 || heap.roots == 0 {
		t.Errorf("collector %+v, known %t", heap, known)
	}
}

// TestCalm holds that memory is given back once when a worker comes to rest, and
// again after it was busy.
func TestCalm(t *testing.T) {
	t.Parallel()
	var c calm
	for i, tc := range []struct {
		slack uint64
		down  bool
	}{
		{64, false}, {40, false}, {48, false}, {44, true}, // three looks at 48 or less
		{40, false}, {40, false}, {36, false}, {36, false}, {36, true}, // no moment's rest, and not for a little less
		{16, false}, {16, false}, {16, true}, {16, false}, {16, false}, {16, false},
		{90, false}, {16, false}, {16, false}, {16, true}, {16, false}, // busy once more
	} {
		if got := c.down(tc.slack); got != tc.down {
			t.Errorf("look %d, slack %d: %t, want %t", i, tc.slack, got, tc.down)
		}
	}
}
