package why

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/workflows"
)

// Link is one resource in a chain of causes. Its JSON names do not change.
type Link struct {
	ID   resource.ID `json:"id"`
	Name string      `json:"name"`
	// State is a phase, or one of the states below; Since is when it began.
	State   string          `json:"state"`
	Since   time.Time       `json:"since,omitzero"`
	Reason  resource.Reason `json:"reason,omitempty"`
	Message string          `json:"message,omitempty"`
	// Origin is the extension that decided, "" for Armature itself.
	Origin string `json:"origin,omitempty"`
	// WaiterMessage is the last message of the resource that waits for this one.
	WaiterMessage string `json:"saw,omitempty"`
	// Attempt is when Armature tries again by itself.
	backend.Attempt
	// NotReadySince is when the resource was last Ready; set if it is overdue.
	NotReadySince time.Time `json:"notReadySince,omitzero"`
	Overdue       bool      `json:"overdue,omitempty"`
	// Stale means that no worker responded: the link comes from search attributes.
	Stale bool `json:"stale,omitempty"`
	// Clear means that nothing blocks the resource.
	Clear bool `json:"clear,omitempty"`
	// Advice is what to do if this link is a root cause.
	Advice string `json:"todo,omitempty"`
	// Owned name the values that another owner moved, with the owner.
	Owned []string `json:"owned,omitempty"`
	// WaitsFor are the causes that are shown; More counts the others.
	WaitsFor []*Link `json:"waitsFor,omitempty"`
	More     int     `json:"more,omitempty"`
	// Cycle has the names of resources that wait for each other, if this link closes
	// a cycle.
	Cycle []string `json:"cycle,omitempty"`
	// Similar counts the other resources that block the same waiter in the same way.
	Similar int `json:"alike,omitempty"`
	// Cut is why the chain ends here although it continues.
	Cut string `json:"cut,omitempty"`

	// key is the key with which others wait for the resource. A link of which only
	// the key is known has no ID and no name.
	key    string
	record backend.Record
	// deleting: the resource is being deleted, so what it waits for must be
	// deleted too.
	deleting bool
	// abortable: its deletion has sent nothing and can be taken back.
	abortable bool
	// blocksDeletion: it blocks the deletion of its waiter, because it is not being
	// deleted itself.
	blocksDeletion bool
	// waiter is the name of the resource that waits for it.
	waiter string
}

// States of a link that are not phases.
const (
	stateNotManaged = "not managed"
	stateDeleted    = "deleted"
	stateDetached   = "detached"
	stateEnded      = "no longer managed"
)

// newLink returns the link of a view. taskQueue is the queue to name if the record
// has none.
func newLink(v backend.View, taskQueue string, now time.Time) *Link {
	c := v.CurrentCondition(now)
	l := &Link{
		ID: v.ID, Name: v.DisplayName(), State: v.PhaseName(), Since: c.LastTransitionTime,
		Reason: c.Reason, Message: cli.OneLine(c.Message), Origin: cli.OneLine(c.Origin), Attempt: v.Attempt(),
		Overdue: v.Overdue, Stale: v.Stale && !v.Unmanaged, Owned: v.Owned,
		key: v.Record.Key(), record: v.Record, deleting: v.Deleting && !v.Unmanaged, abortable: v.Abortable,
	}
	if v.Overdue {
		l.NotReadySince = v.NotReadySince
	}
	switch {
	case v.Unmanaged:
		l.setEnded(v)
	case v.Stale:
		l.setUnanswered(v, cmp.Or(v.Record.TaskQueue, taskQueue))
	case v.Record.StuckStep != "":
		l.Advice = v.Record.StuckAdvice()
	case v.Operation != "":
		l.State, l.Attempt = string(v.Phase), backend.Attempt{NextTry: v.Record.NextAttempt}
		l.Since, l.Reason, l.Message, l.Origin = v.OperationSince, "", v.Operation+" in progress in Azure", ""
		l.Advice = NoAction
	case v.Paused && !v.Deleting:
		l.Attempt, l.Advice = backend.Attempt{}, "run `armature resume "+l.Name+"`"
	case c.Ready:
		l.Clear = true
	default:
		l.Advice = adviceFor(c, v.Phase, l.Name)
		if l.deleting && !strings.HasPrefix(l.Advice, NoAction) && c.Reason != resource.ReasonDeletionNotSupported {
			l.Advice += "; " + undoAdvice(l.Name, l.abortable)
		}
	}
	return l
}

