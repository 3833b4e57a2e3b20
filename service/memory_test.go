package service

import (
	"errors"
	"log/slog"
	"math"
	"os"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

func TestTuneMemory(t *testing.T) {
	const gigabyte = 1 << 30
	cases := map[string]struct {
		reason      string
		environment map[string]string
		provider    memlimit.Provider
		percent     int
		limit       int64
		log         string
	}{
		"no container": {
			reason: "a worker outside a container has no limit", provider: func() (uint64, error) { return 0, memlimit.ErrNoCgroup },
			percent: gcPercent, limit: math.MaxInt64,
		},
		"unlimited container": {
			reason: "a container without a limit sets no soft limit", provider: func() (uint64, error) { return 0, memlimit.ErrNoLimit },
			percent: gcPercent, limit: math.MaxInt64,
		},
		"limited container": {
			reason: "memory that Go does not count needs a part of the container's limit", provider: memlimit.Limit(gigabyte),
			percent: gcPercent, limit: gigabyte/10*9 + ballastBytes, log: "soft memory limit set",
		},
		"unreadable": {
			reason: "the worker runs without a soft limit", provider: func() (uint64, error) { return 0, errors.New("no permission") },
			percent: gcPercent, limit: math.MaxInt64, log: "set GOMEMLIMIT instead",
		},
		"GOGC": {
			reason: "the operator's setting takes precedence", environment: map[string]string{"GOGC": "70"}, provider: memlimit.Limit(gigabyte),
			percent: 100, limit: gigabyte / 10 * 9, log: "soft memory limit set",
		},
		"GOMEMLIMIT": {
			reason: "the operator's setting takes precedence", environment: map[string]string{"GOMEMLIMIT": "2GiB"}, provider: memlimit.Limit(gigabyte),
			percent: gcPercent, limit: math.MaxInt64,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for _, name := range []string{"GOGC", "GOMEMLIMIT"} {
				t.Setenv(name, tc.environment[name]) // restored after the test
				if tc.environment[name] == "" {
					_ = os.Unsetenv(name)
				}
			}
			// The runtime read both variables when the test started.
			percent, limit := debug.SetGCPercent(100), debug.SetMemoryLimit(math.MaxInt64)
			t.Cleanup(func() {
				debug.SetGCPercent(percent)
				debug.SetMemoryLimit(limit)
			})
			var out strings.Builder
			ballast := tuneMemory(slog.New(slog.NewTextHandler(&out, nil)), tc.provider)
			if set := tc.environment["GOGC"] != ""; set != (ballast == nil) {
				t.Errorf("%d bytes of ballast: %s", len(ballast), tc.reason)
			}
			if got := debug.SetGCPercent(100); got != tc.percent {
				t.Errorf("%d percent, want %d: %s", got, tc.percent, tc.reason)
			}
			if got := debug.SetMemoryLimit(-1); got/1024 != tc.limit/1024 {
				t.Errorf("soft limit %d, want %d: %s", got, tc.limit, tc.reason)
			}
			if (tc.log == "") != (out.Len() == 0) || !strings.Contains(out.String(), tc.log) {
				t.Errorf("log %q, want %q: %s", out.String(), tc.log, tc.reason)
			}
		})
	}
}
