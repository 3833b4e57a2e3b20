// Package await follows resources until they are Ready or deleted, or until only a
// person helps. It decides; it must not print.
package await

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/starter/internal/outlook"
	"github.com/armature-io/armature/starter/internal/screen"
	"github.com/armature-io/armature/workflows"
)

// Goal is what a wait waits for.
type Goal string

// The goals.
const (
	Ready   Goal = "ready"
	Deleted Goal = "deleted"
)

// Adjective returns the Goal in a sentence.
func (g Goal) Adjective() string {
	if g == Ready {
		return "Ready"
	}
	return "deleted"
}

// Resource is one resource of a wait.
type Resource struct {
	backend.Record
	// MinGeneration and MinPass are the lowest that count; 0 = any.
	MinGeneration int64
	MinPass       int64
	// Changed is set when the request of the command changed the spec.
	Changed bool
}

// All returns records for a wait, in any generation.
func All(records []backend.Record) []Resource {
	list := make([]Resource, len(records))
	for i, r := range records {
		list[i] = Resource{Record: r}
	}
	return list
}

// Outcome is the state of one resource of a wait.
type Outcome struct {
	screen.Progress
	polls int
	// firstPass is the last pass that had ended when the wait began.
	firstPass int64
}

// outlook returns the Outcome of one resource for the question whether waiting helps.
func (o Outcome) outlook(w Resource) outlook.Awaited {
	pass, generation := o.View.Pass, o.View.Condition.ObservedGeneration
	return outlook.Awaited{
		View: o.View, Done: o.Done, Blocker: o.Blocker,
		Tried:     pass > o.firstPass || w.Changed || w.MinPass > 0,
		Requested: pass < w.MinPass || generation < w.MinGeneration,
	}
}

// SetBlockers sets who has to act if no time helps what is not done, and reports
// whether that is so.
func SetBlockers(ctx context.Context, b backend.Reader, list []Resource, outcomes []Outcome, g Goal, now time.Time) bool {
	all := make([]outlook.Awaited, len(outcomes))
	for i, o := range outcomes {
		all[i] = o.outlook(list[i])
	}
	blockers, stuck := outlook.New(b, all, g == Deleted, now).Blockers(ctx)
	for i, blocker := range blockers {
		outcomes[i].Blocker = blocker
	}
	return stuck
}

// Bounds of polling. A Poll of one resource costs a call, and a second one to the
// worker if something happened. A stack of a thousand must not keep Temporal busy.
const (
	PollInterval = time.Second
	// MaxPolled bounds the resources of each Poll except the first.
	MaxPolled = 100
)

// Poll refreshes what is not settled yet, the least polled resources first. While
// Temporal is unreachable the wait continues with the last states.
func Poll(ctx context.Context, b backend.Reader, list []Resource, outcomes []Outcome, g Goal) error {
	viewer := &backend.Viewer{Reader: b}
	var due []int
	first := true
	for i, o := range outcomes {
		if !o.IsSettled() {
			due = append(due, i)
		}
		first = first && o.polls == 0
	}
	slices.SortStableFunc(due, func(i, j int) int { return outcomes[i].polls - outcomes[j].polls })
	if !first {
		due = due[:min(MaxPolled, len(due))]
	}
	err := backend.ForEach(ctx, len(due), backend.MaxParallel, func(ctx context.Context, at int) error {
		i := due[at]
		v, err := viewer.RefreshFrom(ctx, list[i].Record, outcomes[i].View)
		if err != nil {
			return err
		}
		before := outcomes[i]
		if before.polls == 0 {
			before.firstPass = v.Pass
		}
		outcomes[i] = Outcome{Progress: Compare(list[i], v, g), polls: before.polls + 1, firstPass: before.firstPass}
		if g == Deleted && before.View.Deleting && !v.Deleting && !v.Unmanaged && !v.Stale {
			outcomes[i].Blocker = "its deletion was taken back"
		}
		return nil
	})
	if cli.ExitCode(err) == cli.ExitUnreachable {
		return nil
	}
	return err
}

// Compare compares a view with the Goal.
func Compare(w Resource, v backend.View, g Goal) screen.Progress {
	p := screen.Progress{View: v}
	if g == Deleted {
		p.Done = v.Unmanaged && (v.Ended == "" || v.Deleted)
		if v.IsDetached() && !p.Done {
			p.Blocker = "it is no longer managed (`armature forget`) and was not deleted"
		} else if v.Unmanaged && !p.Done {
			p.Blocker = "its workflow ended (" + v.Ended + ") and did not delete it"
		}
		return p
	}
	c := v.Condition
	current := c.ObservedGeneration >= max(v.Generation, w.MinGeneration) && v.Pass >= w.MinPass
	switch {
	case v.Stale && !v.Unmanaged:
		p.Done = c.Ready && w.MinGeneration == 0 && w.MinPass == 0
	case c.Ready && current && !v.Deleting:
		p.Done = true
	case v.Unmanaged && v.Ended == "":
		p.Blocker = "it is not managed; apply it first"
	case v.IsDetached():
		p.Blocker = "it is no longer managed; apply it again"
	case v.Unmanaged:
		p.Blocker = "its workflow ended: " + v.Ended
	case v.Deleting:
		p.Blocker = "it is being deleted"
	case v.Paused:
		p.Blocker = "it is paused; run `armature resume`"
	case c.Reason == resource.ReasonDriftDetected && current:
		p.Blocker = "policy observe reports drift and changes nothing"
	case v.Phase == workflows.PhaseFailed && current:
		p.Blocker = "it is read again, but not written, until you change it or run `armature reconcile`"
	case c.Ready:
		p.Pending = "its next pass has not ended yet"
	}
	return p
}

// Reached returns the result of a wait that Reached its Goal: "2 resources Ready",
// "1 resource deleted, 1 resource no longer managed (still in Azure)".
func Reached(outcomes []Outcome, g Goal) string {
	if g != Deleted {
		return cli.Count(len(outcomes), "resource") + " " + g.Adjective()
	}
	var parts []string
	for _, result := range []string{"deleted", AbsentResult, UnmanagedResult, DetachedResult} {
		n := 0
		for _, o := range outcomes {
			if DeletionResult(o.View) == result {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, cli.Count(n, "resource")+" "+result)
		}
	}
	return strings.Join(parts, ", ")
}

// Results of a wait for a deletion that are not a deletion.
const (
	AbsentResult    = "absent (no DELETE was sent)"
	UnmanagedResult = "not managed"
	DetachedResult  = "no longer managed (still in Azure)"
)

// DeletionResult returns how a deletion ended. No DELETE was sent for an absent resource,
// or for one with an absent owner. The decisions prove that only if they still include
// the request for the deletion.
func DeletionResult(v backend.View) string {
	logged := func(step string) bool {
		return slices.ContainsFunc(v.Decisions, func(d workflows.Decision) bool { return d.Step == step })
	}
	switch {
	case v.IsDetached():
		return DetachedResult
	case v.Ended == "":
		return UnmanagedResult
	case logged(workflows.DeleteUpdate) && !logged("DeleteResource"):
		return AbsentResult
	}
	return "deleted"
}
