package main

import (
	"strings"
	"time"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// todo is what to do about a resource that waits for no other one.
func todo(c resource.Condition, phase workflows.Phase, name string) string {
	if text, known := todos()[c.Reason]; known {
		return strings.ReplaceAll(text, "NAME", name)
	}
	if c.Severity == resource.SeverityError || phase == workflows.PhaseFailed {
		return "do what the message asks, then apply it or run `armature reconcile " + name + "`"
	}
	return "it is tried again by itself; `armature reconcile " + name + "` tries at once"
}

// todos are the ways out by reason, where the reason alone tells.
func todos() map[resource.Reason]string {
	return map[resource.Reason]string{
		resource.ReasonReconciling:         "nothing to do but wait",
		resource.ReasonDeleting:            "nothing to do but wait",
		resource.ReasonThrottled:           "nothing to do but wait: Azure limits the requests",
		resource.ReasonArmUnreachable:      "look at the worker's network and at Azure's health; it is tried again by itself",
		resource.ReasonOperationInProgress: "nothing to do but wait for the operation in Azure; `armature reconcile NAME --force --reason WHY` goes past it",
		resource.ReasonOperationTimeout:    "look at the operation in Azure: it outlives reconcile.timeout; nothing is sent while it goes on",
		resource.ReasonPostReconciliationFailure: "Azure has it, and it is not ready there: do what the message asks (give an approval, for example), " +
			"or wait; `armature reconcile NAME` looks at once",
		resource.ReasonWaitingForSibling:    "nothing to do but wait for its turn",
		resource.ReasonSecretNotFound:       "give the worker the secret that the message names; it is tried again by itself",
		resource.ReasonContainsUnmanaged:    "delete what it holds, or `armature delete NAME --cascade`",
		resource.ReasonContainsProtected:    "change the policy of what the message names, or delete the others one by one",
		resource.ReasonDriftDetected:        "write what Azure has into the manifest, or give it the policy manage, and apply",
		resource.ReasonDeletionNotSupported: "give it the policy detach-on-delete, apply, and delete it again",
		resource.Reason("ScopeLocked"):      "take the lock away that the message names, or leave the resource",
		resource.Reason("Frozen"):           "writes are frozen: lift the freeze",
	}
}

// seenBy corrects a link by what the resource that waits for it tells.
func (l *link) seenBy(waiter *link, now time.Time) {
	l.waiter = waiter.Name
	again := waiter.Name + " looks again by itself"
	if !waiter.NextTry.IsZero() {
		again = waiter.Name + " looks again " + until(waiter.NextTry, now)
	}
	again += "; `armature reconcile " + waiter.Name + "` looks at once"
	absent := l.State == stateNotManaged || l.State == stateDeleted
	switch {
	case len(l.WaitsFor) > 0 || len(l.Cycle) > 0 || l.Cut != "" || l.Stale:
	case waiter.deleting && (absent || l.State == stateEnded || l.State == stateDetached):
		l.Todo = again
	case absent && notThere(waiter.Reason):
		l.Saw = waiter.Message
	case l.State == stateNotManaged:
		l.Saw, l.Todo = waiter.Message, again
	case waiter.holdsUp(l) && waiter.Reason == resource.ReasonContainsProtected:
		l.Clear, l.NextTry, l.Reason, l.Message = false, time.Time{}, "", "its policy keeps it in Azure"
		l.Todo = "move it, or give it another policy and apply"
	case waiter.holdsUp(l):
		l.undeleted = true
		l.Clear, l.NextTry, l.Reason, l.Message = false, time.Time{}, "", "nobody deletes it"
		l.Todo = "delete it too: `armature delete " + l.Name + "`"
		if strings.HasPrefix(l.ID.Key(), waiter.ID.Key()+"/") {
			l.Todo += ", or all that " + waiter.Name + " holds: `armature delete " + waiter.Name + " --cascade`"
		}
	case l.deleting && !waiter.deleting:
		l.Todo = "wait until it is gone, then apply it again"
	case l.Clear:
		l.Clear, l.NextTry, l.Reason, l.Message = false, time.Time{}, "", ""
		l.Saw, l.Todo = waiter.Message, again
	}
}

// notThere reports whether a reason says that something does not exist.
func notThere(reason resource.Reason) bool {
	return reason == resource.ReasonWaitingForOwner || reason == resource.ReasonReferenceNotFound
}
