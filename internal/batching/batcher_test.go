package batching

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestBatcherGrows checks that later calls join a batch that waits for its slot.
func TestBatcherGrows(t *testing.T) {
	t.Parallel()
	slots, waiting := make(chan struct{}), make(chan struct{}, 10)
	var mu sync.Mutex
	var sizes []int
	c := Batcher[int, int]{
		Delay: time.Millisecond, MaxCalls: 100,
		Slot: func(context.Context) error { waiting <- struct{}{}; <-slots; return nil },
		Run: func(_ context.Context, in []int) ([]int, error) {
			mu.Lock()
			defer mu.Unlock()
			sizes = append(sizes, len(in))
			return slices.Clone(in), nil
		},
	}
	var calls sync.WaitGroup
	call := func(i int) {
		calls.Go(func() {
			if got, err := c.Do(t.Context(), i); got != i || err != nil {
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

func TestBatcher(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		sizes := map[int]int{}
		c := Batcher[int, string]{Delay: time.Second, MaxCalls: 3, Run: func(_ context.Context, in []int) ([]string, error) {
			mu.Lock()
			sizes[len(in)]++
			mu.Unlock()
			out := make([]string, len(in))
			for i, n := range in {
				out[i] = fmt.Sprint("result ", n)
			}
			<-time.After(time.Minute) // in fake time, a slow batch
			return out, nil
		}}
		ctx, cancel := context.WithTimeoutCause(t.Context(), 10*time.Second, fmt.Errorf("the worker stops"))
		defer cancel()
		var all sync.WaitGroup
		for n := range 4 {
			all.Go(func() {
				got, err := c.Do(t.Context(), n)
				if err != nil || got != fmt.Sprint("result ", n) {
					t.Errorf("call %d got %q, %v; want its own result", n, got, err)
				}
			})
			synctest.Wait()
		}
		all.Go(func() {
			if _, err := c.Do(ctx, 4); err == nil || !strings.Contains(err.Error(), "the worker stops") {
				t.Errorf("the canceled caller got %v, want its own cause", err)
			}
		})
		all.Wait()
		if diff := cmp.Diff(map[int]int{3: 1, 2: 1}, sizes); diff != "" {
			t.Errorf("want a batch of three, which is the bound, and one of two, which the canceled call did not cancel; sizes (-want +got):\n%s", diff)
		}
		// A call during a running batch is part of the next one.
		if got, err := c.Do(t.Context(), 5); err != nil || got != "result 5" {
			t.Errorf("a later call got %q, %v", got, err)
		}
	})
}

// TestAwaited checks that questions about several resources are one list.

// TestSerial checks that one batch is in flight at a time, that the first call waits for no
// others, and that the next batch has all calls that came meanwhile, within the maximum.
func TestSerial(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var sizes []int
		running := 0
		b := Serial(4, func(_ context.Context, in []int) ([]int, error) {
			if running++; running > 1 {
				t.Errorf("%d batches in flight", running)
			}
			<-time.After(time.Second)
			running--
			sizes = append(sizes, len(in))
			return slices.Clone(in), nil
		})
		begun := time.Now()
		var calls sync.WaitGroup
		call := func(i int) {
			calls.Go(func() {
				if got, err := b.Do(t.Context(), i); got != i || err != nil {
					t.Errorf("call %d got %d, %v", i, got, err)
				}
			})
		}
		call(0)
		synctest.Wait()
		for i := range 6 {
			call(i + 1)
		}
		calls.Wait()
		slices.Sort(sizes[1:]) // the batches that wait take turns in any order
		if diff := cmp.Diff([]int{1, 2, 4}, sizes); diff != "" || time.Since(begun) != 3*time.Second {
			t.Errorf("after %s batches of (-want +got):\n%s", time.Since(begun), diff)
		}
	})
}
