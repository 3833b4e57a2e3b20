package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// Bounds of a chain of causes, so that its answer is one screen and its cost is
// a few seconds.
const (
	chainDepth   = 12
	chainBreadth = 4
	chainLooks   = 48
	// chainPatience is after how many silent workflows no other one is asked.
	chainPatience = 2
)

// chain follows what a resource waits for, to the roots. It asks each workflow
// once, and needs a list only where no worker answers.
type chain struct {
	viewer    *viewer
	taskQueue string
	now       time.Time
	// running are the managed resources by key, once they were needed.
	running map[string]record
	list    func(ctx context.Context) ([]record, error)
	// seen are the links that were followed already, by ID.
	seen  map[string]*link
	looks int
}

func newChain(a *app, b *backend) *chain {
	return &chain{
		viewer: &viewer{reader: b, patience: chainPatience}, taskQueue: a.taskQueue, now: a.now(),
		list: func(ctx context.Context) ([]record, error) { return b.running(ctx, "") },
	}
}

// follow is the chain of one resource. Each starts anew with what it knows, but
// not with what it has seen.
func (c *chain) follow(ctx context.Context, r record) (*link, error) {
	c.seen, c.looks = map[string]*link{}, 0
	return c.walk(ctx, r, nil)
}

// walk is the link of one resource and of what it waits for. above are the
// links that wait for it, the nearest last.
func (c *chain) walk(ctx context.Context, r record, above []*link) (*link, error) {
	c.looks++
	v, err := c.viewer.refresh(ctx, r)
	if err != nil {
		return nil, err
	}
	if v.ID.IsZero() {
		v.ID = r.ID
	}
	l := linkOf(v, c.taskQueue, c.now)
	c.seen[l.ID.Key()] = l
	if !l.waits(v) || len(above) > 0 && above[len(above)-1].holdsUp(l) {
		return l, nil
	}
	targets, unknown, err := c.targets(ctx, v)
	if err != nil {
		return nil, err
	}
	above = append(slices.Clone(above), l)
	for i, id := range targets {
		if i == chainBreadth {
			l.More = len(targets) - i
			break
		}
		next, err := c.next(ctx, id, above)
		if err != nil {
			return nil, err
		}
		next.seenBy(l, c.now)
		l.WaitsFor = append(l.WaitsFor, next)
	}
	l.More += unknown
	if len(l.WaitsFor) > 0 {
		l.Todo = ""
	}
	return l, nil
}

// waits reports whether what the resource waits for holds it up; a pause, an
// operation and the end of a workflow come before that.
func (l *link) waits(v view) bool {
	return !v.Gone && !l.Clear && v.Operation == "" && (v.Deleting || !v.Paused && v.Phase != workflows.PhasePaused)
}

// holdsUp reports whether other holds up the deletion of l because nobody
// deletes it: then it does not matter what it waits for itself.
func (l *link) holdsUp(other *link) bool {
	return holdsDeletion(l.Reason) && !other.deleting
}

// holdsDeletion reports whether a deletion with this reason waits for others to
// go, or to be released.
func holdsDeletion(reason resource.Reason) bool {
	return reason == resource.ReasonWaitingForDependents || reason == resource.ReasonContainsProtected
}

// targets are what a view waits for; unknown counts what only a key tells of.
func (c *chain) targets(ctx context.Context, v view) (ids []resource.ID, unknown int, err error) {
	if !v.Stale {
		return v.WaitingFor, 0, nil
	}
	for _, key := range v.known.WaitingFor {
		id, err := c.byKey(ctx, v.ID, key)
		switch {
		case err != nil:
			return nil, 0, err
		case id.IsZero():
			unknown++
		default:
			ids = append(ids, id)
		}
	}
	return ids, unknown, nil
}

// byKey is the ID behind a key: the resource itself, one of its owners, or
// something else that is managed; none where nobody knows.
func (c *chain) byKey(ctx context.Context, self resource.ID, key string) (resource.ID, error) {
	for id := self; !id.IsZero(); id = id.Owner() {
		if workflows.WaitingKey(id) == key {
			return id, nil
		}
	}
	if c.running == nil {
		records, err := c.list(ctx)
		if err != nil {
			return resource.ID{}, err
		}
		c.running = byWaitingKey(records)
	}
	return c.running[key].ID, nil
}

// byWaitingKey finds records by the key with which others wait for them.
func byWaitingKey(records []record) map[string]record {
	found := make(map[string]record, len(records))
	for _, r := range records {
		if !r.ID.IsZero() {
			found[workflows.WaitingKey(r.ID)] = r
		}
	}
	return found
}

// next is the link of what the last of above waits for.
func (c *chain) next(ctx context.Context, id resource.ID, above []*link) (*link, error) {
	waiter := above[len(above)-1]
	for i, l := range above {
		if !l.ID.Equal(id) {
			continue
		}
		if waiter.holdsUp(l) {
			return &link{ID: l.ID, Name: l.Name, State: l.State, Since: l.Since}, nil
		}
		return &link{ID: l.ID, Name: l.Name, State: l.State, Cycle: names(above[i:]), deleting: waiter.deleting}, nil
	}
	if known := c.seen[id.Key()]; known != nil {
		again := *known
		again.WaitsFor, again.More, again.Cut = nil, 0, "see above"
		return &again, nil
	}
	if len(above) >= chainDepth || c.looks >= chainLooks {
		return &link{ID: id, Name: id.Short(), Cut: "`armature why " + id.Short() + "` goes on from here"}, nil
	}
	return c.walk(ctx, await(id).record, above)
}

func names(links []*link) []string {
	list := make([]string, len(links))
	for i, l := range links {
		list[i] = l.Name
	}
	return list
}

// roots are the ends of a chain, each once, in the order of the chain. Of those
// that hold a deletion up because nobody deletes them, the first stands for all.
func (l *link) roots() []*link {
	var found []*link
	known := map[string]bool{}
	alike := map[string]*link{}
	var visit func(l *link)
	visit = func(l *link) {
		for _, next := range l.WaitsFor {
			visit(next)
		}
		key := fmt.Sprint(l.ID.Key(), l.Cycle)
		if len(l.WaitsFor) > 0 || l.Cut != "" || l.Clear || known[key] {
			return
		}
		known[key] = true
		if first := alike[l.waiter]; first != nil && l.undeleted {
			first.Alike++
			return
		}
		if l.undeleted {
			alike[l.waiter] = l
		}
		found = append(found, l)
	}
	visit(l)
	return found
}

// whyRecord is the record from which a chain starts: a name, or an ID that may
// be managed or not.
func (b *backend) whyRecord(ctx context.Context, name string) (record, error) {
	if !strings.HasPrefix(name, "/") {
		records, err := b.targets(ctx, selection{names: []string{name}})
		if err != nil {
			return record{}, err
		}
		return records[0], nil
	}
	id, err := resource.ParseID(name)
	if err != nil {
		return record{}, badInput("%w", err)
	}
	r, err := b.record(ctx, id.WorkflowID())
	if errors.Is(err, errNotManaged) {
		return await(id).record, nil
	}
	return r, err
}
