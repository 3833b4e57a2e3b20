package page

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/armature-io/armature/internal/searchattr"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/workflows"
)

// How old each part of the lists may be before a page asks for it again. Without a visible
// page nothing asks.
const (
	changesEvery = 5 * time.Second
	allEvery     = 5 * time.Minute
	aroundEvery  = 30 * time.Second
	// overlap is how far the changes reach back before the last list: visibility is behind by
	// seconds, and clocks differ.
	overlap = 30 * time.Second
	// firstPatience and patience are how long a page waits for lists: without any, and with
	// older ones to show.
	firstPatience = 30 * time.Second
	patience      = 1500 * time.Millisecond
	readTimeout   = time.Minute
)

// runningQuery lists managed resources.
const runningQuery = "WorkflowType = '" + workflows.ReconcileResourceWorkflow + "' AND ExecutionStatus = 'Running'"

// changesQuery returns the query for workflows that began, ended, or changed their phase or
// reason since a time.
func changesQuery(since time.Time) string {
	at := "'" + since.UTC().Format(time.RFC3339) + "'"
	return "WorkflowType = '" + workflows.ReconcileResourceWorkflow + "' AND ExecutionStatus != 'ContinuedAsNew' AND (" +
		searchattr.ReconcileSince + " >= " + at + " OR StartTime >= " + at + " OR CloseTime >= " + at + ")"
}

// snapshot is the state of all resources at one time. It answers like a Reader, without a
// request, so that the engine of `why` works on it. It never changes.
type snapshot struct {
	// records are sorted by name.
	records []backend.Record
	byID    map[string]backend.Record
	byKey   map[string]backend.Record
	freezes []workflows.Freeze
	// freezesInterrupted: a run that keeps the freezes was terminated. They last all the same.
	freezesInterrupted bool
	workers            []backend.Poller
	taskQueue          string
	// readAt is when the lists were read; err is why they are not newer, nil if they are.
	readAt time.Time
	err    error
}

// Status returns what the list knows of a resource, with the names of what it waits for.
func (s *snapshot) Status(_ context.Context, workflowID string) (workflows.Status, error) {
	r, known := s.byID[workflowID]
	if !known {
		return workflows.Status{}, backend.ErrNotManaged
	}
	return s.status(r), nil
}

func (s *snapshot) status(r backend.Record) workflows.Status {
	status := r.Status()
	for _, key := range r.WaitingFor {
		if id := s.idOf(r, key); !id.IsZero() {
			status.WaitingFor = append(status.WaitingFor, id)
		}
	}
	return status
}

// idOf returns the ID behind a key with which a resource names another one; zero if it is not
// managed and no owner.
func (s *snapshot) idOf(r backend.Record, key string) resource.ID {
	if other, known := s.byKey[key]; known {
		return other.ID
	}
	for id := r.ID; !id.IsZero(); id = id.Owner() {
		if workflows.WaitingKey(id) == key {
			return id
		}
	}
	return resource.ID{}
}

// Record returns the record of a resource.
func (s *snapshot) Record(_ context.Context, workflowID string) (backend.Record, error) {
	r, known := s.byID[workflowID]
	if !known {
		return backend.Record{}, backend.ErrNotManaged
	}
	return r, nil
}

// List returns all records: callers filter them.
func (s *snapshot) List(context.Context, string) ([]backend.Record, error) {
	return slices.Clone(s.records), nil
}

// Polled reports whether a worker polls a task queue, or whether that is unknown.
func (s *snapshot) Polled(_ context.Context, taskQueue string) bool {
	return taskQueue != s.taskQueue || len(s.workers) > 0
}

// estate keeps the lists that all browsers share. A look at lists that are too old starts one
// reading of them.
type estate struct {
	reader    backend.Reader
	fleet     Fleet
	taskQueue string
	now       func() time.Time

	mu   sync.Mutex
	last *snapshot
	// reading is closed when the reading that runs has ended; nil if none runs.
	reading chan struct{}
	// nextAll to nextAround are when each part is due.
	nextAll, nextChanges, nextAround time.Time
	// listedAt is when the last list that succeeded was requested.
	listedAt time.Time

	endings endings
}

func newEstate(options Options) *estate {
	return &estate{reader: options.Reader, fleet: options.Fleet, taskQueue: options.TaskQueue, now: options.Now}
}

