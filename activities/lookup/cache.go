package lookup

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

// cache keeps responses for maxAge. Callers that ask at the same time share one request.
type cache[T any] struct {
	maxAge   time.Duration
	now      func() time.Time
	requests singleflight.Group

	mu    sync.Mutex
	known map[string]cached[T]
}

type cached[T any] struct {
	value T
	at    time.Time
}

func newCache[T any](maxAge time.Duration, now func() time.Time) *cache[T] {
	return &cache[T]{maxAge: maxAge, now: now, known: map[string]cached[T]{}}
}

// get returns the value of a key; load requests it within Timeout, even if the first caller leaves.
// Errors have name.
func (c *cache[T]) get(ctx context.Context, key, name string, load func(context.Context) (T, error)) (T, error) {
	if value, ok := c.fresh(key); ok {
		return value, nil
	}
	done := c.requests.DoChan(key, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), Timeout)
		defer cancel()
		value, err := load(ctx)
		if err == nil {
			c.put(key, value)
		}
		return value, err
	})
	select {
	case result := <-done:
		value, _ := result.Val.(T)
		return value, result.Err
	case <-ctx.Done():
		var none T
		return none, fmt.Errorf("read %s: %w", name, ctx.Err())
	}
}

func (c *cache[T]) fresh(key string) (T, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, ok := c.known[key]
	return found.value, ok && c.now().Sub(found.at) < c.maxAge
}

// put adds a value and removes expired ones, because a list may take some 100 KB.
func (c *cache[T]) put(key string, value T) {
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.known, func(_ string, known cached[T]) bool { return c.now().Sub(known.at) >= c.maxAge })
	c.known[key] = cached[T]{value: value, at: c.now()}
}
