package service

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/internal/servertime"
	"github.com/google/go-cmp/cmp"
)

// TestClockSkew reports workers whose clocks differ from the server's.
//
//guard:clocks
func TestClockSkew(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		ahead  time.Duration
		want   string
	}{
		"Right":  {"a second is the way of a message", time.Second, "ok"},
		"Ahead":  {"two hours ahead", 2 * time.Hour, "ClockSkew: 2h ahead of the Temporal server"},
		"Behind": {"six seconds behind are more than five", -6 * time.Second, "ClockSkew: 6s behind the Temporal server"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
			var log bytes.Buffer
			clock := servertime.New(func() time.Time { return now })
			h := &health{log: slog.New(slog.NewTextHandler(&log, nil)), clock: clock, serving: true}
			if parts, ready := h.report(); !ready || parts["clock"] != "ok" {
				t.Errorf("before the first activity: %v, ready %t", parts, ready)
			}
			for range 3 {
				clock.Compare(now.Add(-c.ahead))
			}
			for range 2 {
				parts, ready := h.report()
				if diff := cmp.Diff(map[string]string{"worker": "ok", "clock": c.want}, parts); diff != "" || ready != (c.want == "ok") {
					t.Errorf("ready %t, parts (-want +got): %s\n%s", ready, c.reason, diff)
				}
			}
			if got := strings.Count(log.String(), "ClockSkew"); got > 1 || got == 1 != (c.want != "ok") {
				t.Errorf("logged %d times: %s", got, log.String())
			}
		})
	}
}