// look returns the newest lists. If they cannot be read in time, it returns older ones, and
// before there are any, an empty snapshot with the error.
func (e *estate) look(ctx context.Context) *snapshot {
	e.mu.Lock()
	now := e.now()
	if e.reading == nil && (!now.Before(e.nextAll) || !now.Before(e.nextChanges) || !now.Before(e.nextAround)) {
		e.reading = make(chan struct{})
		go e.read(context.WithoutCancel(ctx), now)
	}
	reading, wait := e.reading, patience
	if e.last == nil {
		wait = firstPatience
	}
	e.mu.Unlock()
	if reading != nil {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-reading:
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.last == nil {
		return &snapshot{taskQueue: e.taskQueue, err: errNotYet}
	}
	return e.last
}

// read reads what is due and replaces the snapshot. Only one read runs at a time.
func (e *estate) read(ctx context.Context, now time.Time) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	e.mu.Lock()
	next := snapshot{taskQueue: e.taskQueue}
	if e.last != nil {
		next = *e.last
	}
	all, changes, around := !now.Before(e.nextAll), !now.Before(e.nextChanges), !now.Before(e.nextAround)
	since := e.listedAt
	e.mu.Unlock()

	sent := backend.Lists(e.reader)
	err := e.readInto(ctx, &next, all, around, since)
	lists := time.Duration(max(1, backend.Lists(e.reader)-sent))

	e.mu.Lock()
	defer e.mu.Unlock()
	// A list of many pages is repeated as much later, so that requests stay as rare.
	e.nextChanges = now.Add(lists * changesEvery)
	switch {
	case err != nil:
		e.nextAll, e.nextAround = later(e.nextAll, e.nextChanges), later(e.nextAround, e.nextChanges)
		next.err = err
	default:
		next.err = nil
		if all {
			e.nextAll, e.nextChanges = now.Add(allEvery), now.Add(changesEvery)
		}
		if around {
			e.nextAround = now.Add(aroundEvery)
		}
		if all || changes {
			e.listedAt, next.readAt = now, now
		}
	}
	e.last = &next
	close(e.reading)
	e.reading = nil
}

// maxEndings bounds the begins whose ended workflows are kept.
const maxEndings = 16

// endings are the workflows that ended since a time, by that time as an address has it.
type endings struct {
	mu    sync.Mutex
	known map[string]ending
}

type ending struct {
	readAt  time.Time
	records []backend.Record
	err     error
}

// endedQuery returns the query for workflows that ended since a time.
func endedQuery(since time.Time) string {
	return "WorkflowType = '" + workflows.ReconcileResourceWorkflow + "' AND ExecutionStatus != 'Running' AND ExecutionStatus != 'ContinuedAsNew' AND CloseTime >= '" +
		since.UTC().Format(time.RFC3339) + "'"
}

// endedSince returns the last runs of the workflows that ended since a time, read at most once
// in aroundEvery for all browsers, and never while state has an error. With an error it returns
// the older ones, if there are any.
func (e *estate) endedSince(ctx context.Context, state *snapshot, stated string, since time.Time) ([]backend.Record, error) {
	e.endings.mu.Lock()
	defer e.endings.mu.Unlock()
	now := e.now()
	last := e.endings.known[stated]
	if state.err != nil {
		return last.records, state.err
	}
	if !last.readAt.IsZero() && now.Sub(last.readAt) < aroundEvery {
		return last.records, last.err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), resourceTimeout)
	defer cancel()
	records, err := e.reader.List(ctx, endedQuery(since))
	if err == nil {
		last.records = newestRuns(records)
	}
	last.readAt, last.err = now, err
	if len(e.endings.known) >= maxEndings || e.endings.known == nil {
		e.endings.known = map[string]ending{}
	}
	e.endings.known[stated] = last
	return last.records, err
}

// newestRuns returns the last run of each workflow.
func newestRuns(records []backend.Record) []backend.Record {
	newest := map[string]backend.Record{}
	for _, r := range records {
		if other, known := newest[r.WorkflowID]; !known || other.Started.Before(r.Started) {
			newest[r.WorkflowID] = r
		}
	}
	return slices.Collect(maps.Values(newest))
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// readInto replaces the parts of a snapshot that are due.
func (e *estate) readInto(ctx context.Context, next *snapshot, all, around bool, since time.Time) (err error) {
	query := runningQuery
	if !all {
		query = changesQuery(since.Add(-overlap))
	}
	records, err := e.reader.List(ctx, query)
	if err != nil {
		return err
	}
	if !all {
		records = merge(next.records, records)
	}
	next.index(records)
	if !around {
		return nil
	}
	if next.freezes, next.freezesInterrupted, err = e.fleet.Freezes(ctx); err != nil {
		return err
	}
	next.workers, err = e.fleet.Pollers(ctx)
	next.workers = slices.DeleteFunc(next.workers, func(p backend.Poller) bool { return !p.IsLive(e.now()) })
	return err
}

// merge returns records with changed ones in place of their older versions, and without those
// that ended. Of several runs of a workflow the newest counts.
func merge(records, changed []backend.Record) []backend.Record {
	runs, replaced := newestRuns(changed), map[string]bool{}
	for _, r := range runs {
		replaced[r.WorkflowID] = true
	}
	merged := make([]backend.Record, 0, len(records)+len(runs))
	for _, r := range records {
		if !replaced[r.WorkflowID] {
			merged = append(merged, r)
		}
	}
	for _, r := range runs {
		if r.Running {
			merged = append(merged, r)
		}
	}
	return merged
}

// index sets the records of a snapshot.
func (s *snapshot) index(records []backend.Record) {
	records = slices.DeleteFunc(slices.Clone(records), func(r backend.Record) bool { return !r.IsManaged() })
	slices.SortFunc(records, func(a, b backend.Record) int {
		return cmp.Or(strings.Compare(a.DisplayName(), b.DisplayName()), strings.Compare(a.WorkflowID, b.WorkflowID))
	})
	s.records = records
	s.byID, s.byKey = make(map[string]backend.Record, len(records)), make(map[string]backend.Record, len(records))
	for _, r := range records {
		s.byID[r.WorkflowID] = r
		s.byKey[r.Key()] = r
	}
}
