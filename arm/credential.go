package arm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
)

// The kinds of credentials.
const (
	CredentialDefault      = "default"
	CredentialClientSecret = "client-secret"
	CredentialNone         = "none"
)

// CredentialOptions says where tokens come from.
type CredentialOptions struct {
	// Kind is default (azidentity's chain, which AZURE_TOKEN_CREDENTIALS
	// narrows), client-secret or none; "" is default.
	Kind string
	// TenantID, ClientID and ClientSecret are for client-secret; TenantID also
	// for default.
	TenantID, ClientID, ClientSecret string
	// Cloud is the ARM client's; its authority host gives the tokens.
	Cloud cloud.Configuration
	// CustomCloud says that Cloud is none of Azure's own: instance discovery,
	// which asks Azure's public login, is off by itself then.
	CustomCloud              bool
	DisableInstanceDiscovery bool
	// Transport reaches the authority host (see NewTransport); nil is one with
	// the system's authorities.
	Transport policy.Transporter
}

// NewCredential makes a credential; it sends nothing. It is nil for none, which
// NewClient accepts to loopback only. All faults come at once.
func NewCredential(options CredentialOptions) (azcore.TokenCredential, error) {
	transport, err := tokenTransport(options.Transport)
	if err != nil {
		return nil, err
	}
	client := policy.ClientOptions{
		Cloud:     options.Cloud,
		Retry:     policy.RetryOptions{MaxRetries: -1},
		Transport: transport,
	}
	disable := options.DisableInstanceDiscovery || options.CustomCloud
	switch options.Kind {
	case CredentialNone:
		return nil, nil
	case "", CredentialDefault:
		credential, err := azidentity.NewDefaultAzureCredential(&azidentity.DefaultAzureCredentialOptions{
			ClientOptions: client, DisableInstanceDiscovery: disable, TenantID: options.TenantID,
		})
		if err != nil {
			return nil, fmt.Errorf("configure credential default: %w", err)
		}
		return &guardedCredential{inner: credential}, nil
	case CredentialClientSecret:
		if err := checkClientSecret(options); err != nil {
			return nil, err
		}
		credential, err := azidentity.NewClientSecretCredential(options.TenantID, options.ClientID, options.ClientSecret,
			&azidentity.ClientSecretCredentialOptions{ClientOptions: client, DisableInstanceDiscovery: disable})
		if err != nil {
			return nil, fmt.Errorf("configure credential client-secret: %s", mask(err.Error(), options.ClientSecret))
		}
		return &guardedCredential{inner: credential, secret: options.ClientSecret}, nil
	}
	return nil, fmt.Errorf("configure credential %q: it must be %s, %s or %s",
		options.Kind, CredentialDefault, CredentialClientSecret, CredentialNone)
}

func checkClientSecret(options CredentialOptions) error {
	var faults []error
	for _, need := range []struct{ name, value string }{
		{"tenant ID", options.TenantID}, {"client ID", options.ClientID}, {"client secret", options.ClientSecret},
	} {
		if need.value == "" {
			faults = append(faults, fmt.Errorf("configure credential client-secret: it needs a %s", need.name))
		}
	}
	// Without this, azidentity would send the secret of a private cloud to the
	// public login.
	if options.CustomCloud && options.Cloud.ActiveDirectoryAuthorityHost == "" {
		faults = append(faults, errors.New("configure credential client-secret: a custom cloud needs an authority host"))
	}
	return errors.Join(faults...)
}

// guardedCredential turns what a credential says into this package's errors.
type guardedCredential struct {
	inner  azcore.TokenCredential
	secret string
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
		Message: clean(mask("the credential got no token: "+reasonOf(err, failed), g.secret)),
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

func mask(text, secret string) string {
	if secret == "" {
		return text
	}
	return strings.ReplaceAll(text, secret, "(masked)")
}

type tokenFaultKey struct{}

// faultRecorder notes a fault of the transport, which azidentity would report
// as a text: a network that is down is no refused credential.
type faultRecorder struct{ next policy.Transporter }

func tokenTransport(next policy.Transporter) (policy.Transporter, error) {
	if next == nil {
		var err error
		if next, err = NewTransport(TransportOptions{}); err != nil {
			return nil, err
		}
	}
	if client, ok := next.(*http.Client); ok {
		next = withoutRedirects(client)
	}
	return faultRecorder{next: next}, nil
}

// Do sends the request and records its fault. Plain HTTP is the metadata
// service of a virtual machine, which the default chain only tries: that it is
// not there is no fault.
func (r faultRecorder) Do(request *http.Request) (*http.Response, error) {
	response, err := r.next.Do(request)
	if broken, ok := request.Context().Value(tokenFaultKey{}).(*error); ok && err != nil && request.URL.Scheme == "https" {
		*broken = err
		if cause := causeOf(err); cause != nil {
			*broken = cause
		}
	}
	return response, err
}
