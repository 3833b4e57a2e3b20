package why

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/workflows"
)

const (
	// maxQueriedCauses bounds the causes of which details are shown.
	maxQueriedCauses = 16
	// maxDescribed bounds the resources that are described to find steps that keep failing.
	maxDescribed = backend.MaxAsked
)

// Cause is one root cause of many resources. Its JSON names do not change.
type Cause struct {
	Count int `json:"count"`
	// Link is the root; absent if only its members are known.
	Link *Link `json:"cause,omitempty"`
	// Waiting is set if the members wait for the cause, and not if they are the cause
	// themselves.
	Waiting   bool          `json:"waiting"`
	Text      string        `json:"text"`
	Resources []resource.ID `json:"resources"`

	members []backend.Record
}

// Report has the root causes of many resources.
type Report struct {
	// Causes are sorted by the number of resources, the largest first.
	Causes []*Cause
	// Ready counts the resources that nothing blocks, of Total; Several counts those
	// with more than one cause.
	Ready, Total, Several int
	// Views are the states of the workflows that were queried.
	Views []backend.View
}

// Key returns what a watch compares.
func (r Report) Key() string {
	key := fmt.Sprintln(r.Ready, r.Total)
	for _, c := range r.Causes {
		key += fmt.Sprintln(c.Resources, c.Waiting)
		if c.Link != nil {
			key += c.Link.Key()
		}
	}
	return key
}

// Causes groups the chosen managed resources that are not Ready by root cause.
func (e *Engine) Causes(ctx context.Context, chosen backend.Selection) (Report, error) {
	records, err := backend.Targets(ctx, e.reader, chosen)
	if err != nil {
		return Report{}, err
	}
	if err := e.markStuck(ctx, records); err != nil {
		return Report{}, err
	}
	e.graph = graphOf(records)
	if isPart := chosen.Selector != "" || len(chosen.Names) > 0; isPart && slices.ContainsFunc(records, e.waitsForUnlisted) {
		if err := e.load(ctx); err != nil {
			return Report{}, err
		}
	}
	report := Report{Total: len(records)}
	if err := e.group(ctx, &report, records); err != nil {
		return Report{}, err
	}
	for i, c := range report.Causes {
		for _, r := range c.members {
			c.Resources = append(c.Resources, r.ID)
		}
		c.Count = len(c.members)
		if i >= maxQueriedCauses {
			c.setUnqueried()
		} else if err := e.query(ctx, c, &report); err != nil {
			return Report{}, err
		}
		c.Text = c.text(e.now)
	}
	return report, nil
}

// markStuck marks the records of which a step keeps failing: their phase is from the
// pass before. No list shows that, so of many resources only some that are not Ready are
// described; doctor describes more.
func (e *Engine) markStuck(ctx context.Context, records []backend.Record) error {
	few := records
	if len(records) > maxDescribed {
		few = slices.DeleteFunc(slices.Clone(records), isClear)
		few = few[:min(maxDescribed, len(few))]
	}
	stuck, _, err := backend.StuckSteps(ctx, e.reader, few)
	if err != nil {
		return err
	}
	for _, found := range stuck {
		for i := range records {
			if records[i].WorkflowID == found.WorkflowID {
				records[i].StuckStep = found.StuckStep
			}
		}
	}
	return nil
}

// waitsForUnlisted reports whether a record waits for a resource outside the graph.
func (e *Engine) waitsForUnlisted(r backend.Record) bool {
	return !isClear(r) && slices.ContainsFunc(r.WaitingFor, func(key string) bool { return !e.isManaged(key) })
}

// isClear reports whether nothing blocks a resource.
func isClear(r backend.Record) bool {
	return r.Phase == workflows.PhaseReady && r.Obstacle() == "" && r.StuckStep == ""
}

