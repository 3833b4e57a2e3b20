package arm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
)

// guardedCredential maps the errors of a credential to this package's errors.
type guardedCredential struct {
	inner   azcore.TokenCredential
	secrets []string
}

func guardCredential(credential azcore.TokenCredential) azcore.TokenCredential {
	if guarded, ok := credential.(*guardedCredential); ok {
		return guarded
	}
	return &guardedCredential{inner: credential}
}

// GetToken requests a token. A refusal is an *Error with status 401 and
// CodeAuthenticationFailed; an authority host that is unreachable or fails is a
// *tokenError.
func (g *guardedCredential) GetToken(ctx context.Context, options policy.TokenRequestOptions) (azcore.AccessToken, error) {
	var transportError error
	token, err := g.inner.GetToken(context.WithValue(ctx, transportErrorKey{}, &transportError), options)
	if err == nil {
		return token, nil
	}
	if ctx.Err() != nil {
		return azcore.AccessToken{}, &tokenError{fmt.Errorf("get token: %w", ctx.Err())}
	}
	if transportError != nil {
		return azcore.AccessToken{}, &tokenError{fmt.Errorf("reach authority host: %w", transportError)}
	}
	failed, _ := errors.AsType[*azidentity.AuthenticationFailedError](err)
	if failed != nil && failed.RawResponse != nil {
		if status := failed.RawResponse.StatusCode; status >= 500 || status == http.StatusTooManyRequests {
			return azcore.AccessToken{}, &tokenError{fmt.Errorf("get token: the authority host returned %d %s", status, http.StatusText(status))}
		}
	}
	refusal := &Error{
		Status:  http.StatusUnauthorized,
		Code:    CodeAuthenticationFailed,
		Message: sanitizeMessage(maskAll("no token for the credential: "+tokenErrorReason(err, failed), g.secrets)),
	}
	refusal.classify(http.MethodGet)
	return azcore.AccessToken{}, refusal
}

// tokenError is a transport error on the way to a token: nothing was sent to ARM,
// and it proves nothing about the credential.
type tokenError struct{ cause error }

// Error returns the text of the cause.
func (e *tokenError) Error() string { return e.cause.Error() }

// Unwrap returns the cause.
func (e *tokenError) Unwrap() error { return e.cause }

// tokenErrorReason returns one line: the authority's error (AADSTS...), else
// azidentity's text without its dump of the response.
func tokenErrorReason(err error, failed *azidentity.AuthenticationFailedError) string {
	if failed != nil && failed.RawResponse != nil {
		var body struct {
			Error       string `json:"error"`
			Description string `json:"error_description"`
		}
		payload, readErr := runtime.Payload(failed.RawResponse)
		if readErr == nil && json.Unmarshal(payload, &body) == nil {
			line, _, _ := strings.Cut(body.Description, "\n")
			line, _, _ = strings.Cut(line, " Trace ID:") // differs each time
			if reason := joinNonEmpty(": ", body.Error, strings.TrimSpace(line)); reason != "" {
				return reason
			}
		}
		status := failed.RawResponse.StatusCode
		return fmt.Sprintf("the authority host returned %d %s without a reason; check the credential in the worker's config", status, http.StatusText(status))
	}
	var lines []string
	for line := range strings.Lines(err.Error()) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "----") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "; ")
}

// maskAll replaces secrets in a text.
func maskAll(text string, secrets []string) string {
	for _, secret := range secrets {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "(masked)")
		}
	}
	return text
}

type transportErrorKey struct{}

// transportErrorRecorder stores transport errors in the context, because azidentity
// reports them as text only: an unreachable network is no refused credential.
type transportErrorRecorder struct {
	next policy.Transporter
	// recordHTTP includes errors of plain HTTP.
	recordHTTP bool
}

// tokenTransport returns a transport without redirects that records errors.
func tokenTransport(next policy.Transporter, recordHTTP bool) (policy.Transporter, error) {
	next, err := preparedTransport(next)
	if err != nil {
		return nil, err
	}
	return transportErrorRecorder{next: next, recordHTTP: recordHTTP}, nil
}

// Do sends the request and records its error. Plain HTTP is the metadata service of
// a virtual machine, which the default chain only tries: its absence is an error
// only for a managed identity.
func (r transportErrorRecorder) Do(request *http.Request) (*http.Response, error) {
	response, err := r.next.Do(request)
	if slot, ok := request.Context().Value(transportErrorKey{}).(*error); ok && err != nil && (r.recordHTTP || request.URL.Scheme == "https") {
		*slot = err
		if cause := urlErrorCause(err); cause != nil {
			*slot = cause
		}
	}
	return response, err
}
