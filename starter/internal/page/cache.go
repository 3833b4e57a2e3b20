package page

import (
	"context"
	"sync"
	"time"

	"github.com/armature-io/armature/internal/audit"
	"github.com/armature-io/armature/starter/internal/backend"
)

const (
	// resourceEvery is how old the state of a resource on its own page may be.
	resourceEvery = 4 * time.Second
	// resourceTimeout bounds one reading of it.
	resourceTimeout = 20 * time.Second
	// maxResources bounds the resources that are kept for further looks.
	maxResources = 100
)

// resources keeps the states of the resources whose pages are open, shared by all browsers.
type resources struct {
	options Options
	estate  *estate

	mu    sync.Mutex
	known map[string]*watched
}

// watched is a resource whose page is open.
type watched struct {
	mu     sync.Mutex
	readAt time.Time
	view   backend.View
	err    error
	// history is that of historyOf; begin says where it begins.
	history   []audit.Record
	begin     string
	historyOf runLength

	bodies bodiesReading
}

// runLength identifies a state of a history: it changes with each event.
type runLength struct {
	runID  string
	events int64
}

func newResources(options Options, estate *estate) *resources {
	return &resources{options: options, estate: estate, known: map[string]*watched{}}
}

// of returns the entry of a resource. If there are too many, all are read again.
func (r *resources) of(workflowID string) *watched {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known[workflowID] == nil {
		if len(r.known) >= maxResources {
			clear(r.known)
		}
		r.known[workflowID] = &watched{}
	}
	return r.known[workflowID]
}

// view returns the state of a resource, from its workflow. listed is what the lists know. While
// Temporal does not answer the lists, it is not asked: the last state stays, at least that of
// the lists.
func (r *resources) view(ctx context.Context, listed backend.Record, state *snapshot) (backend.View, time.Time, error) {
	w := r.of(listed.WorkflowID)
	w.mu.Lock()
	defer w.mu.Unlock()
	if state.err == nil {
		r.refresh(ctx, w, listed)
		return w.view, w.readAt, w.err
	}
	if _, known := state.byID[listed.WorkflowID]; known && w.readAt.IsZero() {
		return backend.ListedView(listed), state.readAt, state.err
	}
	return w.view, w.readAt, state.err
}

// refresh reads a state that is too old. After an error, an older state stays. The caller
// holds the lock of w.
func (r *resources) refresh(ctx context.Context, w *watched, listed backend.Record) {
	now := r.options.Now()
	if now.Sub(w.readAt) < resourceEvery && w.err == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, resourceTimeout)
	defer cancel()
	earlier := w.view
	if w.readAt.IsZero() {
		earlier.Stale = true
	}
	view, err := (&backend.Viewer{Reader: r.options.Reader}).RefreshFrom(ctx, listed, earlier)
	if w.err = err; err == nil {
		w.view, w.readAt = view, now
	}
}

// history returns the requests and writes of a resource, read again if it has new events.
func (r *resources) history(ctx context.Context, listed backend.Record, state *snapshot) ([]audit.Record, string, error) {
	w := r.of(listed.WorkflowID)
	w.mu.Lock()
	defer w.mu.Unlock()
	if state.err != nil {
		if w.historyOf.events > 0 {
			return w.history, w.begin, nil
		}
		return nil, "", state.err
	}
	r.refresh(ctx, w, listed)
	length := runLength{runID: w.view.Record.RunID, events: w.view.Record.Events}
	if length.events > 0 && length == w.historyOf {
		return w.history, w.begin, nil
	}
	records, begin, err := r.options.History(ctx, listed.WorkflowID)
	if err != nil {
		return nil, "", err
	}
	w.history, w.begin, w.historyOf = records, begin, length
	return records, begin, nil
}
