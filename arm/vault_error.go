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

// VaultKind is what kept a vault from serving a request.
type VaultKind string

// The kinds. VaultUnavailable is every failure that may end by itself. A VaultDeleted secret
// keeps its name until it is recovered or purged.
const (
	VaultUnavailable VaultKind = ""
	VaultAbsent      VaultKind = "absent"
	VaultDeleted     VaultKind = "deleted"
	VaultDisabled    VaultKind = "disabled"
	VaultDenied      VaultKind = "denied"
	VaultInvalid     VaultKind = "invalid"
)

// VaultError is the reason why a secret could not be read or written, and the remedy. It
// never contains a value.
type VaultError struct {
	Kind       VaultKind
	message    string
	notAllowed bool
	// cause is the error of the library. It is not shown.
	cause error
}

// Error returns reason and remedy.
func (e *VaultError) Error() string { return e.message }

// NotAllowed reports whether only a change of the manifest or of the worker's config
// helps; otherwise a change in the vault may.
func (e *VaultError) NotAllowed() bool { return e.notAllowed }

// orRefusal returns the error of Options.MayWrite, or of a read-only client, where it stopped
// the request, else the VaultError.
func (e *VaultError) orRefusal() error {
	if refused, ok := errors.AsType[*WriteRefusedError](e.cause); ok {
		return refused
	}
	if refused, ok := errors.AsType[*Error](e.cause); ok && refused.Code == CodeReadOnly {
		return refused
	}
	return e
}

// foreignVault returns the error of a response that no vault sends.
func foreignVault(secret resource.VaultSecret) *VaultError {
	return &VaultError{message: "the response of " + secret.Host + " is not that of a key vault; check for a proxy in between"}
}

// disabled returns the error of a disabled secret.
func disabled(secret resource.VaultSecret) *VaultError {
	return &VaultError{Kind: VaultDisabled, message: "the secret is disabled; enable it: az keyvault secret set-attributes --enabled true --id " + secret.String()}
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
		if id := answerID(response.RawResponse.Header, headerRequestID); id != "" {
			summary += " (request ID " + id + ")"
		}
	}
	summary = sanitizeMessage(summary)
	inner, secretsRole := strings.ToLower(body.Error.Inner.Code), "may not read secrets of the vault %s; assign the role Key Vault Secrets User, or get in an access policy"
	if response.RawResponse != nil && response.RawResponse.Request != nil && response.RawResponse.Request.Method != http.MethodGet {
		secretsRole = "may not write secrets of the vault %s; assign the role Key Vault Secrets Officer, or get and set in an access policy"
	}
	var reason string
	kind := VaultUnavailable
	switch status := response.StatusCode; {
	case inner == "secretdisabled":
		return disabled(secret)
	case inner == "objectisdeletedbutrecoverable":
		kind = VaultDeleted
		reason = fmt.Sprintf("the vault %s keeps a deleted secret of this name; recover it (az keyvault secret recover) or purge it", secret.Host)
	case status == http.StatusNotFound:
		kind = VaultAbsent
		reason = fmt.Sprintf("the vault %s has no such secret; create it, or correct the reference", secret.Host)
	case status == http.StatusForbidden && strings.Contains(inner, "firewall"):
		kind = VaultDenied
		reason = fmt.Sprintf("the firewall of the vault %s blocks this worker; allow its address, or add a private endpoint", secret.Host)
	case status == http.StatusForbidden:
		kind = VaultDenied
		reason = "the resource's credential " + fmt.Sprintf(secretsRole, secret.Host)
	case status == http.StatusUnauthorized:
		kind = VaultDenied
		reason = fmt.Sprintf("the vault %s rejects the token of the resource's credential; check that both have the same tenant", secret.Host)
	case status == http.StatusBadRequest:
		kind = VaultInvalid
		reason = "the vault rejects the reference; correct its name or version"
	default:
		reason = fmt.Sprintf("the vault %s is unavailable; retrying", secret.Host)
	}
	return &VaultError{Kind: kind, message: reason + ". Response: " + summary}
}
