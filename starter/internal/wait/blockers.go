package wait

import (
	"context"
	"strings"
	"time"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/workflows"
)

const (
	// maxLookups bounds the resources outside of a wait that are read for one search.
	maxLookups = 32
	// soonRetry is how near a next try has to be to be waited for: the longest wait of
	// the class Slow, with its jitter.
	soonRetry = 4 * time.Minute
	// minLasting is how long such a state has to last: people and other tools often act
	// right after an apply.
	minLasting = 30 * time.Second
)

// awaitedResource is one resource of a wait.
type awaitedResource struct {
	View backend.View
	// Done is set when it reached the goal.
	Done bool
	// Blocker is why it will not reach the goal, "" if it may.
	Blocker string
	// Tried is set once a pass ended since the wait began, or since the change that it
	// waits for. Requested is set while a requested pass has not ended.
	Tried, Requested bool
}

// blockerSearch finds who has to act before the resources of one wait can reach its goal.
type blockerSearch struct {
	reader   backend.Reader
	deleting bool
	now      time.Time
	list     []awaitedResource
	byKey    map[string]int
	// others are the views of resources outside of the wait, also of unmanaged ones, nil for one that may change
	// by itself. They are read while reading is set, and reads bounds the requests.
	others  map[string]*backend.View
	reading bool
	reads   int
	// reasons has what a person has to do by key, "" for a resource that time may help.
	reasons map[string]string
}

// newBlockerSearch returns the search for resources that wait to be Ready, or deleted.
func newBlockerSearch(reader backend.Reader, list []awaitedResource, deleting bool, now time.Time) *blockerSearch {
	o := &blockerSearch{reader: reader, deleting: deleting, now: now, list: list, byKey: map[string]int{}, others: map[string]*backend.View{}}
	for i, awaited := range list {
		o.byKey[awaited.View.ID.Key()] = i
	}
	return o
}

// Blockers returns for each resource that is not done who has to act, and true, if time
// helps none of them.
func (o *blockerSearch) Blockers(ctx context.Context) ([]string, bool) {
	// The first round reads nothing: it ends most waits that continue.
	o.reads = maxLookups
	for _, o.reading = range []bool{false, true} {
		o.reasons = map[string]string{}
		blockers := make([]string, len(o.list))
		for i, awaited := range o.list {
			if awaited.Done {
				continue
			}
			if blockers[i] = o.awaited(ctx, awaited); blockers[i] == "" {
				return nil, false
			}
		}
		if o.reading {
			return blockers, true
		}
	}
	return nil, false
}

// awaited returns who has to act for one resource of the wait, "" if time may help.
func (o *blockerSearch) awaited(ctx context.Context, a awaitedResource) string {
	v := a.View
	switch {
	case a.Done:
		return ""
	case a.Blocker != "":
		return a.Blocker
	case o.deleting && !v.Deleting:
		return "" // its deletion may still be requested
	case a.Requested, !a.Tried && o.retriesSoon(v) && !o.waitsWithin(v):
		return ""
	}
	return o.view(ctx, v)
}

// retriesSoon reports whether the next try is near.
func (o *blockerSearch) retriesSoon(v backend.View) bool {
	next := v.Attempt()
	return !next.NoTry() && next.Left(o.now) <= soonRetry
}

// waitsWithin reports whether a resource waits only for resources of this wait: their
// tries count, not its own.
func (o *blockerSearch) waitsWithin(v backend.View) bool {
	for _, id := range v.WaitingFor {
		if _, ok := o.byKey[id.Key()]; !ok {
			return false
		}
	}
	return len(v.WaitingFor) > 0
}

// view returns who has to act before the state of a resource can change, "" if time may
// be enough. It is enough for a cycle as far as is known here: two deletions wait for each
// other until one of them is left to the other.
func (o *blockerSearch) view(ctx context.Context, v backend.View) string {
	key := v.ID.Key()
	if reason, known := o.reasons[key]; known {
		return reason
	}
	o.reasons[key] = ""
	reason := o.decide(ctx, v)
	o.reasons[key] = reason
	return reason
}

