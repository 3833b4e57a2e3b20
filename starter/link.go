package main

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/armature-io/armature/resource"
)

// link is one resource in a chain of causes, for people and machines.
type link struct {
	ID   resource.ID `json:"id"`
	Name string      `json:"name"`
	// State is where it stands in one or two words: a phase, or what became of
	// its workflow. Since is when that began.
	State   string          `json:"state"`
	Since   time.Time       `json:"since,omitzero"`
	Reason  resource.Reason `json:"reason,omitempty"`
	Message string          `json:"message,omitempty"`
	// Saw is what the resource that waits for it tells of it.
	Saw string `json:"saw,omitempty"`
	// NextTry is when it is looked at again by itself.
	NextTry time.Time `json:"nextTry,omitzero"`
	// NotReadySince is when it was last Ready; only of what is overdue.
	NotReadySince time.Time `json:"notReadySince,omitzero"`
	Overdue       bool      `json:"overdue,omitempty"`
	// Stale: from search attributes, because no worker answered.
	Stale bool `json:"stale,omitempty"`
	// Clear: nothing is in the way of this resource.
	Clear bool `json:"clear,omitempty"`
	// Todo is what to do if it is the root of the chain.
	Todo string `json:"todo,omitempty"`
	// WaitsFor are the causes that are shown; More counts the others.
	WaitsFor []*link `json:"waitsFor,omitempty"`
	More     int     `json:"more,omitempty"`
	// Cycle names the resources that wait for each other in a ring, where this
	// link closes one.
	Cycle []string `json:"cycle,omitempty"`
	// Alike counts others that hold the same resource up in the same way.
	Alike int `json:"alike,omitempty"`
	// Cut says why the chain is not followed beyond this link.
	Cut string `json:"cut,omitempty"`

	// deleting: it waits in a deletion, so what it waits for must go.
	deleting bool
	// undeleted: it holds a deletion up, because nobody deletes it.
	undeleted bool
	// waiter is the name of the resource that waits for it.
	waiter string
}

// States of a link that are no phase.
const (
	stateNotManaged = "not managed"
	stateDeleted    = "deleted"
	stateDetached   = "detached"
	stateEnded      = "not managed any more"
)

// linkOf is what a view says of its resource.
func linkOf(v view, taskQueue string, now time.Time) *link {
	c := v.condition(now)
	l := &link{
		ID: v.ID, Name: v.called(), State: phaseWord(v), Since: c.LastTransitionTime,
		Reason: c.Reason, Message: strings.Join(strings.Fields(c.Message), " "), NextTry: v.nextTry(),
		Overdue: v.Overdue, Stale: v.Stale && !v.Gone, deleting: v.Deleting && !v.Gone,
	}
	if v.Overdue {
		l.NotReadySince = v.NotReadySince
	}
	switch {
	case v.Gone:
		l.ended(v)
	case v.Stale:
		l.unanswered(v, cmp.Or(v.known.TaskQueue, taskQueue))
	case v.Operation != "":
		l.State, l.NextTry = string(v.Phase), v.known.NextLook
		l.Since, l.Reason, l.Message = v.OperationSince, "", "its "+v.Operation+" goes on in Azure"
		l.Todo = "nothing to do but wait"
	case v.Paused && !v.Deleting:
		l.NextTry, l.Todo = time.Time{}, "resume it with `armature resume "+l.Name+"`"
	case c.Ready:
		l.Clear = true
	default:
		l.Todo = todo(c, v.Phase, l.Name)
	}
	return l
}

// ended fills a link whose workflow does not run.
func (l *link) ended(v view) {
	l.Overdue, l.Since, l.NextTry, l.Reason, l.Message = false, v.known.EndedAt, time.Time{}, "", ""
	switch {
	case v.Ended == "":
		l.State = stateNotManaged
		l.Message = "it was never applied, or deleted long ago"
		l.Todo = "apply a manifest of it, or look whether it exists in Azure: `az resource show --ids " + l.ID.String() + "`"
	case v.detached():
		l.State, l.Message = stateDetached, "it stays in Azure and nothing is managed"
		l.Todo = "apply it again, or look at it in Azure"
	case v.Deleted:
		l.State, l.Todo = stateDeleted, "apply it again, or take it out of what depends on it"
	case v.Condition.Ready && !v.Stale:
		l.State, l.Message = stateEnded, "its workflow ended when it was Ready (apply --once)"
		l.Todo = "apply it without --once, or look at it in Azure"
	case v.lastWords() != "":
		l.State, l.Message = stateEnded, "its workflow ended ("+v.Ended+"): "+v.lastWords()
		l.Todo = "do what the message asks, then apply it again"
	default:
		l.State, l.Message = stateEnded, "its workflow was ended ("+v.Ended+")"
		l.Todo = "apply it again: its workflow starts anew and joins what is in flight"
	}
}

// unanswered fills a link that is known from search attributes only.
func (l *link) unanswered(v view, queue string) {
	l.State += "?"
	l.Since, l.NextTry = time.Time{}, time.Time{}
	if v.known.Stuck != "" {
		l.Message = v.known.Stuck
		l.Todo = "read the log of the worker on task queue " + queue + ": it takes the task and cannot go on; `armature replay` says where its version parts from the history"
		return
	}
	l.Message = "no worker answers on task queue " + queue
	l.Todo = "start a worker on task queue " + queue
}

// lastWords is the message with which a run of --once failed, "" for any other end.
func (v view) lastWords() string {
	if v.Stale || v.Condition.Message == "" || v.Ended == "Completed" {
		return ""
	}
	return string(v.Condition.Reason) + ": " + v.Condition.Message
}

// verb joins a link to what it waits for.
func (l *link) verb() string {
	switch l.Reason {
	case resource.ReasonWaitingForSibling:
		return "waits for its turn behind "
	case resource.ReasonWaitingForDependents:
		return "waits for the deletion of "
	case resource.ReasonWaitingForOwnerDelete:
		return "goes with "
	}
	return "waits for "
}

// key is what a watch compares of a chain: all but ages and the times of the next
// looks.
func (l *link) key() string {
	text := fmt.Sprintln(l.ID, l.State, l.Since.Unix(), l.Reason, l.Saw, l.Overdue, l.Stale, l.More, l.Cycle, l.Cut)
	for _, next := range l.WaitsFor {
		text += next.key()
	}
	return text
}
