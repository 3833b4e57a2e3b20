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

// guardedCredential turns what a credential says into this package's errors.
type guardedCredential struct {
	inner   azcore.TokenCredential
	secrets []string
}

func guard(credential azcore.TokenCredential) azcore.TokenCredential {
	if guarded, ok := credential.(*guardedCredential); ok {
		return guarded
	}
	return &guardedCredential{inner: credential}
}

// GetToken asks the credential. A refusal is an *Error with status 401 and
// CodeAuthenticationFailed; an authority host that is out of reach, or fails
// itself, is a fault of the transport.
func (g *guardedCredential) GetToken(ctx context.Context, options policy.TokenRequestOptions) (azcore.AccessToken, error) {
	var broken error
	token, err := g.inner.GetToken(context.WithValue(ctx, tokenFaultKey{}, &broken), options)
	if err == nil {
		return token, nil
	}
	if ctx.Err() != nil {
		return azcore.AccessToken{}, &tokenFault{fmt.Errorf("get token: %w", ctx.Err())}
	}
	if broken != nil {
		return azcore.AccessToken{}, &tokenFault{fmt.Errorf("reach authority host: %w", broken)}
	}
	var failed *azidentity.AuthenticationFailedError
	if errors.As(err, &failed) && failed.RawResponse != nil {
		if status := failed.RawResponse.StatusCode; status >= 500 || status == http.StatusTooManyRequests {
			return azcore.AccessToken{}, &tokenFault{fmt.Errorf("get token: the authority host answers %d %s", status, http.StatusText(status))}
		}
	}
	refused := &Error{
		Status:  http.StatusUnauthorized,
		Code:    CodeAuthenticationFailed,
		Message: clean(maskAll("the credential got no token: "+reasonOf(err, failed), g.secrets)),
	}
	refused.classify(http.MethodGet)
	return azcore.AccessToken{}, refused
}

// tokenFault is a fault on the way to a token: nothing was sent to ARM, and
// nothing is known of the credential.
type tokenFault struct{ cause error }

// Error is the cause's text.
func (f *tokenFault) Error() string { return f.cause.Error() }

// Unwrap is the cause.
func (f *tokenFault) Unwrap() error { return f.cause }

// reasonOf is one line: what the authority said (AADSTS...), else what
// azidentity says, without its dump of the answer.
func reasonOf(err error, failed *azidentity.AuthenticationFailedError) string {
	if failed != nil && failed.RawResponse != nil {
		var body struct {
			Error       string `json:"error"`
			Description string `json:"error_description"`
		}
		payload, readErr := runtime.Payload(failed.RawResponse)
		if readErr == nil && json.Unmarshal(payload, &body) == nil {
			line, _, _ := strings.Cut(body.Description, "\n")
			line, _, _ = strings.Cut(line, " Trace ID:") // another one each time
			return join(": ", body.Error, strings.TrimSpace(line))
		}
		return fmt.Sprintf("the authority host answers %d", failed.RawResponse.StatusCode)
	}
	var lines []string
	for line := range strings.Lines(err.Error()) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "----") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "; ")
}

func maskAll(text string, secrets []string) string {
	for _, secret := range secrets {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "(masked)")
		}
	}
	return text
}

type tokenFaultKey struct{}

// faultRecorder notes a fault of the transport, which azidentity would report
// as a text: a network that is down is no refused credential.
type faultRecorder struct {
	next policy.Transporter
	// plain counts plain HTTP too.
	plain bool
}

func tokenTransport(next policy.Transporter, plain bool) (policy.Transporter, error) {
	if next == nil {
		var err error
		if next, err = NewTransport(TransportOptions{}); err != nil {
			return nil, err
		}
	}
	if client, ok := next.(*http.Client); ok {
		next = withoutRedirects(client)
	}
	return faultRecorder{next: next, plain: plain}, nil
}

// Do sends the request and records its fault. Plain HTTP is the metadata
// service of a virtual machine, which the default chain only tries: that it is
// not there is a fault only for who asks for a managed identity.
func (r faultRecorder) Do(request *http.Request) (*http.Response, error) {
	response, err := r.next.Do(request)
	if broken, ok := request.Context().Value(tokenFaultKey{}).(*error); ok && err != nil && (r.plain || request.URL.Scheme == "https") {
		*broken = err
		if cause := causeOf(err); cause != nil {
			*broken = cause
		}
	}
	return response, err
}
