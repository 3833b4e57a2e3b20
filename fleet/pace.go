package fleet

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"golang.org/x/time/rate"
)

// maxWorkersAge is the age at which the live workers are counted again.
const maxWorkersAge = time.Minute

// pace shares the list requests per second of the fleet between its live workers.
type pace struct {
	limiter *rate.Limiter
	// total is the maximum of all workers together.
	total float64

	mu      sync.Mutex
	counted time.Time
}

func newPace(total float64) *pace {
	return &pace{limiter: rate.NewLimiter(rate.Limit(total), 2), total: total}
}

// awaitList waits until this worker may send a list request. While one call counts the live
// workers, the others keep the last number.
func (f *Fleet) awaitList(ctx context.Context) error {
	f.lists.mu.Lock()
	now := time.Now()
	due := now.Sub(f.lists.counted) >= maxWorkersAge
	if due {
		f.lists.counted = now
	}
	f.lists.mu.Unlock()
	if due {
		if n := f.liveWorkers(ctx); n > 0 {
			f.lists.limiter.SetLimit(rate.Limit(f.lists.total / float64(n)))
		}
	}
	if err := f.lists.limiter.Wait(ctx); err != nil {
		// The limiter does not wait at all for what comes after the deadline.
		return fmt.Errorf("wait for worker.lists-per-second: %w", cmp.Or(ctx.Err(), context.DeadlineExceeded))
	}
	return nil
}

// liveWorkers returns the number of workers that poll the task queue, 0 if it is unknown.
func (f *Fleet) liveWorkers(ctx context.Context) int {
	described, err := f.temporal.DescribeTaskQueue(ctx, f.options.TaskQueue, enumspb.TASK_QUEUE_TYPE_WORKFLOW)
	if err != nil {
		return 0
	}
	return countLive(described.GetPollers())
}

// countLive returns the number of processes among pollers.
func countLive(pollers []*taskqueuepb.PollerInfo) int { return len(livePollers(pollers)) }
