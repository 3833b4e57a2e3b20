package service

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/internal/servertime"
	"github.com/armature-io/armature/internal/text"
	"go.temporal.io/sdk/client"
)

// How often Temporal and ARM are checked, and how long one check may take. ARM is checked
// less often while it is reachable, because its requests carry no token, and the passes
// notice an outage themselves.
const (
	downInterval  = 2 * time.Second
	upInterval    = 5 * time.Second
	armUpInterval = 30 * time.Second
	checkTimeout  = 5 * time.Second
	// maxRulesText bounds what /readyz shows of invalid rules, in characters.
	maxRulesText = 500
)

// health is the reachability of the worker's servers. It logs each change once.
type health struct {
	log     *slog.Logger
	servers []*server
	mu      sync.Mutex
	// serving is true while the worker polls.
	serving bool
	// clock is compared with the server's; skewed is set once a difference was logged.
	clock  *servertime.Clock
	skewed bool
	// rules returns the state of the rules, nil without rules.
	rules func() activities.RulesState
}

// server is a server that the worker needs.
type server struct {
	name, address, reason string
	// up is the time between two checks while the server is reachable.
	up    time.Duration
	reach func(ctx context.Context) error
	// err is the result of the last check; checked is false before the first.
	err     error
	checked bool
}

func newHealth(log *slog.Logger, hostPort string, temporal client.Client, arm *azure, clock *servertime.Clock) *health {
	return &health{log: log, clock: clock, servers: []*server{
		{name: "temporal", address: hostPort, reason: "TemporalUnreachable", up: upInterval, reach: func(ctx context.Context) error {
			_, err := temporal.CheckHealth(ctx, &client.CheckHealthRequest{})
			return err
		}},
		{name: "arm", address: arm.endpoint(), reason: "ArmUnreachable", up: armUpInterval, reach: arm.reach},
	}}
}

// watch checks all servers until ctx is done.
func (h *health) watch(ctx context.Context) {
	var group sync.WaitGroup
	for _, s := range h.servers {
		group.Go(func() {
			interval := time.Duration(0)
			for sleep(ctx, interval) {
				interval = downInterval
				if h.check(ctx, s) {
					interval = s.up
				}
			}
		})
	}
	group.Wait()
}

// check checks a server once, logs a change, and reports whether it is reachable.
func (h *health) check(ctx context.Context, s *server) bool {
	limited, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	err := s.reach(limited)
	if ctx.Err() != nil {
		return false // the worker stops, and its own context caused the error
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case err != nil && s.err == nil:
		h.log.Warn("cannot reach server, retrying", "server", s.name, "address", s.address, "reason", s.reason, "error", err)
	case err == nil && s.err != nil:
		h.log.Info("reached server", "server", s.name, "address", s.address)
	}
	s.err, s.checked = err, true
	return err == nil
}

// setServing records whether the worker polls.
func (h *health) setServing(serving bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.serving = serving
}

// report returns the body of /readyz: "ok" or the problem of each part. Rules that could
// not be reloaded are shown and leave the worker ready.
func (h *health) report() (parts map[string]string, ready bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	parts, ready = map[string]string{"worker": "ok", "clock": "ok"}, h.serving
	if ahead := h.skew(); ahead != 0 {
		parts["clock"], ready = "ClockSkew: "+skewText(ahead), false
	}
	if h.rules != nil {
		parts["rules"] = "ok"
		if failed := h.rules().Text(); failed != "" {
			// The worker serves with the rules from before, so it stays ready.
			parts["rules"] = "RulesInvalid: " + text.Cut(failed, maxRulesText)
		}
	}
	if !h.serving {
		parts["worker"] = "not started"
	}
	for _, s := range h.servers {
		parts[s.name] = "ok"
		switch {
		case !s.checked:
			parts[s.name], ready = "not checked yet", false
		case s.err != nil:
			parts[s.name], ready = s.reason, false
		}
	}
	return parts, ready
}

// skew returns how far the worker's clock is ahead of the server's, 0 within activities.MaxServerSkew and
// before the worker has run an activity. It logs each change once. The caller holds the
// lock.
func (h *health) skew() time.Duration {
	ahead, shown := h.clock.Ahead()
	skewed := shown && ahead.Abs() > activities.MaxServerSkew
	switch {
	case skewed && !h.skewed:
		h.log.Warn("clock differs from the Temporal server's: synchronize it by NTP", "reason", "ClockSkew", "ahead", ahead.Round(time.Second))
	case !skewed && h.skewed:
		h.log.Info("clock agrees with the Temporal server's")
	}
	if h.skewed = skewed; skewed {
		return ahead
	}
	return 0
}

// skewText returns a difference of the clocks as text.
func skewText(ahead time.Duration) string {
	if ahead < 0 {
		return text.Duration(-ahead) + " behind the Temporal server"
	}
	return text.Duration(ahead) + " ahead of the Temporal server"
}

// handler serves /healthz (the process runs), /readyz (200 when Temporal and ARM are
// reachable, the worker polls and its clock is right, else 503) and /metrics.
func (h *health) handler(metrics http.Handler) http.Handler {
	mux := newServeMux()
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		parts, ready := h.report()
		status := http.StatusServiceUnavailable
		if ready {
			status = http.StatusOK
		}
		writeJSON(w, status, parts)
	})
	mux.Handle("GET /metrics", metrics)
	return mux
}

// newServeMux returns a mux with /healthz, which worker and codec server share.
func newServeMux() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]string{"status": "ok"})
	})
	return mux
}

func writeJSON(w http.ResponseWriter, status int, body map[string]string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // it fails only when the client disconnected
}

// sleep waits, and reports whether ctx is still valid afterwards.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
