package arm

import "net/http"

// statusRows are for responses without a known code; the last one matches every
// status.
var statusRows = []Row{
	{Status: http.StatusUnauthorized, Class: ClassSlow, Reason: "the token was rejected; a new one may be accepted", Source: srcContract},
	{Status: http.StatusForbidden, Class: ClassSlow, Denial: true, Reason: "role assignments take minutes to replicate", Source: srcASO},
	{Status: http.StatusMethodNotAllowed, Class: ClassVerySlow, Reason: "the type does not support the method", Source: srcASO},
	{Status: http.StatusConflict, Class: ClassConflict, Reason: "the state of the resource forbids it now", Source: srcContract},
	{Status: http.StatusPreconditionFailed, Class: ClassConflict, Reason: "the ETag is old: read again", Source: srcContract},
	{Status: http.StatusLocked, Class: ClassConflict, Reason: "another operation is in progress", Source: srcContract},
	{Status: http.StatusTooManyRequests, Class: ClassThrottled, Reason: "a request budget is exhausted", Source: srcLimits},
	{Status: 0, Class: ClassSlow, Reason: "unknown: most unknown errors cleared on retry", Source: srcRecorded},
}

// codeRows are the known codes. A code needs no row where its words lead to the right
// class.
var codeRows = []Row{
	// The codes that prove an absence.
	{Code: "ResourceNotFound", Class: ClassAbsent, Reason: "the resource does not exist", Source: srcErrors},
	{Code: "ResourceGroupNotFound", Class: ClassAbsent, Reason: "its group does not exist", Source: srcErrors},
	{Code: "ParentResourceNotFound", Class: ClassAbsent, Reason: "its parent does not exist", Source: srcErrors},
	{Code: "NotFound", Class: ClassAbsent, Reason: "used by providers that respond themselves", Source: srcRecorded},
	{Code: "RoleAssignmentNotFound", Class: ClassAbsent, Reason: "used by the Authorization provider", Source: srcReported},
	{Code: "SubscriptionAliasNotFound", Class: ClassAbsent, Reason: "the alias does not exist; no list of the tenant could prove it", Source: srcRecorded},

	// Envelopes: their nested codes are more specific.
	{Code: "UserError", Generic: true, Vague: true, Class: ClassSlow, Reason: "an envelope around any error of a request", Source: srcRecorded},
	{Code: "BadRequest", Generic: true, Vague: true, Class: ClassSlow, Reason: "used by providers for any refusal", Source: srcASO},
	{Code: "BadRequestFormat", Generic: true, Vague: true, Class: ClassVerySlow, Reason: "the request is wrong until it is changed", Source: srcASO},
	{Code: "DeploymentFailed", Generic: true, Vague: true, Class: ClassSlow, Reason: "an envelope around the error of a resource", Source: srcErrors},
	{Code: "ResourceDeploymentFailure", Generic: true, Vague: true, Class: ClassSlow, Reason: "an envelope around the error of a resource", Source: srcErrors},
	{Code: "RetryableError", Generic: true, Class: ClassConflict, Reason: "Network's 429 for a conflict", Source: srcRecorded},
	{Code: "Conflict", Generic: true, Class: ClassConflict, Reason: "the state of the resource forbids it now", Source: srcASO},

	// States that clear by themselves.
	{Code: "AnotherOperationInProgress", Class: ClassConflict, Reason: "another operation on it, its parent or a child is in progress", Source: srcErrors},
	{Code: "OperationInProgress", Class: ClassConflict, Reason: "another operation on it is in progress", Source: srcErrors},
	{Code: "RetryableErrorDueToAnotherOperation", Class: ClassConflict, Reason: "a 429 that is a conflict, not a budget", Source: srcRecorded},
	{Code: "ReferencedResourceNotProvisioned", Class: ClassConflict, Reason: "a reference in the body is still being created", Source: srcRecorded},
	{Code: "RequestConflict", Class: ClassConflict, Reason: "the provisioning state is not terminal", Source: srcErrors},
	{Code: "OperationNotAllowed", Class: ClassConflict, Reason: "the state, or a quota, forbids it now", Source: srcErrors},
	{Code: "DeploymentActive", Class: ClassConflict, Reason: "a deployment is in progress", Source: srcErrors},
	{Code: "ResourceGroupBeingDeleted", Class: ClassConflict, Reason: "the group is being deleted; afterwards it can be recreated", Source: srcErrors},
	{Code: "ResourceGroupDeletionBlocked", Class: ClassConflict, Reason: "something in the group cannot be deleted yet", Source: srcErrors},
	{Code: "PreconditionFailed", Class: ClassConflict, Reason: "the ETag is old: read again", Source: srcContract},
	{Code: "EtagMismatch", Class: ClassConflict, Reason: "the ETag is old: read again", Source: srcRecorded},

	// The codes of exhausted budgets.
	{Code: CodeSubscriptionThrottled, Class: ClassThrottled, Reason: "the subscription's budget is exhausted", Source: srcLimits},
	{Code: CodeThrottled, Class: ClassThrottled, Reason: "this client keeps within the budget", Source: srcLimits},
	{Code: "ResourceRequestsThrottled", Class: ClassThrottled, Reason: "the provider's budget is exhausted", Source: srcLimits},
	{Code: "TooManyRequests", Class: ClassThrottled, Reason: "a request budget is exhausted", Source: srcLimits},
	{Code: "OperationThrottled", Class: ClassThrottled, Reason: "a request budget is exhausted", Source: srcLimits},

	// Errors that clear when something outside the manifest changes, or when such a
	// change has replicated.
	{Code: CodeAuthenticationFailed, Class: ClassSlow, Denial: true, Reason: "no token, or a rejected one; secrets are renewed", Source: srcContract},
	{Code: "InvalidAuthenticationToken", Class: ClassSlow, Denial: true, Reason: "the token was rejected; a new one may be accepted", Source: srcContract},
	{Code: "ExpiredAuthenticationToken", Class: ClassSlow, Denial: true, Reason: "the token was rejected; a new one may be accepted", Source: srcContract},
	{Code: "InvalidAuthenticationTokenTenant", Class: ClassVerySlow, Reason: "the credential is of another tenant", Source: srcErrors},
	{Code: "AuthorizationFailed", Class: ClassSlow, Denial: true, Reason: "role assignments take minutes to replicate", Source: srcASO},
	{Code: "LinkedAuthorizationFailed", Class: ClassSlow, Denial: true, Reason: "role assignments take minutes to replicate", Source: srcASO},
	{Code: "RequestDisallowedByPolicy", Class: ClassSlow, Denial: true, Reason: "policies and exemptions change without the manifest", Source: srcPolicy},
	{Code: "ResourceQuotaExceeded", Class: ClassSlow, Denial: true, Reason: "quotas are raised", Source: srcASO},
	{Code: "QuotaExceeded", Class: ClassSlow, Denial: true, Reason: "quotas are raised", Source: srcErrors},
	{Code: "ScopeLocked", Class: ClassVerySlow, Reason: "a lock was set on purpose", Source: srcLocks},

	// Errors for something that the body or the subscription lacks and that may still
	// be added.
	{Code: CodeInvalidAnswer, Class: ClassSlow, Reason: "a proxy or a bug, which will be fixed", Source: srcReported},
	{Code: "PrincipalNotFound", Class: ClassSlow, Reason: "new principals take minutes to replicate", Source: srcASO},
	{Code: "FailedIdentityOperation", Class: ClassSlow, Reason: "new identities take minutes to replicate", Source: srcASO},
	{Code: "InvalidResourceReference", Class: ClassSlow, Reason: "a reference in the body may be created later", Source: srcASO},
	{Code: "AllocationFailed", Class: ClassSlow, Reason: "capacity varies", Source: srcASO},
	{Code: CodeMissingRegistration, Class: ClassSlow, Reason: "the provider is not registered yet", Source: srcASO},
	{Code: "MissingRegistrationForResourceProvider", Class: ClassSlow, Reason: "the provider is not registered yet", Source: srcErrors},
	{Code: "MissingRegistrationForLocation", Class: ClassSlow, Reason: "the provider is not registered yet", Source: srcASO},
	{Code: "SubscriptionNotRegistered", Class: ClassSlow, Reason: "the provider is not registered yet", Source: srcASO},
	{Code: "NoRegisteredProviderFound", Class: ClassSlow, Reason: "the provider is not registered yet, or not for this version", Source: srcASO},
	{Code: "InvalidSubscriptionRegistrationState", Class: ClassSlow, Denial: true, Reason: "the subscription is not active", Source: srcASO},
	{Code: codeSubscriptionNotFound, Class: ClassVerySlow, Reason: "a wrong or hidden subscription: it proves nothing about the resource", Source: srcASO},
	{Code: "ReadOnlyDisabledSubscription", Class: ClassVerySlow, Reason: "the subscription is disabled: it is read-only", Source: srcStates},
	{Code: "SubscriptionDisabled", Class: ClassVerySlow, Reason: "the subscription is disabled", Source: srcStates},

	// Errors that stay until the manifest or the subscription is changed, which takes
	// longer than minutes.
	{Code: "MethodNotAllowed", Class: ClassVerySlow, Reason: "the type does not support the method", Source: srcASO},
	{Code: "RegionDoesNotAllowProvisioning", Class: ClassVerySlow, Reason: "the subscription's offer excludes the region", Source: srcErrors},
	{Code: "SkuNotAvailable", Class: ClassVerySlow, Reason: "the region does not offer the SKU now", Source: srcASO},
	{Code: "InvalidResourceLocation", Class: ClassVerySlow, Reason: "the resource exists in another location, which only a new one changes", Source: srcReported},
	{Code: "InvalidResourceGroupLocation", Class: ClassVerySlow, Reason: "the group exists in another location, which only a new one changes", Source: srcReported},
	{Code: CodeReadOnly, Class: ClassVerySlow, Reason: "a worker that may write has to take it", Source: srcOwn},
	{Code: CodeCredentialNotUsable, Class: ClassVerySlow, Reason: "the manifest or the worker's config has to change", Source: srcOwn},
	{Code: "FlagMustBeSetForRestore", Class: ClassVerySlow, Reason: "a deleted resource occupies the name: restore or purge it", Source: srcSoft},

	// Errors that only a change of the manifest clears. The list is short on purpose:
	// operators have moved codes from final to retryable for years.
	{Code: "InvalidRequestContent", Class: ClassNone, Reason: "the body cannot be read as the type", Source: srcASO},
	{Code: "InvalidResourceType", Class: ClassNone, Reason: "the type does not exist in this api-version", Source: srcASO},
	{Code: "LocationRequired", Class: ClassNone, Reason: "the body has no location", Source: srcASO},
	{Code: "MissingRequiredParameter", Class: ClassNone, Reason: "the body lacks a property", Source: srcASO},
	{Code: "PropertyChangeNotAllowed", Class: ClassNone, Reason: "the property cannot be changed after creation", Source: srcASO},
}
