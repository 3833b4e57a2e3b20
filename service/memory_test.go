package service

import "testing"

func TestGCPercent(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		live   uint64
		want   int
	}{
		"none":     {reason: "before the first collection nothing is known to live", live: 0, want: 400},
		"small":    {reason: "a worker of a hundred resources collects seldom", live: 16 << 20, want: 400},
		"between":  {reason: "the heap grows by 64 MiB", live: 64 << 20, want: 100},
		"thousand": {reason: "and by half of what lives at least", live: 512 << 20, want: 50},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := gcPercent(tc.live); got != tc.want {
				t.Errorf("%d bytes live: %d percent, want %d: %s", tc.live, got, tc.want, tc.reason)
			}
		})
	}
}
