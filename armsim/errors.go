package armsim

import (
	"fmt"
	"net/http"
	"strings"
)

// armError returns a response with ARM's error envelope.
func armError(status int, code, format string, args ...any) *response {
	message := format
	if len(args) > 0 {
		message = fmt.Sprintf(format, args...)
	}
	resp := newResponse(status, map[string]any{"error": map[string]any{"code": code, "message": message}})
	resp.code, resp.message = code, message
	return resp
}

// armErrorDetail returns an error with the specific code in its only detail.
func armErrorDetail(status int, code, message, detailCode, detailMessage string) *response {
	resp := armError(status, code, "%s", message)
	resp.body = object{"error": object{"code": code, "message": message,
		"details": []any{object{"code": detailCode, "message": detailMessage}}}}
	return resp
}

// gatewayError returns an error of ARM's front door, which no provider sees; recorded
// traffic marks it with X-Ms-Failure-Cause.
func gatewayError(status int, code, format string, args ...any) *response {
	resp := armError(status, code, format, args...)
	resp.gateway = true
	resp.header.Set("X-Ms-Failure-Cause", "gateway")
	return resp
}

func errGroupNotFound(group string) *response {
	return gatewayError(http.StatusNotFound, "ResourceGroupNotFound", "Resource group '%s' could not be found.", group)
}

// errNotFound returns the 404 of an absent resource, in ARM's form.
func errNotFound(t target) *response {
	where := ""
	if t.group != "" {
		where = fmt.Sprintf(" under resource group '%s'", t.group)
	}
	return gatewayError(http.StatusNotFound, "ResourceNotFound",
		"The Resource '%s'%s was not found. For more details please go to https://aka.ms/ARMResourceNotFoundFix", t.nestedName(), where)
}

// errAbsent returns the 404 of an absent resource, in its provider's form where the
// table has one.
func (s *Simulator) errAbsent(t target) *response {
	if t.kind == kindGroup {
		return errGroupNotFound(t.group)
	}
	if shape := s.answerFor(t.resourceType()).Absent; shape != "" {
		return absentInShape(shape, t)
	}
	if strings.EqualFold(t.resourceType(), managementGroupType) {
		return s.errDenied("read", t.resourceType(), t.id) // as if hidden: Azure/azure-rest-api-specs#9549
	}
	absent := s.ruleFor(t.resourceType()).absent
	if absent.code == "" {
		return errNotFound(t)
	}
	parent := ""
	if n := len(t.names); n > 1 {
		parent = t.names[n-2]
	}
	message := strings.NewReplacer("{name}", t.name(), "{parent}", parent, "{id}", t.id).Replace(absent.message)
	if absent.detail == "" {
		return armError(http.StatusNotFound, absent.code, "%s", message)
	}
	return armErrorDetail(http.StatusNotFound, absent.code, message, absent.detail, message)
}

func errParentNotFound(verb string, t target) *response {
	return gatewayError(http.StatusNotFound, "ParentResourceNotFound",
		"Failed to perform '%s' on resource(s) of type '%s', because the parent resource '%s' could not be found.",
		verb, strings.Join(t.types, "/"), t.parentID())
}

func errSubscriptionNotFound(subscription string) *response {
	return gatewayError(http.StatusNotFound, "SubscriptionNotFound", "The subscription '%s' could not be found.", subscription)
}

func errInvalidSubscription(subscription string) *response {
	return gatewayError(http.StatusBadRequest, "InvalidSubscriptionId",
		"The provided subscription identifier '%s' is malformed or invalid.", subscription)
}

func errBusy(operationURL string) *response {
	return armError(http.StatusConflict, "AnotherOperationInProgress",
		"Another operation on this or dependent resource is in progress. To retrieve status of the operation use uri: %s.", operationURL)
}

func errGroupDeleting(group string) *response {
	return gatewayError(http.StatusConflict, "ResourceGroupBeingDeleted",
		"The resource group '%s' is in deprovisioning state and cannot perform this operation.", group)
}

func errPrecondition() *response {
	return armError(http.StatusPreconditionFailed, "PreconditionFailed",
		"The precondition given in one of the request headers evaluated to false.")
}

func errContent(format string, args ...any) *response {
	return gatewayError(http.StatusBadRequest, "InvalidRequestContent",
		"The request content was invalid and could not be deserialized: '%s'.", fmt.Sprintf(format, args...))
}

func errPath(path string) *response {
	return gatewayError(http.StatusNotFound, "InvalidResourceType",
		"The request path '%s' does not address a resource that could be found.", path)
}

func errMethod(method string) *response {
	return gatewayError(http.StatusMethodNotAllowed, "MethodNotAllowed",
		"The requested resource does not support http method '%s'.", method)
}

// errNoGet returns a provider's 405 of a GET, in its own form (recorded).
func errNoGet() *response {
	resp := newResponse(http.StatusMethodNotAllowed, object{"Message": "The requested resource does not support http method 'GET'."})
	resp.header.Set("Allow", "HEAD,PUT,DELETE")
	resp.code = "MethodNotAllowed"
	return resp
}
