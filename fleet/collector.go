package fleet

import (
	"context"
	"sync"
	"time"
)

// collector joins the calls of a moment into one.
type collector[In, Out any] struct {
	// moment is how long the first call waits for others.
	moment time.Duration
	// most bounds the calls of one batch.
	most int
	// slot waits until a batch may run, nil for at once. The batch stays open
	// meanwhile: under pressure batches grow, not their number.
	slot func(ctx context.Context) error
	// run answers a batch, in its order. It is bounded by runTimeout.
	run func(ctx context.Context, batch []In) ([]Out, error)

	mu   sync.Mutex
	open *batch[In, Out]
}

// runTimeout bounds one batch.
const runTimeout = 80 * time.Second

// batch is closed by its run; then done is.
type batch[In, Out any] struct {
	in   []In
	out  []Out
	err  error
	done chan struct{}
}

// do joins the open batch, or opens one, and gives its part of the answer.
func (c *collector[In, Out]) do(ctx context.Context, in In) (Out, error) {
	b, i := c.join(in)
	select {
	case <-b.done:
	case <-ctx.Done():
		var none Out
		return none, context.Cause(ctx)
	}
	if b.err != nil {
		var none Out
		return none, b.err
	}
	return b.out[i], nil
}

func (c *collector[In, Out]) join(in In) (*batch[In, Out], int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open == nil || len(c.open.in) >= c.most {
		b := &batch[In, Out]{done: make(chan struct{})}
		c.open = b
		// Detached: who gives up must not take the others along.
		time.AfterFunc(c.moment, func() { c.serve(b) })
	}
	c.open.in = append(c.open.in, in)
	return c.open, len(c.open.in) - 1
}

func (c *collector[In, Out]) serve(b *batch[In, Out]) {
	ctx, cancel := context.WithTimeout(context.Background(), runTimeout)
	defer cancel()
	defer close(b.done)
	if c.slot != nil {
		b.err = c.slot(ctx)
	}
	c.mu.Lock()
	if c.open == b {
		c.open = nil
	}
	c.mu.Unlock()
	if b.err == nil {
		b.out, b.err = c.run(ctx, b.in)
	}
}
