package service

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"go.temporal.io/sdk/client"
)

// How often Temporal and ARM are looked at, and how long one look may take.
const (
	lookDown    = 2 * time.Second
	lookUp      = 5 * time.Second
	lookTimeout = 5 * time.Second
)

// health knows what is out of reach. It says each change once.
type health struct {
	log     *slog.Logger
	targets []*target
	mu      sync.Mutex
	// serving is true while the worker polls.
	serving bool
}

// target is one thing that the worker needs.
type target struct {
	name, address, reason string
	look                  func(ctx context.Context) error
	// fault is what the last look found; looked is false before the first.
	fault  error
	looked bool
}

func newHealth(log *slog.Logger, hostPort string, temporal client.Client, arm *azure) *health {
	return &health{log: log, targets: []*target{
		{name: "temporal", address: hostPort, reason: "TemporalUnreachable", look: func(ctx context.Context) error {
			_, err := temporal.CheckHealth(ctx, &client.CheckHealthRequest{})
			return err
		}},
		{name: "arm", address: arm.endpoint(), reason: "ArmUnreachable", look: arm.reach},
	}}
}

// watch looks at everything until ctx is done.
func (h *health) watch(ctx context.Context) {
	var group sync.WaitGroup
	for _, t := range h.targets {
		group.Go(func() {
			for {
				delay := lookUp
				if !h.check(ctx, t) {
					delay = lookDown
				}
				if !pause(ctx, delay) {
					return
				}
			}
		})
	}
	group.Wait()
}

// check looks once, says what changed, and tells whether the target is there.
func (h *health) check(ctx context.Context, t *target) bool {
	limited, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	err := t.look(limited)
	if ctx.Err() != nil {
		return false // the worker stops: what failed is our own context
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case err != nil && (t.fault == nil || !t.looked):
		h.log.Warn("cannot reach "+t.name+", going on trying", "address", t.address, "reason", t.reason, "error", err)
	case err == nil && t.fault != nil:
		h.log.Info("reached "+t.name, "address", t.address)
	}
	t.fault, t.looked = err, true
	return err == nil
}

// serve notes whether the worker polls.
func (h *health) serve(serving bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.serving = serving
}

// report is what /readyz says of each part: "ok" or what is wrong.
func (h *health) report() (parts map[string]string, ready bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	parts, ready = map[string]string{"worker": "ok"}, h.serving
	if !h.serving {
		parts["worker"] = "not started"
	}
	for _, t := range h.targets {
		parts[t.name] = "ok"
		switch {
		case !t.looked:
			parts[t.name], ready = "not looked at yet", false
		case t.fault != nil:
			parts[t.name], ready = t.reason, false
		}
	}
	return parts, ready
}

// handler serves /healthz (the process runs), /readyz (Temporal and ARM are in
// reach and the worker polls: 200, else 503) and /metrics.
func (h *health) handler(metrics http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, map[string]string{"status": "ok"})
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		parts, ready := h.report()
		status := http.StatusServiceUnavailable
		if ready {
			status = http.StatusOK
		}
		answer(w, status, parts)
	})
	mux.Handle("GET /metrics", metrics)
	return mux
}

func answer(w http.ResponseWriter, status int, body map[string]string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // a client that went away needs no answer
}

// pause waits; false when ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
