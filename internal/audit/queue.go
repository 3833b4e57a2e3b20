package audit

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

const (
	// maxBatchLines and maxBatchBytes bound the lines that a sink gets at a time.
	maxBatchLines = 500
	maxBatchBytes = 1 << 20
	// minRetryDelay and maxRetryDelay bound the wait after a failure.
	minRetryDelay = 100 * time.Millisecond
	maxRetryDelay = 15 * time.Second
	// maxSinkTime bounds one call of a sink.
	maxSinkTime = 30 * time.Second
	// maxStuckTime is how long the end of a worker waits for a call whose context has ended.
	// A write to a pipe that nothing reads does not return.
	maxStuckTime = time.Second
)

// entry is a line with the channel that is closed once it is written, or refused for good.
type entry struct {
	line    Line
	done    chan struct{}
	refused error // set before done is closed
}

// queue passes lines to one sink, in order. It drops what the sink refuses for good alone.
type queue struct {
	sink    Sink
	options Options
	stop    context.CancelFunc
	ended   chan struct{}

	mu      sync.Mutex
	pending []*entry
	// reserved counts the lines that have room and have not come yet.
	reserved int
	failure  error
	closed   bool
	added    chan struct{}
}

func newQueue(sink Sink, options Options) *queue {
	ctx, cancel := context.WithCancel(context.Background())
	q := &queue{sink: sink, options: options, stop: cancel, ended: make(chan struct{}), added: make(chan struct{}, 1)}
	go q.run(ctx)
	return q
}

// add takes a line. Reserved is set for one that has room.
func (q *queue) add(line Line, reserved bool) (*entry, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.closed:
		return nil, fmt.Errorf("%s: the worker stops", q.sink.Name())
	case !reserved && q.full():
		return nil, fmt.Errorf("%s: %d lines are pending already: %w", q.sink.Name(), len(q.pending), q.problemLocked())
	}
	if reserved {
		q.reserved--
	}
	e := &entry{line: line, done: make(chan struct{})}
	q.pending = append(q.pending, e)
	select {
	case q.added <- struct{}{}:
	default:
	}
	return e, nil
}

func (q *queue) full() bool { return len(q.pending)+q.reserved >= q.options.MaxPending }

// reserve keeps room for a line.
func (q *queue) reserve() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.full() {
		return &UnavailableError{fmt.Errorf("%s: %d lines are pending already: %w", q.sink.Name(), len(q.pending), q.problemLocked())}
	}
	q.reserved++
	return nil
}

func (q *queue) release() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.reserved--
}

// problem returns the last failure of the sink.
func (q *queue) problem() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.problemLocked()
}

func (q *queue) problemLocked() error {
	if q.failure != nil {
		return q.failure
	}
	return errors.New("no answer in time")
}

func (q *queue) length() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.pending)
}

// run writes batches until the queue is closed and empty, or ctx ends.
func (q *queue) run(ctx context.Context) {
	defer close(q.ended)
	delay := minRetryDelay
	for {
		batch, closed := q.batch()
		if len(batch) == 0 {
			if closed {
				return
			}
			select {
			case <-q.added:
			case <-ctx.Done():
				return
			}
			continue
		}
		if q.write(ctx, batch) {
			delay = minRetryDelay
			continue
		}
		timer := time.NewTimer(delay/2 + rand.N(delay))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
		delay = min(2*delay, maxRetryDelay)
	}
}

// batch returns the first pending lines, which stay pending.
func (q *queue) batch() (lines []Line, closed bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	size := 0
	for _, e := range q.pending {
		if size += len(e.line.JSON) + 1; len(lines) > 0 && (size > maxBatchBytes || len(lines) >= maxBatchLines) {
			break
		}
		lines = append(lines, e.line)
	}
	return lines, q.closed
}

// write passes a batch to the sink and reports whether it took it.
func (q *queue) write(ctx context.Context, batch []Line) bool {
	bounded, cancel := context.WithTimeout(ctx, maxSinkTime)
	defer cancel()
	err := q.sink.Write(bounded, batch)
	refused, isRefused := errors.AsType[*RefusedError](err)
	if isRefused {
		err = nil // it has the others
	}
	q.mu.Lock()
	first := err != nil && q.failure == nil
	recovered := err == nil && q.failure != nil
	q.failure = err
	if err == nil {
		for _, e := range q.pending[:len(batch)] {
			if isRefused && refused.has(e.line) {
				e.refused = refused.Cause
			}
			close(e.done)
		}
		q.pending = slices.Delete(q.pending, 0, len(batch))
	}
	q.mu.Unlock()
	switch {
	case first:
		q.options.Log.Error("cannot write audit lines; they stay pending and are tried again", "sink", q.sink.Name(), "error", err)
	case recovered:
		q.options.Log.Info("audit lines are written again", "sink", q.sink.Name())
	}
	if err != nil {
		q.options.Count(q.sink.Name(), OutcomeFailed, len(batch))
		return false
	}
	lost := 0
	if isRefused {
		lost = len(refused.Lines)
		refused.Report(q.options.Log, q.options.Count, q.sink.Name())
	}
	q.options.Count(q.sink.Name(), OutcomeWritten, len(batch)-lost)
	return true
}

// close writes what is pending until ctx is done. The rest goes to the log.
func (q *queue) close(ctx context.Context) {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	select {
	case q.added <- struct{}{}:
	default:
	}
	select {
	case <-q.ended:
	case <-ctx.Done():
	}
	q.stop()
	timer := time.NewTimer(maxStuckTime)
	defer timer.Stop()
	returned := true
	select {
	case <-q.ended:
	case <-timer.C:
		returned = false
	}
	q.mu.Lock()
	left := slices.Clone(q.pending)
	q.mu.Unlock()
	for _, e := range left {
		q.options.Count(q.sink.Name(), OutcomeLost, 1)
		q.options.Log.Error("an audit line is lost", "sink", q.sink.Name(), "line", string(e.line.JSON))
	}
	if !returned {
		q.options.Log.Warn("an audit sink does not return; it stays open", "sink", q.sink.Name())
		return
	}
	if err := q.sink.Close(); err != nil {
		q.options.Log.Warn("cannot close an audit sink", "sink", q.sink.Name(), "error", err)
	}
}
