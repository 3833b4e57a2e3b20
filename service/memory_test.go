package service

import "testing"

func TestCollectorSlack(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason  string
		heap    collector
		takes   uint64
		grows   bool
		slack   uint64
		percent int
	}{
		"start":        {reason: "before the first collection nothing is known to live", takes: 1 << 20, slack: 16 << 20, percent: 1000},
		"small, rests": {reason: "a worker at rest holds 16 MiB of garbage", heap: collector{live: 16 << 20}, takes: 1 << 20, slack: 16 << 20, percent: 100},
		"some work":    {reason: "it collects every half minute", heap: collector{live: 32 << 20}, takes: 24 << 20, slack: 24 << 20, percent: 75},
		"small, busy":  {reason: "the heap grows by 48 MiB", heap: collector{live: 16 << 20}, takes: 1 << 30, slack: 48 << 20, percent: 300},
		"large, rests": {reason: "what sleeps does not double", heap: collector{live: 160 << 20}, takes: 1 << 20, slack: 16 << 20, percent: 10},
		"large, busy":  {reason: "by half of what lives at most", heap: collector{live: 600 << 20}, takes: 2 << 30, slack: 300 << 20, percent: 50},
		"large, grows": {reason: "what comes to live amid garbage leaves holes", heap: collector{live: 200 << 20}, takes: 2 << 30, grows: true, slack: 48 << 20, percent: 24},
		"huge, grows":  {reason: "a collection pays for a fifth of what lives", heap: collector{live: 600 << 20}, takes: 2 << 30, grows: true, slack: 120 << 20, percent: 20},
		"roots":        {reason: "the percentage is of stacks and globals too", heap: collector{live: 44 << 20, roots: 4 << 20}, takes: 1 << 30, slack: 48 << 20, percent: 100},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			slack := tc.heap.slack(tc.takes, tc.grows)
			if slack != tc.slack {
				t.Errorf("slack %d, want %d: %s", slack, tc.slack, tc.reason)
			}
			if got := tc.heap.percent(slack); got != tc.percent {
				t.Errorf("%d percent, want %d: %s", got, tc.percent, tc.reason)
			}
		})
	}
}

// TestDiffer holds that the percentage is left alone for a tenth.
func TestDiffer(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		percent, next int
		differ        bool
	}{
		{100, 100, false}, {100, 110, false}, {100, 90, false}, {100, 111, true}, {100, 89, true}, {10, 11, false}, {10, 12, true},
	} {
		if got := differ(tc.percent, tc.next); got != tc.differ {
			t.Errorf("%d in place of %d: %t, want %t", tc.next, tc.percent, got, tc.differ)
		}
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

// TestPace holds what a worker is said to take in half a minute: what it took, and
// at once more when it begins to be busy.
func TestPace(t *testing.T) {
	t.Parallel()
	var p pace
	for _, tc := range []struct {
		name         string
		looks        int
		took, expect uint64 // by the last of the looks
	}{
		{"the first look is a burst", 1, 2, 10},
		{"as it goes on", 29, 2, 60},
		{"steady", 45, 2, 60},
		{"a burst counts at once", 1, 30, 150},
		{"and for half a minute", 29, 2, 88},
		{"not longer", 1, 2, 60},
		{"busy", 30, 30, 900},
		{"a short rest is none", 10, 0, 600},
		{"a rest is", 20, 0, 0},
	} {
		var got uint64
		for range tc.looks {
			got = p.takes(tc.took)
		}
		if got != tc.expect {
			t.Errorf("%s: takes %d, want %d", tc.name, got, tc.expect)
		}
	}
}

// TestGrowth holds when more and more is said to live: when it is more by a tenth than
// two minutes ago.
func TestGrowth(t *testing.T) {
	t.Parallel()
	var g growth
	for _, tc := range []struct {
		name  string
		looks int
		live  uint64
		grows bool // by the last of the looks
	}{
		{"a start", 1, 100, true},
		{"for two minutes", 119, 100, true},
		{"not longer", 1, 100, false},
		{"a tenth is none", 1, 110, false},
		{"more is", 1, 111, true},
		{"as long as it is new", 116, 130, true},
		{"the little more has become what was", 4, 130, true},
		{"and so has this", 1, 121, false},
		{"less is none", 200, 50, false},
		{"from there it is growth", 1, 60, true},
	} {
		var got bool
		for range tc.looks {
			got = g.grows(tc.live)
		}
		if got != tc.grows {
			t.Errorf("%s: grows %t, want %t", tc.name, got, tc.grows)
		}
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
		{64, false}, {64, false}, {64, false}, {64, false}, {64, false},
		{48, false}, {40, false}, {48, false}, {40, false}, {40, false}, // not for a little less
		{30, false}, {24, false}, {18, false}, {16, false}, {16, false}, // not while it goes down
		{16, false}, {16, true}, {16, false}, {16, false}, {16, false}, // once
		{90, false}, {16, false}, {16, false}, {16, false}, {16, false}, {16, true}, {16, false}, {16, false}, // busy once more
	} {
		if got := c.down(tc.slack); got != tc.down {
			t.Errorf("look %d, slack %d: %t, want %t", i, tc.slack, got, tc.down)
		}
	}
}
