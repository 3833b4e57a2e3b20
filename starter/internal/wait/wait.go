// Package wait follows resources until they are Ready or deleted, or until only a
// person helps. It decides, and prints nothing.
package wait

import (
	"slices"
	"strings"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
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

// IsUnchanged reports whether an apply did not change the resource.
func (w Resource) IsUnchanged() bool { return w.MinGeneration > 0 && !w.Changed }

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
	case v.Record.Unreadable != "" && !v.Unmanaged:
		p.Blocker = "it cannot be read here: it is " + cli.OneLine(v.Record.Unreadable)
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
