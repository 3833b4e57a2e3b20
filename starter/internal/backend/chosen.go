package backend

import (
	"cmp"
	"context"
	"errors"
	"slices"
)

// MaxAsked bounds the resources whose workflows a list asks.
const MaxAsked = 50

// Chosen are the resources of a command that shows some. Named ones are found once and
// followed to their end; others are listed each time.
type Chosen struct {
	Selection
	records []Record
}

// find reads the records: of named resources once, of others each time.
func (t *Chosen) find(ctx context.Context, reader Reader) (err error) {
	if t.records == nil || len(t.Names) == 0 {
		t.records, err = Targets(ctx, reader, t.Selection)
	}
	return err
}

// Views returns the states, each from its workflow.
func (t *Chosen) Views(ctx context.Context, reader Reader) ([]View, error) {
	if err := t.find(ctx, reader); err != nil {
		return nil, err
	}
	return (&Viewer{Reader: reader}).RefreshAll(ctx, t.records)
}

// Listed returns the states as a list shows them: from their summaries, or with details
// from their workflows if there are at most MaxAsked, and whether these were asked. A few
// that are not watched are described one by one, because lists are behind by up to seconds.
func (t *Chosen) Listed(ctx context.Context, reader Reader, details, watch bool) (views []View, asked bool, err error) {
	if err := t.find(ctx, reader); err != nil {
		return nil, false, err
	}
	w := &Viewer{Reader: reader}
	switch few := len(t.records) <= MaxAsked; {
	case details && few:
		views, err = w.RefreshAll(ctx, t.records)
		return views, true, err
	case len(t.Names) > 0 || few && !watch:
		views, err = w.DescribedViews(ctx, t.records)
		return views, false, err
	}
	return ListedViews(t.records), false, nil
}

// IsOver reports whether every named resource is gone.
func (t *Chosen) IsOver(views []View) bool {
	return len(t.Names) > 0 && !slices.ContainsFunc(views, func(v View) bool { return !v.Unmanaged })
}

// SplitManaged returns the records that a running workflow manages, and the others.
func SplitManaged(ctx context.Context, reader Reader, records []Record) (managed, unmanaged []Record, err error) {
	found := make([]bool, len(records))
	err = ForEach(ctx, len(records), MaxParallel, func(ctx context.Context, i int) error {
		r, err := reader.Record(ctx, records[i].WorkflowID)
		if errors.Is(err, ErrNotManaged) {
			return nil
		}
		found[i] = r.Running
		return err
	})
	for i, r := range records {
		if found[i] {
			managed = append(managed, r)
		} else {
			unmanaged = append(unmanaged, r)
		}
	}
	return managed, unmanaged, err
}

// Unserved returns the task queues of listed views for which served reports false, sorted.
// A view without a task queue has the given one.
func Unserved(views []View, taskQueue string, served func(string) bool) []string {
	var taskQueues []string
	for _, v := range views {
		if queue := cmp.Or(v.Record.TaskQueue, taskQueue); v.Listed && !slices.Contains(taskQueues, queue) {
			taskQueues = append(taskQueues, queue)
		}
	}
	slices.Sort(taskQueues)
	return slices.DeleteFunc(taskQueues, served)
}

// Records returns the records that were found last.
func (t *Chosen) Records() []Record { return t.records }

// ListedView returns the state of one resource from its record alone.
func ListedView(r Record) View {
	v := View{Status: r.Status(), Record: r, Listed: r.Running}
	if !r.Running {
		v.Stale, v.Unmanaged, v.Ended = r.Final == nil, true, r.Ended
		return v
	}
	if r.Obstacle() != "" {
		v.Stale, v.Listed = true, false
	}
	return v
}

// ListedViews returns the states of listed resources from their records alone, in order.
func ListedViews(records []Record) []View {
	views := make([]View, len(records))
	for i, r := range records {
		views[i] = ListedView(r)
	}
	return views
}
