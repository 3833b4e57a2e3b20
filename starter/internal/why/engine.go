// Package why finds out why resources are not Ready. It builds a graph of what waits
// for what from search attributes and queries workflows only for the details that it
// shows. It writes nothing and knows no flags.
package why

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/workflows"
)

// Bounds of a chain, so that it fits on a screen and costs a few seconds.
const (
	maxDepth   = 12
	maxBreadth = 4
	maxQueries = 48
	// maxUnanswered is the number of failed queries after which no other workflow
	// is queried.
	maxUnanswered = 2
)

// Sources are the parts of Temporal that an engine reads.
type Sources struct {
	backend.Reader
	// Freezes returns the freezes in force; nil if there are none to read.
	Freezes func(ctx context.Context) ([]workflows.Freeze, error)
	// Stranded returns why the worker version of a record gets no worker, and the command that
	// mends it; "" if a version is not the cause.
	Stranded func(ctx context.Context, r backend.Record) (message, advice string)
}

// Engine finds causes.
type Engine struct {
	reader    backend.Reader
	sources   Sources
	viewer    *backend.Viewer
	taskQueue string
	now       time.Time
	// graph has the managed resources by the key with which others wait for them,
	// nil until it is needed.
	graph map[string]backend.Record
	// frozen are the freezes in force, once areFreezesRead.
	frozen         []workflows.Freeze
	areFreezesRead bool
	// served has the task queues of which it is known whether a worker polls them.
	served map[string]bool
}

// New returns an engine that shows ages and times from now. taskQueue is shown for
// resources without a known queue.
func New(sources Sources, taskQueue string, now time.Time) *Engine {
	return &Engine{
		reader: sources.Reader, sources: sources, viewer: &backend.Viewer{Reader: sources.Reader, MaxUnanswered: maxUnanswered}, taskQueue: taskQueue, now: now,
		served: map[string]bool{},
	}
}

// Chain is the chain of one resource and its root causes.
type Chain struct {
	*Link
	Roots []RootCause `json:"roots"`
}

// RootCause is one end of a chain and the sentence about it.
type RootCause struct {
	*Link
	Text string `json:"text"`
}

// IsManaged reports whether the first resource of the chain was ever applied.
func (c Chain) IsManaged() bool { return c.State != stateNotManaged }

// Chain returns the chain of a resource, by its name or its ID.
func (e *Engine) Chain(ctx context.Context, name string) (Chain, error) {
	r, err := e.start(ctx, name)
	if err != nil {
		return Chain{}, err
	}
	w := walk{Engine: e, queries: true, visited: map[string]*Link{}}
	l, err := w.follow(ctx, r, nil)
	if err != nil {
		return Chain{}, err
	}
	chain := Chain{Link: l, Roots: []RootCause{}}
	for _, root := range l.roots() {
		chain.Roots = append(chain.Roots, RootCause{Link: root, Text: rootText(root, " ", e.now)})
	}
	return chain, nil
}

// start returns the record from which a chain starts. An ID need not be managed.
func (e *Engine) start(ctx context.Context, name string) (backend.Record, error) {
	if !strings.HasPrefix(name, "/") {
		records, err := backend.Targets(ctx, e.reader, backend.Selection{Names: []string{name}})
		if err != nil {
			return backend.Record{}, err
		}
		return records[0], nil
	}
	id, err := resource.ParseID(name)
	if err != nil {
		return backend.Record{}, cli.BadInput("%w", err)
	}
	r, err := e.reader.Record(ctx, id.WorkflowID())
	if errors.Is(err, backend.ErrNotManaged) {
		return backend.RecordOf(id), nil
	}
	return r, err
}

// walk follows one chain. With queries it queries workflows and stays within the
// bounds of a screen; without, it follows the graph to all ends.
type walk struct {
	*Engine
	queries bool
	// visited has the links of this chain by key.
	visited map[string]*Link
}

