// Package batching joins concurrent calls into one request. It must not know the purpose of
// the calls.
package batching

import (
	"context"
	"sync"
	"time"
)

// runTimeout bounds one batch.
const runTimeout = 80 * time.Second

// Batcher joins concurrent calls into one batch.
type Batcher[In, Out any] struct {
	// Delay is how long the first call waits for others.
	Delay time.Duration
	// MaxCalls bounds the calls of one batch.
	MaxCalls int
	// Slot waits until a batch may run; nil means at once. The batch stays open
	// meanwhile: under load batches grow, not their number.
	Slot func(ctx context.Context) error
	// Run returns the results of a batch in its order, within runTimeout.
	Run func(ctx context.Context, calls []In) ([]Out, error)

	mu   sync.Mutex
	open *batch[In, Out]
}

// Serial returns a Batcher with at most one batch in flight: calls that arrive meanwhile are the
// next one. The first call waits for no others.
func Serial[In, Out any](maxCalls int, run func(ctx context.Context, calls []In) ([]Out, error)) *Batcher[In, Out] {
	inFlight := make(chan struct{}, 1)
	return &Batcher[In, Out]{
		MaxCalls: maxCalls,
		Slot: func(ctx context.Context) error {
			select {
			case inFlight <- struct{}{}:
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		},
		Run: func(ctx context.Context, calls []In) ([]Out, error) {
			defer func() { <-inFlight }()
			return run(ctx, calls)
		},
	}
}

// batch is the calls of one run; done is closed when their results are there.
type batch[In, Out any] struct {
	in   []In
	out  []Out
	err  error
	done chan struct{}
}

// Do joins the open batch, or opens one, and returns the result of this call.
func (b *Batcher[In, Out]) Do(ctx context.Context, in In) (out Out, err error) {
	joined, i := b.join(in)
	select {
	case <-joined.done:
	case <-ctx.Done():
		return out, context.Cause(ctx)
	}
	if joined.err != nil {
		return out, joined.err
	}
	return joined.out[i], nil
}

func (b *Batcher[In, Out]) join(in In) (*batch[In, Out], int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.open == nil || len(b.open.in) >= b.MaxCalls {
		opened := &batch[In, Out]{done: make(chan struct{})}
		b.open = opened
		// Detached: a caller that gives up must not cancel the others.
		time.AfterFunc(b.Delay, func() { b.serve(opened) })
	}
	b.open.in = append(b.open.in, in)
	return b.open, len(b.open.in) - 1
}

func (b *Batcher[In, Out]) serve(served *batch[In, Out]) {
	ctx, cancel := context.WithTimeout(context.Background(), runTimeout)
	defer cancel()
	defer close(served.done)
	if b.Slot != nil {
		served.err = b.Slot(ctx)
	}
	b.mu.Lock()
	if b.open == served {
		b.open = nil
	}
	b.mu.Unlock()
	if served.err == nil {
		served.out, served.err = b.Run(ctx, served.in)
	}
}
