package main

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

// goal is what a wait waits for.
type goal string

const (
	goalReady   goal = "ready"
	goalDeleted goal = "deleted"
)

// adjective returns the goal in a sentence.
func (g goal) adjective() string {
	if g == goalReady {
		return "Ready"
	}
	return "deleted"
}

// awaited is one resource of a wait.
type awaited struct {
	backend.Record
	// minGeneration and minPass are the lowest that count; 0 = any.
	minGeneration int64
	minPass       int64
	// changed is set when the request of the command changed the spec.
	changed bool
}

// awaitAll returns records for a wait, in any generation.
func awaitAll(records []backend.Record) []awaited {
	list := make([]awaited, len(records))
	for i, r := range records {
		list[i] = awaited{Record: r}
	}
	return list
}

// outcome is the state of one resource of a wait.
type outcome struct {
	screen.Progress
	polls int
	// firstPass is the last pass that had ended when the wait began.
	firstPass int64
}

// outlook returns the outcome of one resource for the question whether waiting helps.
func (o outcome) outlook(w awaited) outlook.Awaited {
	pass, generation := o.View.Pass, o.View.Condition.ObservedGeneration
	return outlook.Awaited{
		View: o.View, Done: o.Done, Blocker: o.Blocker,
		Tried:     pass > o.firstPass || w.changed || w.minPass > 0,
		Requested: pass < w.minPass || generation < w.minGeneration,
	}
}

// setBlockers sets who has to act if no time helps what is not done, and reports
// whether that is so.
func setBlockers(ctx context.Context, b *connection, list []awaited, outcomes []outcome, g goal, now time.Time) bool {
	all := make([]outlook.Awaited, len(outcomes))
	for i, o := range outcomes {
		all[i] = o.outlook(list[i])
	}
	blockers, stuck := outlook.New(b, all, g == goalDeleted, now).Blockers(ctx)
	for i, blocker := range blockers {
		outcomes[i].Blocker = blocker
	}
	return stuck
}

// Bounds of polling. A poll of one resource costs a call, and a second one to the
// worker if something happened. A stack of a thousand must not keep Temporal busy.
const (
	pollInterval = time.Second
	// maxPolled bounds the resources of each poll except the first.
	maxPolled = 100
)

// poll refreshes what is not settled yet, the least polled resources first. While
// Temporal is unreachable the wait continues with the last states.
func poll(ctx context.Context, b *connection, list []awaited, outcomes []outcome, g goal) error {
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
		due = due[:min(maxPolled, len(due))]
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
		outcomes[i] = outcome{Progress: compare(list[i], v, g), polls: before.polls + 1, firstPass: before.firstPass}
		if g == goalDeleted && before.View.Deleting && !v.Deleting && !v.Unmanaged && !v.Stale {
			outcomes[i].Blocker = "its deletion was taken back"
		}
		return nil
	})
	if cli.ExitCode(err) == cli.ExitUnreachable {
		return nil
	}
	return err
}

// compare compares a view with the goal.
func compare(w awaited, v backend.View, g goal) screen.Progress {
	p := screen.Progress{View: v}
	if g == goalDeleted {
		p.Done = v.Unmanaged && (v.Ended == "" || v.Deleted)
		if v.IsDetached() && !p.Done {
			p.Blocker = "it is no longer managed (`armature forget`) and was not deleted"
		} else if v.Unmanaged && !p.Done {
			p.Blocker = "its workflow ended (" + v.Ended + ") and did not delete it"
		}
		return p
	}
	c := v.Condition
	current := c.ObservedGeneration >= max(v.Generation, w.minGeneration) && v.Pass >= w.minPass
	switch {
	case v.Stale && !v.Unmanaged:
		p.Done = c.Ready && w.minGeneration == 0 && w.minPass == 0
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
		p.Blocker = "it is not retried until you change it or run `armature reconcile`"
	case c.Ready:
		p.Pending = "its next pass has not ended yet"
	}
	return p
}

// reached returns the result of a wait that reached its goal: "2 resources Ready",
// "1 resource deleted, 1 resource no longer managed (still in Azure)".
func reached(outcomes []outcome, g goal) string {
	if g != goalDeleted {
		return cli.Count(len(outcomes), "resource") + " " + g.adjective()
	}
	var parts []string
	for _, result := range []string{"deleted", absentResult, unmanagedResult, detachedResult} {
		n := 0
		for _, o := range outcomes {
			if deletionResult(o.View) == result {
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
	absentResult    = "absent (no DELETE was sent)"
	unmanagedResult = "not managed"
	detachedResult  = "no longer managed (still in Azure)"
)

// deletionResult returns how a deletion ended. No DELETE was sent for an absent resource,
// or for one with an absent owner. The decisions prove that only if they still include
// the request for the deletion.
func deletionResult(v backend.View) string {
	logged := func(step string) bool {
		return slices.ContainsFunc(v.Decisions, func(d workflows.Decision) bool { return d.Step == step })
	}
	switch {
	case v.IsDetached():
		return detachedResult
	case v.Ended == "":
		return unmanagedResult
	case logged(workflows.DeleteUpdate) && !logged("DeleteResource"):
		return absentResult
	}
	return "deleted"
}