// follow returns the link of a resource and of everything that it waits for.
// waiters are the links that wait for it, the nearest last.
func (w *walk) follow(ctx context.Context, r backend.Record, waiters []*Link) (*Link, error) {
	v, err := w.view(ctx, r)
	if err != nil {
		return nil, err
	}
	l := w.link(ctx, v)
	w.visited[l.key] = l
	if !l.follows(v) || len(waiters) > 0 && waiters[len(waiters)-1].isBlockedBy(l) {
		return l, nil
	}
	targets, err := w.targets(ctx, v)
	if err != nil {
		return nil, err
	}
	waiters = append(slices.Clone(waiters), l)
	for i, target := range targets {
		if w.queries && i == maxBreadth {
			l.More += len(targets) - i
			break
		}
		if w.queries && target.ID.IsZero() {
			l.More++
			continue
		}
		next, err := w.next(ctx, target, waiters)
		if err != nil {
			return nil, err
		}
		next.addWaiter(l, w.now)
		l.WaitsFor = append(l.WaitsFor, next)
	}
	if len(l.WaitsFor) > 0 {
		l.Advice = ""
	}
	return l, nil
}

// view returns the state of a resource: from its workflow, or without queries from
// the record alone.
func (w *walk) view(ctx context.Context, r backend.Record) (backend.View, error) {
	if !w.queries {
		v := backend.View{Status: r.Status(), Record: r, Stale: r.Obstacle() != ""}
		v.Deleting = r.Phase == workflows.PhaseDeleting
		return v, nil
	}
	v, err := w.viewer.Refresh(ctx, r)
	if v.ID.IsZero() {
		v.ID = r.ID
	}
	return v, err
}

// targets returns the records of what a view waits for. A record without an ID has
// only the key as its workflow ID.
func (w *walk) targets(ctx context.Context, v backend.View) ([]backend.Record, error) {
	var targets []backend.Record
	if w.queries && !v.Stale {
		for _, id := range v.WaitingFor {
			targets = append(targets, backend.RecordOf(id))
		}
		return targets, nil
	}
	for _, key := range v.Record.WaitingFor {
		r, err := w.byKey(ctx, v.ID, key)
		if err != nil {
			return nil, err
		}
		targets = append(targets, r)
	}
	return targets, nil
}

// byKey returns the record behind a key: of the resource itself, of one of its
// owners, or of another managed resource. If none has the key, the record has no ID.
func (e *Engine) byKey(ctx context.Context, self resource.ID, key string) (backend.Record, error) {
	if r, known := e.graph[key]; known {
		return r, nil
	}
	for id := self; !id.IsZero(); id = id.Owner() {
		if workflows.WaitingKey(id) == key {
			return backend.RecordOf(id), nil
		}
	}
	if e.graph == nil {
		if err := e.load(ctx); err != nil {
			return backend.Record{}, err
		}
		if r, known := e.graph[key]; known {
			return r, nil
		}
	}
	return backend.Record{WorkflowID: key}, nil
}

// load builds the graph from the list of all managed resources.
func (e *Engine) load(ctx context.Context) error {
	records, err := backend.Running(ctx, e.reader, "")
	if err == nil {
		e.graph = graphOf(records)
	}
	return err
}

func graphOf(records []backend.Record) map[string]backend.Record {
	graph := make(map[string]backend.Record, len(records))
	for _, r := range records {
		graph[r.Key()] = r
	}
	return graph
}

// next returns the link of what the last of waiters waits for.
func (w *walk) next(ctx context.Context, target backend.Record, waiters []*Link) (*Link, error) {
	key, waiter := target.Key(), waiters[len(waiters)-1]
	for i, l := range waiters {
		if l.key != key {
			continue
		}
		next := &Link{ID: l.ID, Name: l.Name, State: l.State, key: l.key, record: l.record}
		if waiter.isBlockedBy(l) {
			next.Since = l.Since
			return next, nil
		}
		next.Cycle, next.deleting = linkNames(waiters[i:]), waiter.deleting
		return next, nil
	}
	if known := w.visited[key]; known != nil {
		repeated := *known
		repeated.WaitsFor, repeated.More, repeated.Cut = nil, 0, "see above"
		return &repeated, nil
	}
	if w.queries && (len(waiters) >= maxDepth || len(w.visited) >= maxQueries) {
		return &Link{ID: target.ID, Name: target.ID.Short(), key: key, Cut: "shown by `armature why " + target.ID.Short() + "`"}, nil
	}
	if target.ID.IsZero() || !w.queries && !w.isManaged(key) {
		return &Link{ID: target.ID, Name: target.DisplayName(), State: stateNotManaged, key: key, record: target}, nil
	}
	return w.follow(ctx, target, waiters)
}

func (e *Engine) isManaged(key string) bool {
	_, managed := e.graph[key]
	return managed
}

func linkNames(links []*Link) []string {
	list := make([]string, len(links))
	for i, l := range links {
		list[i] = l.Name
	}
	return list
}