// setEnded fills the link of a resource without a running workflow.
func (l *Link) setEnded(v backend.View) {
	l.Overdue, l.Since, l.Attempt, l.Reason, l.Message, l.Origin = false, v.Record.EndedAt, backend.Attempt{}, "", "", ""
	switch {
	case v.Ended == "":
		l.State = stateNotManaged
		l.Message = "it was never applied, or was deleted long ago"
		l.Advice = "apply its manifest, or check whether it exists in Azure: `az resource show --ids " + l.ID.String() + "`"
	case v.IsDetached():
		l.State, l.Message = stateDetached, "it still exists in Azure and is no longer managed"
		l.Advice = "apply it again, or check it in Azure"
	case v.Deleted:
		l.State, l.Advice = stateDeleted, "apply it again, or remove it from the manifests that depend on it"
	case v.Condition.Ready && !v.Stale:
		l.State, l.Message = stateEnded, "its workflow ended when it was Ready (apply --once)"
		l.Advice = "apply it without --once, or check it in Azure"
	case finalMessage(v) != "":
		l.State, l.Message = stateEnded, "its workflow ended ("+v.Ended+"): "+finalMessage(v)
		l.Advice = "follow the message, then apply it again"
	default:
		l.State, l.Message = stateEnded, "its workflow ended ("+v.Ended+")"
		l.Advice = "apply it again: a new workflow starts and resumes an operation in progress"
	}
}

// setUnanswered fills a link that is known from search attributes only.
func (l *Link) setUnanswered(v backend.View, taskQueue string) {
	l.Since, l.Attempt = time.Time{}, backend.Attempt{}
	if v.Record.Unreadable != "" {
		l.Message = cli.OneLine(v.Record.Unreadable)
		l.Advice = "configure its key; " + backend.TerminateAdvice
		return
	}
	l.State += "?"
	if v.Record.Stuck != "" {
		l.Message = v.Record.Stuck
		l.Advice = "read the log of the workers on task queue " + taskQueue + ", which cannot complete the task; `worker replay` finds where their version differs from the history"
		return
	}
	if !v.Record.StepSince.IsZero() {
		l.Message = "a worker on task queue " + taskQueue + " runs a step of it and responds after it"
		l.Advice = "run `armature why " + l.Name + "` again in a few seconds"
		return
	}
	l.Message = noWorker(taskQueue)
	l.Advice = "start a worker on task queue " + taskQueue
}

// noWorker returns the message about a task queue without workers.
func noWorker(taskQueue string) string { return "no worker responds on task queue " + taskQueue }

// finalMessage returns the message with which a run of --once failed, "" for every
// other end.
func finalMessage(v backend.View) string {
	if v.Stale || v.Condition.Message == "" || v.Ended == "Completed" {
		return ""
	}
	return string(v.Condition.Reason) + ": " + v.Condition.Message
}

// isBlockedBy reports whether other blocks the deletion of l because other is not
// being deleted. What other waits for does not matter then.
func (l *Link) isBlockedBy(other *Link) bool {
	return (l.Reason == resource.ReasonWaitingForDependents || l.Reason == resource.ReasonContainsProtected) && !other.deleting
}

// follows reports whether the chain continues behind a link. A pause, an operation,
// a failing workflow task and the end of the workflow come before what the resource
// waits for.
func (l *Link) follows(v backend.View) bool {
	if v.Unmanaged || l.Clear || v.Operation != "" || v.Record.Obstacle() != "" || v.Record.StuckStep != "" {
		return false
	}
	if v.Deleting {
		return true
	}
	return !v.Paused && v.Phase != workflows.PhasePaused && v.Phase != workflows.PhaseOperating
}

