package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/armature-io/armature/workflows"
)

// causeAsker asks the roots of a stack, and one of those that wait for each.
type causeAsker struct {
	taskQueue string
	now       time.Time
	stack     stack
	viewer    *viewer
	asked     []view
}

// explain finds what a group's cause is; ask allows the few calls that this
// takes.
func (c *causeAsker) explain(ctx context.Context, g *causeGroup, ask bool) (explained, error) {
	e := explained{Count: len(g.members), Waiting: !g.alone, first: g.members[0].called()}
	for _, r := range g.members {
		e.Resources = append(e.Resources, r.ID)
	}
	if len(g.cause.ring) > 0 {
		e.Cause = &link{Name: g.cause.ring[0], Cycle: g.cause.ring, deleting: g.cause.deleting}
		return e, nil
	}
	var err error
	if e.Cause, err = c.root(ctx, g, ask); err == nil && e.Cause != nil {
		e.Cause.Alike = g.cause.alike
	}
	return e, err
}

// root is the link of a group's cause; nil where nobody can name it.
func (c *causeAsker) root(ctx context.Context, g *causeGroup, ask bool) (*link, error) {
	r := c.record(g)
	if !ask {
		if r.ID.IsZero() && r.WorkflowID == "" {
			return nil, nil
		}
		l := linkOf(view{Status: r.status(), known: r, Stale: true}, c.taskQueue, c.now)
		l.Message, l.Todo = "", "`armature why "+l.Name+"` tells more"
		return l, nil
	}
	var waiter *link
	if direct := g.direct(); direct.WorkflowID != "" {
		v, err := c.look(ctx, direct)
		if err != nil {
			return nil, err
		}
		waiter = linkOf(v, c.taskQueue, c.now)
		for _, id := range v.WaitingFor {
			if r.WorkflowID == "" && workflows.WaitingKey(id) == g.cause.key {
				r = await(id).record
			}
		}
	}
	if r.WorkflowID == "" {
		return nil, nil
	}
	v, err := c.look(ctx, r)
	if err != nil {
		return nil, err
	}
	l := linkOf(v, c.taskQueue, c.now)
	if waiter != nil && !waiter.Stale {
		l.seenBy(waiter, c.now)
	}
	return l, nil
}

// direct is a member that waits for the cause itself, and not for what waits for
// it; the zero record for none.
func (g *causeGroup) direct() record {
	for _, r := range g.members {
		if slices.Contains(r.WaitingFor, g.cause.key) {
			return r
		}
	}
	return record{}
}

// record is a group's cause as the lists know it: managed, or an owner of those
// that wait for it; the zero record for anything else.
func (c *causeAsker) record(g *causeGroup) record {
	if g.alone {
		return g.members[0]
	}
	if r, managed := c.stack.known[g.cause.key]; managed {
		return r
	}
	for id := g.members[0].ID; !id.IsZero(); id = id.Owner() {
		if workflows.WaitingKey(id) == g.cause.key {
			return await(id).record
		}
	}
	return record{}
}

// look asks one resource. While Temporal is out of reach nothing can be said.
func (c *causeAsker) look(ctx context.Context, r record) (view, error) {
	v, err := c.viewer.refresh(ctx, r)
	if errors.Is(err, errNotManaged) {
		return view{Status: r.status(), known: r, Gone: true}, nil
	}
	if err == nil {
		c.asked = append(c.asked, v)
	}
	return v, err
}
