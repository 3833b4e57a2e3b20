package activities

import (
	"context"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
)

const (
	// heartbeatInterval is a third of the heartbeat timeout of workflows/options.go.
	heartbeatInterval = 5 * time.Second
	// firstBeat is when the first heartbeat is due. Each is a transaction of the
	// server, and most activities end before.
	firstBeat = 2 * heartbeatInterval
)

// heart heartbeats the progress of an activity until it is stopped, so that a
// lost worker is noticed and the next attempt starts with what was known.
type heart[T any] struct {
	ctx  context.Context
	mu   sync.Mutex
	last T
	done chan struct{}
	idle sync.WaitGroup
}

// startHeart begins with the progress that the attempt before left.
func startHeart[T any](ctx context.Context) *heart[T] {
	h := &heart[T]{ctx: ctx, done: make(chan struct{})}
	if activity.HasHeartbeatDetails(ctx) {
		// Details that cannot be read are those of another version: the
		// activity starts over, which every one of them can.
		_ = activity.GetHeartbeatDetails(ctx, &h.last)
	}
	h.idle.Add(1)
	go h.beat()
	return h
}

func (h *heart[T]) beat() {
	defer h.idle.Done()
	timer := time.NewTimer(firstBeat)
	defer timer.Stop()
	for {
		select {
		case <-h.done:
			return
		case <-timer.C:
			timer.Reset(heartbeatInterval)
		}
		h.mu.Lock()
		activity.RecordHeartbeat(h.ctx, h.last)
		h.mu.Unlock()
	}
}

// progress is what is known.
func (h *heart[T]) progress() T {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.last
}

// record replaces the progress and sends it.
func (h *heart[T]) record(progress T) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last = progress
	activity.RecordHeartbeat(h.ctx, progress)
}

// keep replaces the progress, which the next beat sends: each heartbeat is a
// transaction of the server.
func (h *heart[T]) keep(progress T) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last = progress
}

// stop ends the heartbeats; the SDK flushes the last record when the activity
// fails.
func (h *heart[T]) stop() {
	close(h.done)
	h.idle.Wait()
}