// addWaiter corrects a link by the state and the last message of its waiter.
func (l *Link) addWaiter(waiter *Link, now time.Time) {
	l.waiter = waiter.Name
	absent := l.State == stateNotManaged || l.State == stateDeleted
	retry := retryAdvice(waiter, l, now)
	switch {
	case len(l.WaitsFor) > 0 || len(l.Cycle) > 0 || l.Cut != "" || l.Stale:
	case waiter.deleting && (absent || l.State == stateEnded || l.State == stateDetached):
		l.Advice = retry
	case absent && (waiter.Reason == resource.ReasonWaitingForOwner || waiter.Reason == resource.ReasonReferenceNotFound):
		l.WaiterMessage = waiter.Message
	case l.State == stateNotManaged:
		l.WaiterMessage, l.Advice = waiter.Message, retry
	case waiter.isBlockedBy(l) && waiter.Reason == resource.ReasonContainsProtected:
		l.block("its policy keeps it in Azure")
		l.Advice = "move it, or change its policy and apply"
	case waiter.isBlockedBy(l):
		l.blocksDeletion = true
		l.block("it is not being deleted")
		l.Advice = "delete it too: `armature delete " + l.Name + "`"
		if strings.HasPrefix(l.ID.Key(), waiter.ID.Key()+"/") {
			l.Advice += ", or everything in " + waiter.Name + ": `armature delete " + waiter.Name + " --cascade`"
		}
		l.Advice += "; " + undoAdvice(waiter.Name, waiter.abortable)
	case l.deleting && !waiter.deleting:
		l.Advice = "wait until it is deleted, then apply it again"
	case l.Clear:
		l.block("")
		l.WaiterMessage, l.Advice = waiter.Message, retry
	}
}

// block makes the link a cause, and message its only explanation.
func (l *Link) block(message string) {
	l.Clear, l.Attempt, l.Reason, l.Message, l.Origin = false, backend.Attempt{}, "", message, ""
}

// roots returns the ends of a chain, each once, in the order of the chain. Of several
// resources that block one deletion because they are not being deleted, the first
// represents all.
func (l *Link) roots() []*Link {
	var found []*Link
	known := map[string]bool{}
	blockers := map[string]*Link{}
	var visit func(l *Link)
	visit = func(l *Link) {
		for _, next := range l.WaitsFor {
			visit(next)
		}
		id := l.rootID()
		if len(l.WaitsFor) > 0 || l.Cut != "" || l.Clear || known[id] {
			return
		}
		known[id] = true
		if l.blocksDeletion {
			if first := blockers[l.waiter]; first != nil {
				first.Similar++
				return
			}
			blockers[l.waiter] = l
		}
		found = append(found, l)
	}
	visit(l)
	return found
}

// rootID identifies a root cause: a resource, or a cycle from its first name in
// alphabetical order, so that every resource of the cycle has the same root cause.
func (l *Link) rootID() string {
	if len(l.Cycle) == 0 {
		return l.key
	}
	return "cycle " + strings.Join(rotate(l.Cycle), "\n")
}

// rotate returns the names of a cycle, beginning with the first in alphabetical
// order.
func rotate(names []string) []string {
	first := 0
	for i, name := range names {
		if name < names[first] {
			first = i
		}
	}
	return append(append([]string{}, names[first:]...), names[:first]...)
}

// Key returns what a watch compares: everything but ages and the times of retries.
func (l *Link) Key() string {
	key := fmt.Sprintln(l.ID, l.State, l.Since.Unix(), l.Reason, l.WaiterMessage, l.Overdue, l.Stale, l.More, l.Cycle, l.Cut)
	for _, next := range l.WaitsFor {
		key += next.Key()
	}
	return key
}
