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

// VaultError says why a secret cannot be had, and what to do. It never holds a
// value.
type VaultError struct {
	message    string
	notAllowed bool
}

// Error is the sentence.
func (e *VaultError) Error() string { return e.message }

// NotAllowed tells what only a change of the manifest or of the worker's config
// mends from what the vault, or somebody with rights there, may lift.
func (e *VaultError) NotAllowed() bool { return e.notAllowed }

func disabled(secret resource.VaultSecret) *VaultError {
	return &VaultError{message: "it is disabled; enable it: az keyvault secret set-attributes --enabled true --id " + secret.String()}
}

// refused puts an error into words.
func (v *vaults) refused(secret resource.VaultSecret, err error) *VaultError {
	var answer *azcore.ResponseError
	if errors.As(err, &answer) {
		return v.answered(secret, answer)
	}
	var noToken *Error
	if errors.As(err, &noToken) {
		return &VaultError{message: "no token for the vault: " + noToken.Error() + "; look at the resource's credential"}
	}
	var broken *tokenFault
	if errors.As(err, &broken) {
		return &VaultError{message: "no token for the vault: " + broken.Error() + "; it is tried again"}
	}
	if cause := causeOf(err); cause != nil {
		return &VaultError{message: fmt.Sprintf("the vault %s is out of reach: %v; look at its name, its private endpoint and the worker's network; it is tried again", secret.Host, cause)}
	}
	// The library's own errors: a challenge for another domain above all.
	return &VaultError{message: "the vault's answer is refused: " + clean(err.Error())}
}

// vaultAnswer is the form of Key Vault's errors.
type vaultAnswer struct {
	Error struct {
		Code    string `json:"code"`
		Message string `json:"message"`
		Inner   struct {
			Code string `json:"code"`
		} `json:"innererror"`
	} `json:"error"`
}

// answered puts an answer other than 2xx into words, by its codes
// (https://learn.microsoft.com/azure/key-vault/general/rest-error-codes).
func (v *vaults) answered(secret resource.VaultSecret, answer *azcore.ResponseError) *VaultError {
	var body vaultAnswer
	said := fmt.Sprintf("%d %s", answer.StatusCode, http.StatusText(answer.StatusCode))
	if answer.RawResponse != nil {
		if payload, err := runtime.Payload(answer.RawResponse); err == nil && json.Unmarshal(payload, &body) == nil {
			said = join(": ", join(" ", said, body.Error.Code, body.Error.Inner.Code), oneLine(body.Error.Message))
		}
		if id := answer.RawResponse.Header.Get(headerRequestID); id != "" {
			said += " (request ID " + id + ")"
		}
	}
	said = clean(said)
	inner := strings.ToLower(body.Error.Inner.Code)
	switch status := answer.StatusCode; {
	case inner == "secretdisabled":
		return disabled(secret)
	case status == http.StatusNotFound:
		return &VaultError{message: fmt.Sprintf("the vault %s has no such secret, or it was deleted; set it there, or correct the reference. The vault said: %s", secret.Host, said)}
	case status == http.StatusForbidden && strings.Contains(inner, "firewall"):
		return &VaultError{message: fmt.Sprintf("the firewall of the vault %s lets this worker not in; add its address or a private endpoint. The vault said: %s", secret.Host, said)}
	case status == http.StatusForbidden:
		return &VaultError{message: fmt.Sprintf("the resource's credential may not read secrets of the vault %s; give it the role Key Vault Secrets User, or get in an access policy. The vault said: %s", secret.Host, said)}
	case status == http.StatusUnauthorized:
		return &VaultError{message: fmt.Sprintf("the vault %s refuses the token of the resource's credential; is it of the vault's tenant? The vault said: %s", secret.Host, said)}
	case status == http.StatusBadRequest:
		return &VaultError{message: "the vault refuses the reference; correct its name or version. The vault said: " + said}
	}
	return &VaultError{message: fmt.Sprintf("the vault %s gives no answer now; it is tried again. The vault said: %s", secret.Host, said)}
}

// oneLine is a text without line breaks.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
