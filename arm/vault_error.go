package arm

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/armature-io/armature/resource"
)

// VaultError is the reason why a secret could not be read, and the remedy. It never
// contains a value.
type VaultError struct {
	message    string
	notAllowed bool
}

// Error returns reason and remedy.
func (e *VaultError) Error() string { return e.message }

// NotAllowed reports whether only a change of the manifest or of the worker's config
// helps; otherwise a change in the vault may.
func (e *VaultError) NotAllowed() bool { return e.notAllowed }

// disabled returns the error of a disabled secret.
func disabled(secret resource.VaultSecret) *VaultError {
	return &VaultError{message: "the secret is disabled; enable it: az keyvault secret set-attributes --enabled true --id " + secret.String()}
}

// readError returns the VaultError for an error of the library.
func (v *vaults) readError(secret resource.VaultSecret, err error) *VaultError {
	if response, ok := errors.AsType[*azcore.ResponseError](err); ok {
		return v.responseError(secret, response)
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return &VaultError{message: "no token for the vault: " + e.Error() + "; check the resource's credential"}
	}
	if e, ok := errors.AsType[*tokenError](err); ok {
		return &VaultError{message: "no token for the vault: " + e.Error() + "; retrying"}
	}
	if cause := urlErrorCause(err); cause != nil {
		return &VaultError{message: fmt.Sprintf("cannot reach the vault %s: %v; check its name, its private endpoint and the worker's network; retrying", secret.Host, cause)}
	}
	// The library's own errors, mostly a challenge for another domain.
	return &VaultError{message: "invalid response of the vault: " + sanitizeMessage(err.Error())}
}

// vaultErrorBody is the body of Key Vault's errors.
type vaultErrorBody struct {
	Error struct {
		Code    string `json:"code"`
		Message string `json:"message"`
		Inner   struct {
			Code string `json:"code"`
		} `json:"innererror"`
	} `json:"error"`
}

// responseError returns the VaultError for a response other than 2xx, by its codes
// (https://learn.microsoft.com/azure/key-vault/general/rest-error-codes).
func (v *vaults) responseError(secret resource.VaultSecret, response *azcore.ResponseError) *VaultError {
	var body vaultErrorBody
	summary := fmt.Sprintf("%d %s", response.StatusCode, http.StatusText(response.StatusCode))
	if response.RawResponse != nil {
		if payload, err := runtime.Payload(response.RawResponse); err == nil && json.Unmarshal(payload, &body) == nil {
			summary = joinNonEmpty(": ", joinNonEmpty(" ", summary, body.Error.Code, body.Error.Inner.Code), strings.Join(strings.Fields(body.Error.Message), " "))
		}
		if id := response.RawResponse.Header.Get(headerRequestID); id != "" {
			summary += " (request ID " + id + ")"
		}
	}
	summary = sanitizeMessage(summary)
	inner := strings.ToLower(body.Error.Inner.Code)
	var reason string
	switch status := response.StatusCode; {
	case inner == "secretdisabled":
		return disabled(secret)
	case status == http.StatusNotFound:
		reason = fmt.Sprintf("the vault %s has no such secret; create it, or correct the reference", secret.Host)
	case status == http.StatusForbidden && strings.Contains(inner, "firewall"):
		reason = fmt.Sprintf("the firewall of the vault %s blocks this worker; allow its address, or add a private endpoint", secret.Host)
	case status == http.StatusForbidden:
		reason = fmt.Sprintf("the resource's credential may not read secrets of the vault %s; assign the role Key Vault Secrets User, or get in an access policy", secret.Host)
	case status == http.StatusUnauthorized:
		reason = fmt.Sprintf("the vault %s rejects the token of the resource's credential; check that both have the same tenant", secret.Host)
	case status == http.StatusBadRequest:
		reason = "the vault rejects the reference; correct its name or version"
	default:
		reason = fmt.Sprintf("the vault %s is unavailable; retrying", secret.Host)
	}
	return &VaultError{message: reason + ". Response: " + summary}
}
