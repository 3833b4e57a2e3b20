package activities

import (
	"context"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
)

// HeartbeatInterval is the time between the heartbeats of an activity. Each is a transaction of
// the server, and most activities end before the first. That of a write is earlier: it asks for
// permission (package writing).
const HeartbeatInterval = 10 * time.Second

// heartbeater records the progress of an activity periodically until it is
// stopped, so that the server notices a lost worker and the next attempt starts
// with what was known.
type heartbeater[T any] struct {
	ctx     context.Context
	mu      sync.Mutex
	last    T
	done    chan struct{}
	stopped sync.WaitGroup
}

// startHeartbeat starts with the progress of the attempt before.
func startHeartbeat[T any](ctx context.Context) *heartbeater[T] {
	h := &heartbeater[T]{ctx: ctx, done: make(chan struct{})}
	if activity.HasHeartbeatDetails(ctx) {
		// Details that cannot be decoded are from another version: the activity
		// starts over, which every one of them can.
		_ = activity.GetHeartbeatDetails(ctx, &h.last)
	}
	h.stopped.Go(h.run)
	return h
}

func (h *heartbeater[T]) run() {
	ticker := time.NewTicker(HeartbeatInterval)
	defer ticker.Stop()
	for {
		select {
		case <-h.done:
			return
		case <-h.ctx.Done():
			return
		case <-ticker.C:
		}
		h.mu.Lock()
		activity.RecordHeartbeat(h.ctx, h.last)
		h.mu.Unlock()
	}
}

// content returns the progress as the server gets it.
func (h *heartbeater[T]) content() any { return h.progress() }

func (h *heartbeater[T]) progress() T {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.last
}

// send replaces the progress and sends it.
func (h *heartbeater[T]) send(progress T) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last = progress
	activity.RecordHeartbeat(h.ctx, progress)
}

// set replaces the progress, which the next heartbeat sends: each one is a
// transaction of the server.
func (h *heartbeater[T]) set(progress T) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last = progress
}

// stop ends the heartbeats; the SDK flushes the last progress when the activity
// fails.
func (h *heartbeater[T]) stop() {
	close(h.done)
	h.stopped.Wait()
}
