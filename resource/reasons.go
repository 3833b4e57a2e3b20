package resource

import "slices"

// Reason is a word for programs and people: one of the constants below, or the
// code of an ARM error.
type Reason string

// The reasons of Armature itself. Names that Azure Service Operator has are kept.
// Reasons are stored in search attributes and histories and never change.
const (
	ReasonSucceeded                 Reason = "Succeeded"
	ReasonReconciling               Reason = "Reconciling"
	ReasonDeleting                  Reason = "Deleting"
	ReasonDeleted                   Reason = "Deleted"
	ReasonDetached                  Reason = "Detached"
	ReasonPaused                    Reason = "Paused"
	ReasonInSync                    Reason = "InSync"
	ReasonNotFound                  Reason = "NotFound"
	ReasonDrift                     Reason = "Drift"
	ReasonWaitingForOwner           Reason = "WaitingForOwner"
	ReasonReferenceNotFound         Reason = "ReferenceNotFound"
	ReasonReferenceNotReady         Reason = "ReferenceNotReady"
	ReasonSecretNotFound            Reason = "SecretNotFound"
	ReasonReconciliationBlocked     Reason = "ReconciliationBlocked"
	ReasonPostReconciliationFailure Reason = "PostReconciliationFailure"
	ReasonCheckFailed               Reason = "CheckFailed"
	ReasonOperationInProgress       Reason = "OperationInProgress"
	ReasonOperationTimeout          Reason = "OperationTimeout"
	ReasonOperationFailed           Reason = "OperationFailed"
	ReasonChangeNotTaken            Reason = "ChangeNotTaken"
	ReasonDriftDetected             Reason = "DriftDetected"
	ReasonContested                 Reason = "Contested"
	ReasonThrottled                 Reason = "Throttled"
	ReasonArmUnreachable            Reason = "ArmUnreachable"
	ReasonTemporalSlow              Reason = "TemporalSlow"
	ReasonTemporalUnavailable       Reason = "TemporalUnavailable"
	ReasonContainsUnmanaged         Reason = "ContainsUnmanaged"
	ReasonContainsProtected         Reason = "ContainsProtected"
	ReasonContainsData              Reason = "ContainsData"
	ReasonProtected                 Reason = "Protected"
	ReasonWaitingForDependents      Reason = "WaitingForDependents"
	ReasonWaitingForOwnerDelete     Reason = "WaitingForOwnerDelete"
	ReasonWaitingForSibling         Reason = "WaitingForSibling"
	ReasonFrozen                    Reason = "Frozen"
	ReasonSignatureMissing          Reason = "SignatureMissing"
	ReasonSignatureInvalid          Reason = "SignatureInvalid"
	ReasonSignatureOutdated         Reason = "SignatureOutdated"
	ReasonHeld                      Reason = "Held"
	ReasonReadOnly                  Reason = "ReadOnly"
	ReasonOlderThanRecorded         Reason = "OlderThanRecorded"
	ReasonStopped                   Reason = "Stopped"
	ReasonDisappeared               Reason = "Disappeared"
	ReasonMoved                     Reason = "Moved"
	ReasonCreatedAgain              Reason = "CreatedAgain"
	ReasonAlreadyExists             Reason = "AlreadyExists"
	ReasonDeletionNotSupported      Reason = "DeletionNotSupported"
	ReasonObservedTooLarge          Reason = "ObservedTooLarge"
	ReasonStuck                     Reason = "Stuck"
	ReasonSuperseded                Reason = "Superseded"
	ReasonExportNotAllowed          Reason = "ExportNotAllowed"
	ReasonExportRefused             Reason = "ExportRefused"
	ReasonExportNoValue             Reason = "ExportNoValue"
	ReasonAuditUnavailable          Reason = "AuditUnavailable"
	ReasonFailed                    Reason = "Failed"
	ReasonUnknownError              Reason = "UnknownError"
)

