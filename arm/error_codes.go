package arm

import "net/http"

// statusRows are for answers whose code says nothing; the last one is for all.
func statusRows() []Row {
	return []Row{
		{Status: http.StatusUnauthorized, Class: ClassSlow, Reason: "the token was refused; a new one may not be", Source: srcContract},
		{Status: http.StatusForbidden, Class: ClassSlow, Denial: true, Reason: "role assignments take minutes to spread", Source: srcASO},
		{Status: http.StatusMethodNotAllowed, Class: ClassVerySlow, Reason: "the type does not support the method", Source: srcASO},
		{Status: http.StatusConflict, Class: ClassConflict, Reason: "the state of the resource forbids it now", Source: srcContract},
		{Status: http.StatusPreconditionFailed, Class: ClassConflict, Reason: "the ETag is old: read again", Source: srcContract},
		{Status: http.StatusLocked, Class: ClassConflict, Reason: "another operation holds the resource", Source: srcContract},
		{Status: http.StatusTooManyRequests, Class: ClassThrottled, Reason: "a request budget is used up", Source: srcLimits},
		{Status: 0, Class: ClassSlow, Reason: "unknown: most unknown errors passed when tried again", Source: srcRecorded},
	}
}

// codeRows is the table of codes. What its words say already needs no row here.
func codeRows() []Row {
	rows := absentRows()
	rows = append(rows, genericRows()...)
	rows = append(rows, conflictRows()...)
	rows = append(rows, throttledRows()...)
	rows = append(rows, deniedRows()...)
	rows = append(rows, missingRows()...)
	rows = append(rows, standingRows()...)
	return append(rows, finalRows()...)
}

func absentRows() []Row {
	return []Row{
		{Code: "ResourceNotFound", Class: ClassAbsent, Reason: "the resource is not there", Source: srcErrors},
		{Code: "ResourceGroupNotFound", Class: ClassAbsent, Reason: "its group is not there, so neither is it", Source: srcErrors},
		{Code: "ParentResourceNotFound", Class: ClassAbsent, Reason: "its parent is not there, so neither is it", Source: srcErrors},
		{Code: "NotFound", Class: ClassAbsent, Reason: "what providers say that answer themselves", Source: srcRecorded},
		{Code: "RoleAssignmentNotFound", Class: ClassAbsent, Reason: "the Authorization provider's own word for it", Source: srcReported},
	}
}

// genericRows are envelopes: a nested code says more.
func genericRows() []Row {
	return []Row{
		{Code: "UserError", Generic: true, Vague: true, Class: ClassSlow, Reason: "an envelope around any fault of a request", Source: srcRecorded},
		{Code: "BadRequest", Generic: true, Vague: true, Class: ClassSlow, Reason: "a provider's word for any refusal", Source: srcASO},
		{Code: "BadRequestFormat", Generic: true, Vague: true, Class: ClassVerySlow, Reason: "the request is wrong until somebody changes it", Source: srcASO},
		{Code: "DeploymentFailed", Generic: true, Vague: true, Class: ClassSlow, Reason: "an envelope around the error of a resource", Source: srcErrors},
		{Code: "ResourceDeploymentFailure", Generic: true, Vague: true, Class: ClassSlow, Reason: "an envelope around the error of a resource", Source: srcErrors},
		{Code: "RetryableError", Generic: true, Class: ClassConflict, Reason: "Network's 429 for what is really a conflict", Source: srcRecorded},
		{Code: "Conflict", Generic: true, Class: ClassConflict, Reason: "the state of the resource forbids it now", Source: srcASO},
	}
}

func conflictRows() []Row {
	return []Row{
		{Code: "AnotherOperationInProgress", Class: ClassConflict, Reason: "another operation on it or a relative goes on", Source: srcErrors},
		{Code: "OperationInProgress", Class: ClassConflict, Reason: "another operation on it goes on", Source: srcErrors},
		{Code: "RetryableErrorDueToAnotherOperation", Class: ClassConflict, Reason: "a 429 that is a conflict, not a budget", Source: srcRecorded},
		{Code: "ReferencedResourceNotProvisioned", Class: ClassConflict, Reason: "what the body names is still being made", Source: srcRecorded},
		{Code: "RequestConflict", Class: ClassConflict, Reason: "the provisioning state is not terminal", Source: srcErrors},
		{Code: "OperationNotAllowed", Class: ClassConflict, Reason: "the state, or a quota, forbids it now", Source: srcErrors},
		{Code: "DeploymentActive", Class: ClassConflict, Reason: "a deployment goes on", Source: srcErrors},
		{Code: "ResourceGroupBeingDeleted", Class: ClassConflict, Reason: "the group is being deleted; afterwards it can be made anew", Source: srcErrors},
		{Code: "ResourceGroupDeletionBlocked", Class: ClassConflict, Reason: "something in the group does not let go yet", Source: srcErrors},
		{Code: "PreconditionFailed", Class: ClassConflict, Reason: "the ETag is old: read again", Source: srcContract},
		{Code: "EtagMismatch", Class: ClassConflict, Reason: "the ETag is old: read again", Source: srcRecorded},
	}
}

func throttledRows() []Row {
	return []Row{
		{Code: CodeSubscriptionThrottled, Class: ClassThrottled, Reason: "the subscription's budget is used up", Source: srcLimits},
		{Code: CodeThrottled, Class: ClassThrottled, Reason: "this client keeps within the budget", Source: srcLimits},
		{Code: "ResourceRequestsThrottled", Class: ClassThrottled, Reason: "the provider's budget is used up", Source: srcLimits},
		{Code: "TooManyRequests", Class: ClassThrottled, Reason: "a request budget is used up", Source: srcLimits},
		{Code: "OperationThrottled", Class: ClassThrottled, Reason: "a request budget is used up", Source: srcLimits},
	}
}

