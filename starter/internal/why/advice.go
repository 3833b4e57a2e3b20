package why

import (
	"slices"
	"strings"
	"time"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/workflows"
)

const noAction = "no action needed"

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
	resource.ReasonReconciling:         noAction,
	resource.ReasonDeleting:            noAction,
	resource.ReasonThrottled:           noAction + ": Azure limits the requests",
	resource.ReasonArmUnreachable:      "check the worker's network and the health of Azure; Armature retries automatically",
	resource.ReasonOperationInProgress: noAction + " until the operation in Azure ends; `armature reconcile NAME --force --reason WHY` does not wait for it",
	resource.ReasonOperationTimeout:    "check the operation in Azure: it has exceeded reconcile.timeout; nothing is sent while it runs",
	resource.ReasonPostReconciliationFailure: "the resource exists in Azure and is not ready there: follow the message (an approval may be missing), " +
		"or wait; `armature reconcile NAME` checks now",
	resource.ReasonWaitingForSibling:    noAction + ": it waits for its turn",
	resource.ReasonSecretNotFound:       "provide the secret that the message names to the worker; Armature retries automatically",
	resource.ReasonContainsUnmanaged:    "delete what it contains, or run `armature delete NAME --cascade`",
	resource.ReasonContainsData:         "look at its data, then run `armature delete NAME --with-data`",
	resource.ReasonContainsProtected:    "change the policy of the resources that the message names, or delete the others one by one",
	resource.ReasonDriftDetected:        "copy Azure's values into the manifest, or set policy manage, and apply",
	resource.ReasonDeletionNotSupported: "delete its owner, or run `armature forget NAME` to leave it in Azure",
	resource.Reason("ScopeLocked"):      "remove the lock that the message names, or keep the resource",
	resource.ReasonObservedTooLarge:     "make the resource smaller in Azure, or write an extension that leaves out what grows (ObservationTrimmer); `armature forget NAME` ends its management",
	resource.ReasonDisappeared:          "restore it first if Azure can, as the message says; `armature reconcile --recreate NAME` (or -l SELECTOR) creates a new one, `armature forget NAME` accepts the loss",
	resource.ReasonMoved:                "state the new place in the manifest, then run the `armature move` command of the message",
	resource.ReasonSignatureMissing:     "apply it, or request its deletion, again with --signing-key",
	resource.ReasonSignatureInvalid:     "compare the key with `armature doctor --signing-key FILE`, then apply it again",
	resource.ReasonSignatureOutdated:    "apply the newest manifest, or request the deletion again, with --signing-key",
	resource.ReasonFrozen:               "writes are frozen; `armature unfreeze` lifts the freeze",
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
	if waiter.NextTry.IsZero() {
		when := " does not retry by itself"
		if dependency.State != stateNotManaged {
			when = " checks again when " + dependency.Name + " changes"
		}
		return waiter.Name + when + "; `armature reconcile " + waiter.Name + "` retries now"
	}
	when := cli.In(waiter.NextTry, now)
	return waiter.Name + " retries " + when + "; `armature reconcile " + waiter.Name + "` retries now"
}
