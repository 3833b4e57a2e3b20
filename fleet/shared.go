package fleet

import (
	"context"
	"sync"
	"time"
)

// requestTimeout is the deadline of a request that callers share. The SDK gives one try half
// of the remaining time, so a try has 10 s.
const requestTimeout = 20 * time.Second

// shared lets concurrent callers share one request, with at most one in flight. However long
// the request takes, all callers that wait for it get its result. The request outlives the
// context of its callers.
type shared[T any] struct {
	request func(ctx context.Context) (T, error)

	mu sync.Mutex
	// running is in flight, next begins after it; nil for none.
	running, next *flight[T]
}

// flight is one request. Value and err are set once done is closed.
type flight[T any] struct {
	done  chan struct{}
	value T
	err   error
}

// join returns the result of the request in flight, or of a new one.
func (s *shared[T]) join(ctx context.Context) (T, error) {
	s.mu.Lock()
	if s.running == nil {
		s.start()
	}
	joined := s.running
	s.mu.Unlock()
	return joined.wait(ctx)
}

// after returns the result of a request that begins after the call.
func (s *shared[T]) after(ctx context.Context) (T, error) {
	s.mu.Lock()
	var joined *flight[T]
	if s.running == nil {
		s.start()
		joined = s.running
	} else {
		if s.next == nil {
			s.next = &flight[T]{done: make(chan struct{})}
		}
		joined = s.next
	}
	s.mu.Unlock()
	return joined.wait(ctx)
}

// start begins a request. The caller holds mu.
func (s *shared[T]) start() {
	s.running = &flight[T]{done: make(chan struct{})}
	go s.run(s.running)
}

// run sends the request, and further ones while callers wait for the next.
func (s *shared[T]) run(current *flight[T]) {
	for current != nil {
		ctx, cancel := context.WithTimeout(context.Background(), requestTimeout)
		current.value, current.err = s.request(ctx)
		cancel()
		s.mu.Lock()
		close(current.done)
		s.running, s.next = s.next, nil
		current = s.running
		s.mu.Unlock()
	}
}

func (c *flight[T]) wait(ctx context.Context) (value T, err error) {
	select {
	case <-c.done:
		return c.value, c.err
	case <-ctx.Done():
		return value, ctx.Err()
	}
}
