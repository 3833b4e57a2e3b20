package backend

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/armature-io/armature/internal/payload"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/workflows"
	"golang.org/x/sync/errgroup"
)

// MaxParallel bounds concurrent calls to Temporal.
const MaxParallel = 8

// MaxUnanswered is the number of failed queries in a row after which no more
// workflows are queried: each query would take its whole timeout.
const MaxUnanswered = MaxParallel

// View is the state of one resource as the CLI shows it.
type View struct {
	workflows.Status
	// Stale means that no worker responded: the status comes from memo and search
	// attributes, without times and messages.
	Stale bool
	// Listed means that the workflow was not asked: the status comes from its summary,
	// without decisions, differences and names of what it waits for.
	Listed bool
	// Unmanaged means that no workflow runs; Ended is how it ended, "" if the server
	// knows none.
	Unmanaged bool
	Ended     string
	// Checks is the fingerprint of the links and rules of the last pass, "" if it was not read.
	Checks string
	// Record is the record from which the view was made.
	Record Record
}

// unknownMessage is shown for a run that has written no summary: its first pass has not
// ended.
const unknownMessage = "unknown until its next change; `armature describe` asks it"

// DisplayName returns the name of the resource in texts.
func (v View) DisplayName() string {
	if !v.ID.IsZero() {
		return v.ID.Short()
	}
	return v.Name
}

// CurrentCondition returns the condition to show. The stored condition describes
// the last pass that ended. While an operation changes or deletes a resource that
// was Ready, or right after a deletion was requested, it would hide that.
func (v View) CurrentCondition(now time.Time) resource.Condition {
	c := v.Condition
	if obstacle := v.Record.Obstacle(); v.Stale && !v.Unmanaged && obstacle != "" {
		c.Message = obstacle
	}
	if v.Unmanaged || v.Stale {
		return c
	}
	if v.Record.StuckStep != "" {
		c.Ready, c.Severity, c.Reason, c.Message, c.LastTransitionTime = false, resource.SeverityWarning, resource.ReasonStuck, v.Record.StuckStep, v.PassSince
		c.Origin = ""
		return c
	}
	if v.Paused && !v.Deleting && v.Operation == "" {
		if v.Listed {
			return resource.Condition{Severity: resource.SeverityInfo, Reason: resource.ReasonPaused, LastTransitionTime: v.Record.Since}
		}
		return v.pausedCondition()
	}
	if v.Listed && v.Operation == "" && v.Record.Summary == nil {
		c.Message = unknownMessage
		return c
	}
	if !c.Ready && !v.Deleting && (!v.Listed || v.Operation == "") {
		return c
	}
	switch {
	case v.Operation != "":
		c.Message = v.Operation + " in progress in Azure since " + cli.Clock(v.OperationSince, now)
		c.Reason, c.LastTransitionTime = resource.ReasonReconciling, v.OperationSince
	case c.Ready && v.Deleting:
		c.Message, c.LastTransitionTime = "deletion requested", time.Time{}
	default:
		return c
	}
	c.Ready, c.Origin = false, ""
	if v.Deleting {
		c.Reason = resource.ReasonDeleting
	}
	return c
}

// pausedCondition returns the condition of a pause: its time, the user and the
// reason. The stored one is older than the pause.
func (v View) pausedCondition() resource.Condition {
	c := resource.Condition{Severity: resource.SeverityInfo, Reason: resource.ReasonPaused, ObservedGeneration: v.Condition.ObservedGeneration}
	for _, d := range slices.Backward(v.Decisions) {
		if d.Step == workflows.PauseUpdate {
			c.LastTransitionTime, c.Message = d.At, d.Message
			break
		}
	}
	if c.ObservedGeneration != v.Generation {
		c.Message = strings.TrimPrefix(fmt.Sprintf("%s; generation %d is not applied yet", c.Message, v.Generation), "; ")
	}
	return c
}

// Attempt is the next pass that starts by itself; the zero value is none.
type Attempt struct {
	// NextTry is its time. A list has only RetryWithin, the longest time between two tries.
	NextTry     time.Time `json:"nextTry,omitzero"`
	RetryWithin Within    `json:"retryWithin,omitzero"`
}

// Within is a duration, which is a text such as 4m in JSON.
type Within time.Duration

// MarshalText implements encoding.TextMarshaler.
func (w Within) MarshalText() ([]byte, error) { return []byte(cli.Span(time.Duration(w))), nil }

// NoTry reports whether no pass starts by itself.
func (a Attempt) NoTry() bool { return a == Attempt{} }

// Left returns the longest time until the attempt; at most 0 if it is due.
func (a Attempt) Left(now time.Time) time.Duration {
	if a.NextTry.IsZero() {
		return time.Duration(a.RetryWithin)
	}
	return a.NextTry.Sub(now)
}

// TryText returns "in 3s", "now", "within 4m", or "-" for none.
func (a Attempt) TryText(now time.Time) string {
	if a.NextTry.IsZero() && a.RetryWithin > 0 {
		return "within " + cli.Span(time.Duration(a.RetryWithin))
	}
	return cli.In(a.NextTry, now)
}

// Attempt returns the next pass that starts by itself; the zero value if none does or if
// the end of an operation starts it.
func (v View) Attempt() Attempt {
	switch s := v.Record.Summary; {
	case v.Unmanaged || v.Operation != "" || v.Deleting && v.Condition.Ready:
		return Attempt{}
	case v.Record.StuckStep != "":
		return Attempt{NextTry: v.Record.NextAttempt}
	case (v.Listed || v.Stale) && s != nil && s.Phase == v.Record.Phase:
		return Attempt{RetryWithin: Within(s.RetryWithin)}
	}
	return Attempt{NextTry: v.NextTry}
}

