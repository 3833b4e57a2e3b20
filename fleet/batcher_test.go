package fleet

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"
)

// TestBatcherGrows checks that later calls join a batch that waits for its slot.
func TestBatcherGrows(t *testing.T) {
	t.Parallel()
	slots, waiting := make(chan struct{}), make(chan struct{}, 10)
	var mu sync.Mutex
	var sizes []int
	c := batcher[int, int]{
		delay: time.Millisecond, maxCalls: 100,
		slot: func(context.Context) error { waiting <- struct{}{}; <-slots; return nil },
		run: func(_ context.Context, in []int) ([]int, error) {
			mu.Lock()
			defer mu.Unlock()
			sizes = append(sizes, len(in))
			return slices.Clone(in), nil
		},
	}
	var calls sync.WaitGroup
	call := func(i int) {
		calls.Go(func() {
			if got, err := c.do(t.Context(), i); got != i || err != nil {
				t.Errorf("call %d got %d, %v", i, got, err)
			}
		})
	}
	call(1)
	<-waiting // the batch is due and waits for its slot
	for i := range 5 {
		call(i)
	}
	for joined := 0; joined < 6; {
		c.mu.Lock()
		joined = 0
		if c.open != nil {
			joined = len(c.open.in)
		}
		c.mu.Unlock()
		if t.Context().Err() != nil {
			t.Fatal("the later calls opened another batch")
		}
	}
	close(slots)
	calls.Wait()
	if !slices.Equal(sizes, []int{6}) {
		t.Errorf("batches of %v, want one of 6", sizes)
	}
}
