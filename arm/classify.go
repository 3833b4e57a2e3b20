package arm

import (
	"net/http"
	"strings"
)

// Row is one row of the error table: what a code or a status means, why, and
// where that is known from.
type Row struct {
	// Code is an ARM error code; codes compare ignoring case.
	Code string
	// Status is set, and Code empty, in the rows for answers without a code
	// that the table knows; 0 is the last resort.
	Status int
	Class  Class
	// Generic codes wrap a more telling nested code, which is asked first.
	Generic bool
	Reason  string
	Source  string
}

// Sources of the rows.
const (
	srcASO      = "Azure Service Operator, default error classifier"
	srcErrors   = "learn.microsoft.com, common Azure deployment errors"
	srcLimits   = "learn.microsoft.com, request limits and throttling"
	srcContract = "resource provider contract"
	srcRecorded = "recorded traffic"
)

// Classify finds the row of an answer: by code first (of a generic code, the
// first nested code that the table knows), then by status, else Slow: an error
// judged final by mistake is a resource that is stuck for ever, one judged
// retryable by mistake costs a request every three minutes. nested are the
// codes of details and inner errors, outermost first.
//
// Absent needs a 404 and a code of its own; a nested one counts only inside a
// generic code, and a nested code that says otherwise wins (NotFound around
// SubscriptionNotFound). A row that says so for another status becomes Slow:
// something that the request names is missing.
func Classify(status int, code string, nested []string) Row {
	row, known := rowOfCode(code)
	if !known || row.Generic || row.Class == ClassAbsent {
		for _, inner := range nested {
			found, ok := rowOfCode(inner)
			if !ok || found.Generic || found.Class == ClassAbsent && !known {
				continue
			}
			row, known = found, true
			break
		}
	}
	if !known {
		row = rowOfStatus(status)
	}
	if row.Class == ClassAbsent && status != http.StatusNotFound {
		row.Class, row.Reason = ClassSlow, "something that the request names is missing"
	}
	return row
}

func rowOfCode(code string) (Row, bool) {
	if code == "" {
		return Row{}, false
	}
	for _, row := range codeRows() {
		if strings.EqualFold(row.Code, code) {
			return row, true
		}
	}
	return Row{}, false
}

func rowOfStatus(status int) Row {
	rows := statusRows()
	for _, row := range rows {
		if row.Status == status {
			return row
		}
	}
	if status >= 500 {
		return Row{Status: status, Class: ClassSlow, Reason: "the service failed, not the request", Source: srcContract}
	}
	return rows[len(rows)-1]
}

// statusRows are for answers whose code says nothing; the last one is for all.
func statusRows() []Row {
	return []Row{
		{Status: http.StatusUnauthorized, Class: ClassSlow, Reason: "the token was refused; a new one may not be", Source: srcContract},
		{Status: http.StatusForbidden, Class: ClassSlow, Reason: "role assignments take minutes to spread", Source: srcASO},
		{Status: http.StatusMethodNotAllowed, Class: ClassVerySlow, Reason: "the type does not support the method", Source: srcASO},
		{Status: http.StatusConflict, Class: ClassConflict, Reason: "the state of the resource forbids it now", Source: srcContract},
		{Status: http.StatusPreconditionFailed, Class: ClassConflict, Reason: "the ETag is old: read again", Source: srcContract},
		{Status: http.StatusLocked, Class: ClassConflict, Reason: "another operation holds the resource", Source: srcContract},
		{Status: http.StatusTooManyRequests, Class: ClassThrottled, Reason: "a request budget is used up", Source: srcLimits},
		{Status: 0, Class: ClassSlow, Reason: "unknown: most unknown errors passed when tried again", Source: srcRecorded},
	}
}

// codeRows is the table of codes.
func codeRows() []Row {
	rows := absentRows()
	rows = append(rows, genericRows()...)
	rows = append(rows, conflictRows()...)
	rows = append(rows, retryRows()...)
	return append(rows, finalRows()...)
}

func absentRows() []Row {
	return []Row{
		{Code: "ResourceNotFound", Class: ClassAbsent, Reason: "the resource is not there", Source: srcErrors},
		{Code: "ResourceGroupNotFound", Class: ClassAbsent, Reason: "its group is not there, so neither is it", Source: srcErrors},
		{Code: "ParentResourceNotFound", Class: ClassAbsent, Reason: "its parent is not there, so neither is it", Source: srcErrors},
		{Code: "NotFound", Class: ClassAbsent, Reason: "what providers say that answer themselves", Source: srcRecorded},
	}
}

// genericRows are envelopes: a nested code says more.
func genericRows() []Row {
	return []Row{
		{Code: "UserError", Generic: true, Class: ClassSlow, Reason: "an envelope around any fault of a request", Source: srcRecorded},
		{Code: "RetryableError", Generic: true, Class: ClassConflict, Reason: "Network's 429 for what is really a conflict", Source: srcRecorded},
		{Code: "DeploymentFailed", Generic: true, Class: ClassSlow, Reason: "an envelope around the error of a resource", Source: srcErrors},
		{Code: "ResourceDeploymentFailure", Generic: true, Class: ClassSlow, Reason: "an envelope around the error of a resource", Source: srcErrors},
		{Code: "BadRequest", Generic: true, Class: ClassVerySlow, Reason: "the request is wrong until somebody changes it", Source: srcASO},
		{Code: "BadRequestFormat", Generic: true, Class: ClassVerySlow, Reason: "the request is wrong until somebody changes it", Source: srcASO},
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
		{Code: "OperationNotAllowed", Class: ClassConflict, Reason: "the state forbids it now", Source: srcErrors},
		{Code: "DeploymentActive", Class: ClassConflict, Reason: "a deployment goes on", Source: srcErrors},
		{Code: "ResourceGroupBeingDeleted", Class: ClassConflict, Reason: "the group is being deleted; afterwards it can be made anew", Source: srcErrors},
		{Code: "ResourceGroupDeletionBlocked", Class: ClassConflict, Reason: "something in the group does not let go yet", Source: srcErrors},
		{Code: "PreconditionFailed", Class: ClassConflict, Reason: "the ETag is old: read again", Source: srcContract},
		{Code: "EtagMismatch", Class: ClassConflict, Reason: "the ETag is old: read again", Source: srcRecorded},
	}
}