// IsDetached reports whether the workflow ended and left the resource in Azure.
func (v View) IsDetached() bool {
	return v.Unmanaged && v.Condition.Reason == resource.ReasonDetached
}

// PhaseName returns the phase in texts. A deletion or a pause replaces the stored
// phase; a run that ended by itself (--once) is marked.
func (v View) PhaseName() string {
	switch {
	case v.IsDetached():
		return "Detached"
	case v.Unmanaged && v.Deleted:
		return "Deleted"
	case v.Unmanaged && v.Ended == "":
		return "Unmanaged"
	case v.Unmanaged:
		return string(v.Phase) + " (ended)"
	case v.Record.Unreadable != "":
		return PhaseUnreadable
	case v.Record.StuckStep != "":
		return PhaseStuck
	case v.Deleting:
		return string(workflows.PhaseDeleting)
	case v.Paused:
		return string(workflows.PhasePaused)
	}
	return string(v.Phase)
}

// Viewer queries workflows for their status and stops querying when no worker
// responds.
type Viewer struct {
	Reader Reader
	// MaxUnanswered replaces the constant of that name; 0 means the constant.
	MaxUnanswered int32
	unanswered    atomic.Int32
}

// view returns the state of one resource from a fresh record.
func (w *Viewer) view(ctx context.Context, r Record) (View, error) {
	v := View{Status: r.Status(), Record: r}
	if !r.Running {
		v.Stale, v.Unmanaged, v.Ended = r.Final == nil, true, r.Ended
		return v, nil
	}
	v.Stale = true
	if r.Obstacle() != "" || !w.shouldQuery() {
		return v, nil
	}
	status, err := w.Reader.Status(ctx, r.WorkflowID)
	switch {
	case is[*NoWorkerError](err):
		if noWorker, _ := errors.AsType[*NoWorkerError](err); !noWorker.StepSince.IsZero() {
			v.Record.StepSince = noWorker.StepSince
			return v, nil
		}
		w.unanswered.Add(1)
		return v, nil
	case errors.Is(err, ErrNotManaged):
		v.Unmanaged = true
		return v, nil
	case payload.IsUnreadable(err):
		v.Record.Unreadable = err.Error()
		return v, nil
	case err != nil:
		return View{}, err
	}
	w.unanswered.Store(0)
	v.Stale = false
	// Without an ID the workflow has not handled its first message yet.
	if !status.ID.IsZero() {
		v.Status = status
	}
	return v, nil
}

// DescribedViews returns the states of a few resources from their records, read again:
// lists are behind by up to seconds, and only a description has a step that keeps failing.
// It needs no worker.
func (w *Viewer) DescribedViews(ctx context.Context, records []Record) ([]View, error) {
	return w.forAll(ctx, records, w.Described)
}

// Described returns the state of one resource from its record, read again.
func (w *Viewer) Described(ctx context.Context, last Record) (View, error) {
	r, err := w.Reader.Record(ctx, last.WorkflowID)
	if errors.Is(err, ErrNotManaged) {
		return View{Status: last.Status(), Unmanaged: true, Record: last}, nil
	}
	if err != nil {
		return View{}, err
	}
	if r.ID.IsZero() {
		r.ID = last.ID
	}
	return ListedView(r), nil
}

// Refresh reads the record again and returns the state of one resource.
func (w *Viewer) Refresh(ctx context.Context, last Record) (View, error) {
	return w.RefreshFrom(ctx, last, View{Stale: true})
}

// RefreshFrom is Refresh with an earlier view: the worker is queried only if the
// workflow has new events since, because otherwise the result would be the same.
func (w *Viewer) RefreshFrom(ctx context.Context, last Record, earlier View) (View, error) {
	r, err := w.Reader.Record(ctx, last.WorkflowID)
	if errors.Is(err, ErrNotManaged) {
		return View{Status: last.Status(), Unmanaged: true, Record: last}, nil
	}
	if err != nil {
		return View{}, err
	}
	if r.ID.IsZero() {
		r.ID = last.ID
	}
	if !earlier.Stale && r.unchanged(earlier.Record) {
		earlier.Record = r
		return earlier, nil
	}
	return w.view(ctx, r)
}

// RefreshAll reads the records of a few resources again and returns their states.
// Only the description of a workflow has the next attempt of an activity and a
// workflow task that fails since a short time.
func (w *Viewer) RefreshAll(ctx context.Context, records []Record) ([]View, error) {
	return w.forAll(ctx, records, w.Refresh)
}

// shouldQuery reports whether workflows are still queried.
func (w *Viewer) shouldQuery() bool {
	return w.unanswered.Load() < cmp.Or(w.MaxUnanswered, MaxUnanswered)
}

// forAll returns the results of read for records, in order.
func (w *Viewer) forAll(ctx context.Context, records []Record, read func(context.Context, Record) (View, error)) ([]View, error) {
	views := make([]View, len(records))
	err := ForEach(ctx, len(records), MaxParallel, func(ctx context.Context, i int) (err error) {
		views[i], err = read(ctx, records[i])
		return err
	})
	return views, err
}

// ForEach calls do for 0 to n-1 in order, at most limit at a time. After the first
// error it starts no more calls, cancels the running ones, and returns that error;
// when ctx is canceled, it returns ErrInterrupted.
func ForEach(parent context.Context, n, limit int, do func(ctx context.Context, i int) error) error {
	group, ctx := errgroup.WithContext(parent)
	group.SetLimit(limit)
	for i := range n {
		group.Go(func() error {
			if ctx.Err() != nil {
				return nil // after the first error
			}
			return do(ctx, i)
		})
	}
	err := group.Wait()
	if parent.Err() != nil {
		return ErrInterrupted
	}
	return err
}
