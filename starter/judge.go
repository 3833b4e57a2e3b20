package main

import (
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// outcome is how far one resource of a wait is.
type outcome struct {
	view view
	// done: the goal is reached; hopeless: it will not be unless somebody acts,
	// and why.
	done     bool
	hopeless string
	// looks counts how often it was looked at.
	looks int
}

func (o outcome) settled() bool { return o.done || o.hopeless != "" }

// judge compares a view with the goal.
func judge(w awaited, v view, g goal) outcome {
	if g == goalDeleted {
		return judgeDeleted(v)
	}
	c := v.Condition
	current := c.ObservedGeneration >= max(v.Generation, w.generation) && v.Pass >= w.pass
	o := outcome{view: v}
	switch {
	case v.Stale && !v.Gone:
		o.done = c.Ready && w.generation == 0 && w.pass == 0
	case c.Ready && current && !v.Deleting:
		o.done = true
	case v.Gone && v.Ended == "":
		o.hopeless = "it is not managed; apply it first"
	case v.Gone:
		o.hopeless = "its workflow ended: " + v.Ended
	case v.Deleting:
		o.hopeless = "it is being deleted"
	case v.Paused:
		o.hopeless = "it is paused; `armature resume` goes on"
	case c.Reason == resource.ReasonDriftDetected && current:
		o.hopeless = "policy observe reports its drift and changes nothing"
	case v.Phase == workflows.PhaseFailed && current:
		o.hopeless = "it is not tried again until somebody acts"
	}
	return o
}

func judgeDeleted(v view) outcome {
	o := outcome{view: v}
	switch {
	case !v.Gone:
	case v.Ended == "" || v.Deleted:
		o.done = true
	default:
		o.hopeless = "its workflow ended (" + v.Ended + ") and did not delete it"
	}
	return o
}

// reached is "2 resources deleted"; nobody may believe that Azure lost what is
// only not managed any more.
func reached(outcomes []outcome, g goal) string {
	detached := 0
	for _, o := range outcomes {
		if o.view.detached() {
			detached++
		}
	}
	left := count(detached, "resource") + " no longer managed (in Azure still)"
	switch {
	case g != goalDeleted || detached == 0:
		return count(len(outcomes), "resource") + " " + g.word()
	case detached == len(outcomes):
		return left
	}
	return count(len(outcomes)-detached, "resource") + " deleted, " + left
}
