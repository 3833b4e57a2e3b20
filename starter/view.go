package main

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// parallel bounds the calls that are under way at one time.
const parallel = 8

// silentQueries is after how many unanswered queries in a row the rest is read
// from search attributes at once: each would take the query's whole timeout.
const silentQueries = parallel

// view is the state of one resource as the CLI shows it.
type view struct {
	workflows.Status
	// Stale says that no worker answered: the status comes from search
	// attributes and memo, without times and messages.
	Stale bool
	// Gone says that no workflow runs any more; Ended how it ended, "" when the
	// server knows none.
	Gone  bool
	Ended string
	// known is the record from which the view was made.
	known record
}

// called is the name for people.
func (v view) called() string {
	if !v.ID.IsZero() {
		return v.ID.Short()
	}
	return v.Name
}

// condition is what to show of where the resource stands. The stored condition
// speaks of the last pass that ended; while an operation changes or deletes what
// was Ready, or a deletion has just begun, that would read as if nothing went on.
func (v view) condition(now time.Time) resource.Condition {
	c := v.Condition
	if v.Stale && !v.Gone && v.known.Stuck != "" {
		c.Message = v.known.Stuck
	}
	if v.Gone || v.Stale || !c.Ready && !v.Deleting {
		return c
	}
	switch {
	case v.Operation != "":
		c.Message = "its " + v.Operation + " goes on in Azure since " + clock(v.OperationSince, now)
		c.Reason, c.LastTransitionTime = resource.ReasonReconciling, v.OperationSince
	case c.Ready && v.Deleting:
		c.Message, c.LastTransitionTime = "a deletion was asked for", time.Time{}
	default:
		return c
	}
	c.Ready = false
	if v.Deleting {
		c.Reason = resource.ReasonDeleting
	}
	return c
}

// nextTry is when a next pass comes by itself; the zero time where none does or
// where the end of an operation decides.
func (v view) nextTry() time.Time {
	if v.Gone || v.Operation != "" || v.Deleting && v.Condition.Ready {
		return time.Time{}
	}
	return v.NextTry
}

// detached reports whether the workflow ended and left the resource in Azure.
func (v view) detached() bool {
	return v.Gone && v.Condition.Reason == resource.ReasonDetached
}

// viewer asks workflows for their status and remembers when nobody answers.
type viewer struct {
	reader reader
	// patience is after how many silent workflows in a row nobody is asked any
	// more; 0 = silentQueries.
	patience int32
	silent   atomic.Int32
}

// view is the state of one resource from a fresh record.
func (w *viewer) view(ctx context.Context, r record) (view, error) {
	v := view{Status: r.status(), known: r}
	if !r.Running {
		v.Stale, v.Gone, v.Ended = r.Final == nil, true, r.Ended
		return v, nil
	}
	v.Stale = true
	if r.Stuck != "" || !w.asks() {
		return v, nil
	}
	status, err := w.reader.status(ctx, r.WorkflowID)
	var noWorker *noWorkerError
	switch {
	case errors.As(err, &noWorker):
		w.silent.Add(1)
		return v, nil
	case errors.Is(err, errNotManaged):
		v.Gone = true
		return v, nil
	case err != nil:
		return view{}, err
	}
	w.silent.Store(0)
	v.Stale = false
	// Without an ID the workflow has not taken its first message yet.
	if !status.ID.IsZero() {
		v.Status = status
	}
	return v, nil
}

// refresh is the state of one resource, its record read again.
func (w *viewer) refresh(ctx context.Context, last record) (view, error) {
	return w.follow(ctx, last, view{Stale: true})
}

// follow is refresh for who knows an earlier view: the worker is asked only when
// something happened since, for its answer would be the same.
func (w *viewer) follow(ctx context.Context, last record, seen view) (view, error) {
	r, err := w.reader.record(ctx, last.WorkflowID)
	if errors.Is(err, errNotManaged) {
		return view{Status: last.status(), Gone: true, known: last}, nil
	}
	if err != nil {
		return view{}, err
	}
	if r.ID.IsZero() {
		r.ID = last.ID
	}
	if !seen.Stale && r.unmoved(seen.known) {
		seen.known = r
		return seen, nil
	}
	return w.view(ctx, r)
}

// views are the states of many, in order.
func (w *viewer) views(ctx context.Context, records []record) ([]view, error) {
	return w.all(ctx, records, w.listed)
}

// listed is the state of one resource from a list. A list tells late that a
// workflow task fails, so where nobody answers, the description is read too.
func (w *viewer) listed(ctx context.Context, r record) (view, error) {
	asks := w.asks()
	v, err := w.view(ctx, r)
	if err != nil || !asks || !v.Stale || v.Gone || v.known.Stuck != "" {
		return v, err
	}
	if fresh, err := w.reader.record(ctx, r.WorkflowID); err == nil && fresh.Stuck != "" {
		w.silent.Add(-1)
		v.known.Stuck = fresh.Stuck
	}
	return v, nil
}

// asks reports whether workflows are still asked.
func (w *viewer) asks() bool { return w.silent.Load() < cmp.Or(w.patience, silentQueries) }

// described are the states of a few, their records read again: only the
// description of a workflow tells of a workflow task that fails since a short
// time, and of an activity's next try.
func (w *viewer) described(ctx context.Context, records []record) ([]view, error) {
	return w.all(ctx, records, w.refresh)
}

func (w *viewer) all(ctx context.Context, records []record, look func(context.Context, record) (view, error)) ([]view, error) {
	views := make([]view, len(records))
	err := each(ctx, len(records), parallel, func(ctx context.Context, i int) error {
		var err error
		views[i], err = look(ctx, records[i])
		return err
	})
	return views, err
}

// each runs do for 0 to n-1 in order, at most limit at a time. After the first
// error nothing more is begun and what runs is interrupted; that error is
// returned.
func each(parent context.Context, n, limit int, do func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	slots := make(chan struct{}, limit)
	var running sync.WaitGroup
	for i := range n {
		slots <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		running.Add(1)
		go func() {
			defer running.Done()
			if err := do(ctx, i); err != nil {
				cancel(err)
			}
			<-slots
		}()
	}
	running.Wait()
	if parent.Err() != nil {
		return errInterrupted
	}
	return context.Cause(ctx)
}