// group fills the report with one cause for each root, and one for all resources of
// the same phase and reason that are their own root and block no others.
func (e *Engine) group(ctx context.Context, report *Report, records []backend.Record) error {
	groups := map[string]*Cause{}
	add := func(id string, c Cause, r backend.Record) {
		if groups[id] == nil {
			groups[id] = &c
			report.Causes = append(report.Causes, &c)
		}
		groups[id].members = append(groups[id].members, r)
	}
	var own []*Link
	for _, r := range records {
		if isClear(r) {
			report.Ready++
			continue
		}
		w := walk{Engine: e, visited: map[string]*Link{}}
		l, err := w.follow(ctx, r, nil)
		if err != nil {
			return err
		}
		roots := l.roots()
		if len(roots) > 1 {
			report.Several++
		}
		for _, root := range roots {
			if root == l {
				own = append(own, l)
				continue
			}
			add(root.rootID(), Cause{Link: root, Waiting: true}, r)
		}
	}
	for _, l := range own {
		if groups[l.rootID()] == nil {
			add(fmt.Sprintln("own", l.record.Phase, l.record.Reason, l.record.Obstacle(), l.record.StuckStep), Cause{Link: l}, l.record)
		}
	}
	slices.SortStableFunc(report.Causes, func(a, b *Cause) int { return cmp.Compare(len(b.members), len(a.members)) })
	return nil
}

// setUnqueried describes a cause as far as the graph knows it.
func (c *Cause) setUnqueried() {
	if len(c.Link.Cycle) > 0 {
		return
	}
	if c.Link.ID.IsZero() {
		c.Link = nil
		return
	}
	c.Link.Message, c.Link.Advice = "", "`armature why "+c.Link.Name+"` shows more"
}

// query replaces the link of a cause by one with details: from its own workflow, and
// from one that waits for it.
func (e *Engine) query(ctx context.Context, c *Cause, report *Report) error {
	root := c.Link
	if len(root.Cycle) > 0 {
		cycle := rotate(root.Cycle)
		c.Link = &Link{Name: cycle[0], Cycle: cycle, deleting: root.deleting}
		return nil
	}
	target := root.record
	var waiter *Link
	waits := func(r backend.Record) bool { return c.Waiting && slices.Contains(r.WaitingFor, root.key) }
	if i := slices.IndexFunc(c.members, waits); i >= 0 {
		v, err := e.detail(ctx, c.members[i], target.ID.IsZero(), report)
		if err != nil {
			return err
		}
		waiter = e.link(ctx, v)
		for _, id := range v.WaitingFor {
			if target.ID.IsZero() && workflows.WaitingKey(id) == root.key {
				target = backend.RecordOf(id)
			}
		}
	}
	if c.Waiting && target.ID.IsZero() {
		c.Link = nil
		return nil
	}
	v, err := e.detail(ctx, target, false, report)
	if err != nil {
		return err
	}
	c.Link = e.link(ctx, v)
	if waiter != nil && !waiter.Stale {
		c.Link.addWaiter(waiter, e.now)
	}
	c.Link.Similar = root.Similar
	return nil
}

// detail adds the view of a record to the report: from the list where that is enough. Only
// the workflow itself has the names of what it waits for, the decision of a pause, and what
// a deletion has sent.
func (e *Engine) detail(ctx context.Context, r backend.Record, names bool, report *Report) (backend.View, error) {
	listed, known := e.graph[r.Key()]
	s := listed.Summary
	if !known || names || s == nil || s.Phase != listed.Phase || s.Paused || s.Deleting || listed.Obstacle() != "" || listed.StuckStep != "" {
		return e.refresh(ctx, r, report)
	}
	v := backend.ListedView(listed)
	if !e.isServed(ctx, cmp.Or(listed.TaskQueue, e.taskQueue)) {
		v.Stale, v.Listed = true, false
	}
	report.Views = append(report.Views, v)
	return v, nil
}

// isServed reports whether a worker polls a task queue, or whether that is unknown.
func (e *Engine) isServed(ctx context.Context, taskQueue string) bool {
	polls, ok := e.reader.(interface {
		Polled(ctx context.Context, taskQueue string) bool
	})
	if !ok {
		return true
	}
	served, known := e.served[taskQueue]
	if !known {
		served = polls.Polled(ctx, taskQueue)
		e.served[taskQueue] = served
	}
	return served
}

// refresh reads a record again and adds its view to the report.
func (e *Engine) refresh(ctx context.Context, r backend.Record, report *Report) (backend.View, error) {
	v, err := e.viewer.Refresh(ctx, r)
	if err == nil {
		report.Views = append(report.Views, v)
	}
	return v, err
}