func (o *blockerSearch) decide(ctx context.Context, v backend.View) string {
	switch c := v.Condition; {
	case v.Stale || v.Unmanaged || v.InPass || v.Operation != "":
		return ""
	case v.Deleting && v.Phase != workflows.PhaseDeleting:
		return "" // the condition is older than the deletion
	case v.Paused && !v.Deleting:
		return "it is paused; run `armature resume`"
	case c.Ready || c.ObservedGeneration < v.Generation:
		return ""
	case actorOf(v) != "" && o.retriesSoon(v) && o.now.Sub(c.LastTransitionTime) < minLasting:
		return ""
	case actorOf(v) != "":
		return actorOf(v) + " must act"
	case c.Reason == resource.ReasonWaitingForSibling:
		return ""
	}
	return o.waiting(ctx, v)
}

// actorOf returns who has to act before a resource can leave its state, "" where time
// may be enough.
func actorOf(v backend.View) string {
	c := v.Condition
	switch {
	case c.Actor != "":
		return c.Actor
	case c.Reason.Actor() != "":
		return c.Reason.Actor()
	case v.Phase == workflows.PhaseFailed, c.Severity == resource.SeverityError && !v.Overdue:
		return "you"
	}
	return ""
}

// waiting returns who has to act for a resource that waits only for others that time does
// not help.
func (o *blockerSearch) waiting(ctx context.Context, v backend.View) string {
	reason := ""
	for _, id := range v.WaitingFor {
		next := o.target(ctx, v, id)
		if next == "" {
			return ""
		}
		if reason == "" {
			reason = "it waits for " + id.Short() + ": " + next
		}
	}
	return reason
}

// target returns who has to act for a resource that another one waits for.
func (o *blockerSearch) target(ctx context.Context, waiter backend.View, id resource.ID) string {
	if i, ok := o.byKey[id.Key()]; ok {
		if target := o.list[i]; !o.blocksDeletion(waiter, target.View) {
			return o.awaited(ctx, target)
		}
		return notDeleted(id)
	}
	if !o.reading {
		return "not read yet"
	}
	v := o.other(ctx, id)
	switch {
	case v == nil:
		return ""
	case v.Unmanaged:
		return o.absent(waiter)
	case o.blocksDeletion(waiter, *v):
		return notDeleted(id)
	}
	return o.view(ctx, *v)
}

// absent returns who has to act for an owner or a reference that Azure does not have and no
// workflow manages, "" while it may still be created by another tool.
func (o *blockerSearch) absent(waiter backend.View) string {
	c := waiter.Condition
	isAbsent := c.Reason == resource.ReasonWaitingForOwner || c.Reason == resource.ReasonReferenceNotFound
	if waiter.Deleting || !isAbsent || o.now.Sub(c.LastTransitionTime) < minLasting {
		return ""
	}
	return "it does not exist, and nobody manages it; apply its manifest, or correct the name that leads to it"
}

func notDeleted(id resource.ID) string {
	return "it is not being deleted; run `armature delete " + id.Short() + "`"
}

// blocksDeletion reports whether a target must be deleted before its waiter and is not
// being deleted: a cascade requests that only for what is in the waiter.
func (o *blockerSearch) blocksDeletion(waiter, target backend.View) bool {
	return waiter.Deleting && waiter.Condition.Reason == resource.ReasonWaitingForDependents &&
		!target.Deleting && !target.Unmanaged && !target.Stale &&
		(!waiter.Cascade || !strings.HasPrefix(target.ID.Key(), waiter.ID.Key()+"/"))
}

// other returns the view of a resource outside of the wait, nil if it may change by
// itself, or is one too many.
func (o *blockerSearch) other(ctx context.Context, id resource.ID) *backend.View {
	if v, known := o.others[id.Key()]; known {
		return v
	}
	o.others[id.Key()] = nil
	if o.reads--; o.reads < 0 {
		return nil
	}
	viewer := &backend.Viewer{Reader: o.reader}
	v, err := viewer.Refresh(ctx, backend.RecordOf(id))
	if err == nil && (v.Unmanaged || !v.Stale) {
		o.others[id.Key()] = &v
	}
	return o.others[id.Key()]
}