// ReasonInfo describes one reason.
type ReasonInfo struct {
	Reason Reason
	// RetryClass is the class of a verdict that does not carry its own; "" for a
	// reason that no verdict waits on.
	RetryClass RetryClass
	// Actor has to act before a resource leaves the state; "" where time ends it.
	Actor string
	// Meaning is one sentence for docs/troubleshooting.md.
	Meaning string
}

// Reasons returns all reasons of Armature itself.
func Reasons() []ReasonInfo {
	return []ReasonInfo{
		{ReasonSucceeded, "", "", "Ready: Azure matches the manifest."},
		{ReasonReconciling, "", "", "ARM accepted a PUT and is working on it, or the first pass is in progress."},
		{ReasonDeleting, RetrySlow, "", "A deletion is in progress."},
		{ReasonDeleted, "", "", "Azure no longer has the resource; its workflow has ended."},
		{ReasonDetached, "", "", "Armature stopped managing the resource and left it in Azure."},
		{ReasonPaused, "", "the user who paused it", "The resource is paused; no step starts."},
		{ReasonInSync, "", "", "A pre-check found no difference to write; no PUT was sent."},
		{ReasonNotFound, RetrySlow, "the team that creates it, or the owner of the manifest", "The resource does not exist in Azure."},
		{ReasonDrift, "", "", "A pre-check found differences; a PUT follows."},
		{ReasonWaitingForOwner, RetrySlow, "", "The owner does not exist in Azure."},
		{ReasonReferenceNotFound, RetrySlow, "", "A resource named by `$ref` or `dependsOn` does not exist in Azure."},
		{ReasonReferenceNotReady, RetrySlow, "", "A resource named by `$ref` or `dependsOn` is not ready, or lacks the requested value."},
		{ReasonSecretNotFound, RetrySlow, "the operator of the worker", "The worker has no such secret or may not read it."},
		{ReasonReconciliationBlocked, RetrySlow, "", "A check blocks the request, for example because the owner is being updated."},
		{ReasonPostReconciliationFailure, RetrySlow, "", "The resource exists in Azure and is not ready there."},
		{ReasonCheckFailed, RetrySlow, "", "A check returned an error, timed out or could not read what it needs."},
		{ReasonOperationInProgress, RetrySlow, "", "Another operation on the resource is in progress in Azure."},
		{ReasonOperationTimeout, RetrySlow, "", "The long-running operation exceeded `reconcile.timeout`."},
		{ReasonOperationFailed, RetrySlow, "", "The long-running operation failed or was canceled, and Azure gave no code."},
		{ReasonChangeNotTaken, RetryVerySlow, "", "Ready, with a warning: Azure accepted the PUT and kept its own value."},
		{ReasonDriftDetected, RetryVerySlow, "the owner of the manifest", "Azure differs from the manifest, and the policy is `observe`, or the worker's setting `observe` selects the resource."},
		{ReasonContested, RetryVerySlow, "you and the other writer", "Another writer keeps changing a value that Armature restored."},
		{ReasonThrottled, RetrySlow, "", "A request budget of the subscription or provider is exhausted."},
		{ReasonArmUnreachable, RetrySlow, "", "Azure does not respond, or responds with 5xx repeatedly."},
		{ReasonTemporalSlow, RetryFast, "", "Temporal did not answer in time whether the write may be sent; nothing was sent."},
		{ReasonTemporalUnavailable, RetryFast, "", "Temporal could not be asked whether the write may be sent; nothing was sent."},
		{ReasonContainsUnmanaged, RetrySlow, "you", "The DELETE would also delete resources that Armature does not manage."},
		{ReasonContainsProtected, RetryVerySlow, "the owner of the manifest that keeps it", "A cascade would also delete a resource whose policy forbids it."},
		{ReasonContainsData, RetryVerySlow, "you", "The DELETE would also delete data that ARM does not list."},
		{ReasonProtected, RetryVerySlow, "the owner of the manifest", "The policy of the manifest does not allow the write."},
		{ReasonWaitingForDependents, RetrySlow, "", "Managed resources that need this one must be deleted first."},
		{ReasonWaitingForOwnerDelete, RetrySlow, "", "Azure deletes the resource only together with its owner, which is being deleted."},
		{ReasonWaitingForSibling, RetrySlow, "", "Azure allows one change at a time in the owner; another resource has the turn."},
		{ReasonFrozen, RetrySlow, "the user who froze it", "A freeze stops writes; reads continue."},
		{ReasonSignatureMissing, RetrySlow, "the owner of the manifest", "The worker writes signed specs only, and the spec or deletion has no signature."},
		{ReasonSignatureInvalid, RetrySlow, "the owner of the manifest", "The signature of the spec or deletion is not one that the worker accepts."},
		{ReasonSignatureOutdated, RetrySlow, "the owner of the manifest", "The spec or deletion was signed before a newer one, or too long ago."},
		{ReasonHeld, RetrySlow, "", "A budget of the workers within an hour is exhausted: corrections, or recreations of what was deleted outside Armature. Or the removal of an item that others added to a list of the manifest waits for a user."},
		{ReasonReadOnly, RetryVerySlow, "the operator of the worker", "The worker that serves the task queue is read-only; reads continue, nothing is written."},
		{ReasonOlderThanRecorded, RetryVerySlow, "you", "A later apply or delete of the resource is recorded outside of Temporal: this spec comes from an older state of the database."},
		{ReasonStopped, RetryVerySlow, "the user who stopped it, or the owner of the manifest", "The resource is stopped and differs from the manifest; a PUT could start it."},
		{ReasonDisappeared, RetrySlow, "the owner of the manifest", "The resource was deleted outside Armature."},
		{ReasonMoved, RetryVerySlow, "the owner of the manifest", "The resource was moved to another resource group; it is not created again at its old place."},
		{ReasonCreatedAgain, RetryVerySlow, "you", "Since its deletion began, the resource was deleted and created again: the new one stays until a user repeats the deletion."},
		{ReasonAlreadyExists, RetrySlow, "the owner of the manifest", "The resource exists, and the manifest does not allow its adoption."},
		{ReasonDeletionNotSupported, RetryVerySlow, "you", "Azure has no DELETE for this type."},
		{ReasonObservedTooLarge, RetryVerySlow, "the owner of the manifest", "The resource in Azure is too large to be stored in Temporal, so it cannot be compared."},
		{ReasonStuck, "", "", "A step of the pass keeps failing without a verdict."},
		{ReasonSuperseded, RetryFast, "", "A newer spec was applied, or another attempt took over, before the write left: nothing was sent."},
		{ReasonExportNotAllowed, RetryVerySlow, "the operator of the worker", "An export names a secret that the worker's configuration does not allow, or an action whose answers are not the same twice."},
		{ReasonExportRefused, RetryVerySlow, "you", "Azure refuses to list a value of an export, or the key vault refuses to store it; or the secret is not one that Armature wrote."},
		{ReasonExportNoValue, RetrySlow, "the owner of the manifest", "The path or text of an export leads to no value."},
		{ReasonAuditUnavailable, RetrySlow, "the operator of the worker", "The worker could not write its audit line, and sends nothing without one (`audit.on-failure: stop`)."},
		{ReasonFailed, RetrySlow, "", "A failure that no other reason fits; see the message."},
		{ReasonUnknownError, RetrySlow, "", "Azure refused a request and gave no code."},
	}
}

// Class returns the retry class of a verdict that does not carry its own, Slow
// for the code of an ARM error.
func (r Reason) Class() RetryClass {
	for _, info := range Reasons() {
		if info.Reason == r && info.RetryClass != "" {
			return info.RetryClass
		}
	}
	return RetrySlow
}

// IsKnown reports whether the reason is one of Armature, and no code of Azure.
func (r Reason) IsKnown() bool {
	return slices.ContainsFunc(Reasons(), func(info ReasonInfo) bool { return info.Reason == r })
}

// Actor returns who has to act before a resource leaves a state with the reason, ""
// where time ends it, and for the code of an ARM error.
func (r Reason) Actor() string {
	for _, info := range Reasons() {
		if info.Reason == r {
			return info.Actor
		}
	}
	return ""
}