// deniedRows pass when somebody acts outside of the manifest, or by themselves
// when what somebody did has spread.
func deniedRows() []Row {
	return []Row{
		{Code: CodeAuthenticationFailed, Class: ClassSlow, Denial: true, Reason: "no token, or a refused one; secrets get renewed", Source: srcContract},
		{Code: "InvalidAuthenticationToken", Class: ClassSlow, Denial: true, Reason: "the token was refused; a new one may not be", Source: srcContract},
		{Code: "ExpiredAuthenticationToken", Class: ClassSlow, Denial: true, Reason: "the token was refused; a new one may not be", Source: srcContract},
		{Code: "InvalidAuthenticationTokenTenant", Class: ClassVerySlow, Reason: "the credential is of another tenant", Source: srcErrors},
		{Code: "AuthorizationFailed", Class: ClassSlow, Denial: true, Reason: "role assignments take minutes to spread", Source: srcASO},
		{Code: "LinkedAuthorizationFailed", Class: ClassSlow, Denial: true, Reason: "role assignments take minutes to spread", Source: srcASO},
		{Code: "RequestDisallowedByPolicy", Class: ClassSlow, Denial: true, Reason: "policies and exemptions change without the manifest", Source: srcPolicy},
		{Code: "ResourceQuotaExceeded", Class: ClassSlow, Denial: true, Reason: "quotas get raised", Source: srcASO},
		{Code: "QuotaExceeded", Class: ClassSlow, Denial: true, Reason: "quotas get raised", Source: srcErrors},
		{Code: "ScopeLocked", Class: ClassVerySlow, Reason: "somebody locked it on purpose", Source: srcLocks},
	}
}

// missingRows wait for something that the body or the subscription lacks.
func missingRows() []Row {
	return []Row{
		{Code: CodeInvalidAnswer, Class: ClassSlow, Reason: "a proxy, or a bug, that somebody mends", Source: srcReported},
		{Code: "PrincipalNotFound", Class: ClassSlow, Reason: "new principals take minutes to spread", Source: srcASO},
		{Code: "FailedIdentityOperation", Class: ClassSlow, Reason: "new identities take minutes to spread", Source: srcASO},
		{Code: "InvalidResourceReference", Class: ClassSlow, Reason: "what the body names may be made later", Source: srcASO},
		{Code: "AllocationFailed", Class: ClassSlow, Reason: "capacity comes and goes", Source: srcASO},
		{Code: CodeMissingRegistration, Class: ClassSlow, Reason: "the provider is not registered yet", Source: srcASO},
		{Code: "MissingRegistrationForResourceProvider", Class: ClassSlow, Reason: "the provider is not registered yet", Source: srcErrors},
		{Code: "MissingRegistrationForLocation", Class: ClassSlow, Reason: "the provider is not registered yet", Source: srcASO},
		{Code: "SubscriptionNotRegistered", Class: ClassSlow, Reason: "the provider is not registered yet", Source: srcASO},
		{Code: "NoRegisteredProviderFound", Class: ClassSlow, Reason: "the provider is not registered yet, or not for this version", Source: srcASO},
		{Code: "InvalidSubscriptionRegistrationState", Class: ClassSlow, Denial: true, Reason: "the subscription is not active", Source: srcASO},
		{Code: "SubscriptionNotFound", Class: ClassVerySlow, Reason: "a wrong or hidden subscription: nothing is known of the resource", Source: srcASO},
		{Code: "ReadOnlyDisabledSubscription", Class: ClassVerySlow, Reason: "the subscription is disabled: it reads only", Source: srcStates},
		{Code: "SubscriptionDisabled", Class: ClassVerySlow, Reason: "the subscription is disabled", Source: srcStates},
	}
}

// standingRows stand until somebody changes the manifest or the subscription,
// which nobody does within minutes.
func standingRows() []Row {
	return []Row{
		{Code: "MethodNotAllowed", Class: ClassVerySlow, Reason: "the type does not support the method", Source: srcASO},
		{Code: "RegionDoesNotAllowProvisioning", Class: ClassVerySlow, Reason: "the subscription's offer excludes the region", Source: srcErrors},
		{Code: "SkuNotAvailable", Class: ClassVerySlow, Reason: "the region does not offer the SKU now", Source: srcASO},
		{Code: CodeCredentialNotUsable, Class: ClassVerySlow, Reason: "the manifest or the worker's config has to change", Source: srcOwn},
		{Code: "FlagMustBeSetForRestore", Class: ClassVerySlow, Reason: "a deleted resource holds the name: restore or purge it", Source: srcSoft},
	}
}

// finalRows wait until the manifest changes. The list is tiny on purpose:
// operators have moved codes from final to retryable for years.
func finalRows() []Row {
	return []Row{
		{Code: "InvalidRequestContent", Class: ClassNone, Reason: "the body cannot be read as the type", Source: srcASO},
		{Code: "InvalidResourceType", Class: ClassNone, Reason: "the type does not exist in this api-version", Source: srcASO},
		{Code: "LocationRequired", Class: ClassNone, Reason: "the body has no location", Source: srcASO},
		{Code: "MissingRequiredParameter", Class: ClassNone, Reason: "the body lacks a property", Source: srcASO},
		{Code: "PropertyChangeNotAllowed", Class: ClassNone, Reason: "the property cannot be changed after creation", Source: srcASO},
	}
}