// retryRows pass by themselves or when somebody acts outside of the manifest.
func retryRows() []Row {
	return []Row{
		{Code: "SubscriptionRequestsThrottled", Class: ClassThrottled, Reason: "the subscription's budget is used up", Source: srcLimits},
		{Code: "ResourceRequestsThrottled", Class: ClassThrottled, Reason: "the provider's budget is used up", Source: srcLimits},
		{Code: "TooManyRequests", Class: ClassThrottled, Reason: "a request budget is used up", Source: srcLimits},
		{Code: "OperationThrottled", Class: ClassThrottled, Reason: "a request budget is used up", Source: srcLimits},
		{Code: CodeAuthenticationFailed, Class: ClassSlow, Reason: "no token, or a refused one; secrets get renewed", Source: srcContract},
		{Code: "InvalidAuthenticationToken", Class: ClassSlow, Reason: "the token was refused; a new one may not be", Source: srcContract},
		{Code: "ExpiredAuthenticationToken", Class: ClassSlow, Reason: "the token was refused; a new one may not be", Source: srcContract},
		{Code: "InvalidAuthenticationTokenTenant", Class: ClassVerySlow, Reason: "the credential is of another tenant", Source: srcErrors},
		{Code: "AuthorizationFailed", Class: ClassSlow, Reason: "role assignments take minutes to spread", Source: srcASO},
		{Code: "LinkedAuthorizationFailed", Class: ClassSlow, Reason: "role assignments take minutes to spread", Source: srcASO},
		{Code: "PrincipalNotFound", Class: ClassSlow, Reason: "new principals take minutes to spread", Source: srcASO},
		{Code: "FailedIdentityOperation", Class: ClassSlow, Reason: "new identities take minutes to spread", Source: srcASO},
		{Code: "RequestDisallowedByPolicy", Class: ClassSlow, Reason: "policies and exemptions change without the manifest", Source: srcASO},
		{Code: "InvalidResourceReference", Class: ClassSlow, Reason: "what the body names may be made later", Source: srcASO},
		{Code: "AllocationFailed", Class: ClassSlow, Reason: "capacity comes and goes", Source: srcASO},
		{Code: "ResourceQuotaExceeded", Class: ClassSlow, Reason: "quotas get raised", Source: srcASO},
		{Code: "MissingSubscriptionRegistration", Class: ClassSlow, Reason: "the provider is not registered yet", Source: srcASO},
		{Code: "MissingRegistrationForLocation", Class: ClassSlow, Reason: "the provider is not registered yet", Source: srcASO},
		{Code: "SubscriptionNotRegistered", Class: ClassSlow, Reason: "the provider is not registered yet", Source: srcASO},
		{Code: "NoRegisteredProviderFound", Class: ClassSlow, Reason: "the provider is not registered yet, or not for this version", Source: srcASO},
		{Code: "InvalidSubscriptionRegistrationState", Class: ClassSlow, Reason: "the subscription is not active", Source: srcASO},
		{Code: "InvalidParameter", Class: ClassVerySlow, Reason: "a value is wrong until somebody changes it", Source: srcASO},
		{Code: "InvalidParameterValue", Class: ClassVerySlow, Reason: "a value is wrong until somebody changes it", Source: srcASO},
		{Code: "InvalidResourceGroupLocation", Class: ClassVerySlow, Reason: "the group exists elsewhere", Source: srcASO},
		{Code: "LocationNotAvailableForResourceType", Class: ClassVerySlow, Reason: "the region does not offer the type", Source: srcErrors},
		{Code: "LocationNotAvailableForResourceGroup", Class: ClassVerySlow, Reason: "the region does not exist for groups", Source: srcRecorded},
		{Code: "MethodNotAllowed", Class: ClassVerySlow, Reason: "the type does not support the method", Source: srcASO},
		{Code: "ReservedResourceName", Class: ClassVerySlow, Reason: "the name is taken or reserved", Source: srcASO},
		{Code: "RegionIsOfferRestricted", Class: ClassVerySlow, Reason: "the subscription's offer excludes the region", Source: srcASO},
		{Code: "ScopeLocked", Class: ClassVerySlow, Reason: "somebody locked it on purpose", Source: srcASO},
		{Code: "SkuNotAvailable", Class: ClassVerySlow, Reason: "the region does not offer the SKU now", Source: srcASO},
		{Code: "SubscriptionNotFound", Class: ClassVerySlow, Reason: "a wrong or hidden subscription: nothing is known of the resource", Source: srcASO},
		{Code: "InvalidSubscriptionId", Class: ClassVerySlow, Reason: "a wrong subscription: nothing is known of the resource", Source: srcErrors},
		{Code: "InvalidApiVersionParameter", Class: ClassVerySlow, Reason: "the api-version does not exist", Source: srcErrors},
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
