package why

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/workflows"
)

// NoAction is the advice for a cause that ends by itself, or its beginning.
const NoAction = "no action needed"

// adviceFor returns the advice for a resource that waits for no other one.
func adviceFor(c resource.Condition, phase workflows.Phase, name string) string {
	advice, known := advices[c.Reason]
	switch {
	case c.Reason == resource.ReasonHeld:
		advice = heldAdvice(c.Message)
	case known:
	case c.Severity == resource.SeverityError || phase == workflows.PhaseFailed:
		advice = "follow the message, then apply or run `armature reconcile NAME`"
	case !slices.ContainsFunc(resource.Reasons(), func(info resource.ReasonInfo) bool { return info.Reason == c.Reason }) || c.Reason.Class() == resource.RetryVerySlow:
		// The reason is a code of Azure's, and many of them never clear by themselves.
		advice = "if the message names a mistake, correct the manifest and apply; `armature reconcile NAME` retries now"
	default:
		advice = "Armature retries automatically; `armature reconcile NAME` retries now"
	}
	return strings.ReplaceAll(advice, "NAME", name)
}

// link returns the link of a view, with what freezes and worker versions say about it.
func (e *Engine) link(ctx context.Context, v backend.View) *Link {
	l := newLink(v, e.taskQueue, e.now)
	switch {
	case l.Stale && l.Message == noWorker(cmp.Or(v.Record.TaskQueue, e.taskQueue)) && e.sources.Stranded != nil:
		if message, advice := e.sources.Stranded(ctx, v.Record); advice != "" {
			l.Message, l.Advice = message, advice
		}
	case l.Reason == resource.ReasonFrozen && !l.Stale && !l.Clear:
		if advice := e.freezeAdvice(ctx, v.Record.Labels); advice != "" {
			l.Advice = advice
		}
	}
	return l
}

// freezeAdvice returns the commands that lift the freezes of a resource with the labels, ""
// if they are not known.
func (e *Engine) freezeAdvice(ctx context.Context, labels []string) string {
	if !e.areFreezesRead && e.sources.Freezes != nil {
		// Without an answer, the message of the condition has to do.
		e.frozen, _ = e.sources.Freezes(ctx)
		e.areFreezesRead = true
	}
	values := map[string]string{}
	for _, label := range labels {
		key, value, _ := strings.Cut(label, "=")
		values[key] = value
	}
	var commands []string
	for _, freeze := range e.frozen {
		if freeze.Matches(values) {
			commands = append(commands, "`armature unfreeze"+cli.SelectorFlag(freeze.Selector)+"`")
		}
	}
	switch len(commands) {
	case 0:
		return ""
	case 1:
		return "writes are frozen; " + commands[0] + " lifts the freeze"
	}
	return "writes are frozen " + strconv.Itoa(len(commands)) + " times; " + strings.Join(commands, " and ") + " lift the freezes"
}

// heldAdvice returns the advice for a write that is held, by what holds it.
func heldAdvice(message string) string {
	switch {
	case strings.Contains(message, "disappearance-budget"):
		return "check whether these deletions are meant; the rest follows as the budget allows, `armature reconcile --recreate NAME` (or -l SELECTOR) recreates now, `armature freeze` stops all"
	case strings.Contains(message, "put-budget"):
		return "check whether these differences are real; the rest follows as the budget allows, `armature reconcile NAME` (or -l SELECTOR) corrects now, `armature freeze` stops all"
	}
	return "follow the message: time alone does not release the write"
}

// advices has the advice for reasons that need no further context.
var advices = map[resource.Reason]string{
	resource.ReasonReconciling:         NoAction,
	resource.ReasonDeleting:            NoAction,
	resource.ReasonThrottled:           NoAction + ": Azure limits the requests",
	resource.ReasonArmUnreachable:      "check the worker's network and the health of Azure; Armature retries automatically",
	resource.ReasonTemporalSlow:        "check the load and the database of Temporal: `armature doctor`; Armature retries automatically",
	resource.ReasonTemporalUnavailable: "check the worker's connection to Temporal: `armature doctor`; Armature retries automatically",
	resource.ReasonOperationInProgress: NoAction + " until the operation in Azure ends; `armature reconcile NAME --force --reason WHY` does not wait for it",
	resource.ReasonOperationTimeout:    "check the operation in Azure: it has exceeded reconcile.timeout; nothing is sent while it runs",
	resource.ReasonPostReconciliationFailure: "the resource exists in Azure and is not ready there: follow the message (an approval may be missing), " +
		"or wait; `armature reconcile NAME` checks now",
	resource.ReasonWaitingForSibling:    NoAction + ": it waits for its turn",
	resource.ReasonSecretNotFound:       "provide the secret that the message names to the worker; Armature retries automatically",
	resource.ReasonContainsUnmanaged:    "delete what it contains, or run `armature delete NAME --cascade`",
	resource.ReasonContainsData:         "look at its data, then run `armature delete NAME --with-data`",
	resource.ReasonCreatedAgain:         "look at the new one, then run `armature delete NAME` to delete it too, or `armature forget NAME` to leave it in Azure",
	resource.ReasonContainsProtected:    "change the policy of the resources that the message names, or delete the others one by one",
	resource.ReasonDriftDetected:        "copy Azure's values into the manifest and apply it, or let Armature correct: set policy manage, or take the resource out of the worker's setting observe",
	resource.ReasonDeletionNotSupported: "delete its owner, or run `armature forget NAME` to leave it in Azure",
	resource.Reason("ScopeLocked"):      "remove the lock that the message names, or keep the resource",
	resource.ReasonObservedTooLarge:     "make the resource smaller in Azure, or write an extension that leaves out what grows (ObservationTrimmer); `armature forget NAME` ends its management",
	resource.ReasonDisappeared:          "restore it first if Azure can, as the message says; `armature reconcile --recreate NAME` (or -l SELECTOR) creates a new one, `armature forget NAME` accepts the loss",
	resource.ReasonMoved:                "state the new place in the manifest, then run the `armature move` command of the message",
	resource.ReasonSignatureMissing:     "apply it, or request its deletion, again with --signing-key",
	resource.ReasonSignatureInvalid:     "compare the key with `armature doctor --signing-key FILE`, then apply it again",
	resource.ReasonSignatureOutdated:    "apply the newest manifest, or request the deletion again, with --signing-key",
	resource.ReasonFrozen:               "writes are frozen; the message has the command that lifts the freeze",
	resource.ReasonReadOnly:             "a worker without read-only on this task queue writes it",
	resource.ReasonOlderThanRecorded:    "apply the manifest that is meant: what is applied now is the newest; `armature forget NAME` if another namespace manages it",
}

// undoAdvice returns how to end a deletion that waits: what has sent nothing can be taken
// back.
func undoAdvice(name string, abortable bool) string {
	forget := "`armature forget " + name + "` ends only its management"
	if abortable {
		return "`armature delete --abort " + name + "` keeps it, " + forget
	}
	return forget
}

// retryAdvice returns when a waiter checks its dependency again. A managed dependency
// wakes it.
func retryAdvice(waiter, dependency *Link, now time.Time) string {
	if waiter.NoTry() {
		when := " does not retry by itself"
		if dependency.State != stateNotManaged {
			when = " checks again when " + dependency.Name + " changes"
		}
		return waiter.Name + when + "; `armature reconcile " + waiter.Name + "` retries now"
	}
	when := waiter.TryText(now)
	return waiter.Name + " retries " + when + "; `armature reconcile " + waiter.Name + "` retries now"
}
