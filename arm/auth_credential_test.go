package arm

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
)

const (
	tenantID      = "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee"
	plantedSecret = "a-planted-client-secret"
)

// authority returns a token endpoint with one response for all requests.
func authority(t *testing.T, status int, answer map[string]any) *httptest.Server {
	t.Helper()
	var server *httptest.Server
	server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		body := answer
		if strings.HasSuffix(r.URL.Path, "openid-configuration") {
			base := server.URL + "/" + tenantID
			body = map[string]any{"issuer": base + "/v2.0", "token_endpoint": base + "/token", "authorization_endpoint": base + "/authorize"}
		} else {
			w.WriteHeader(status)
		}
		_ = json.NewEncoder(w).Encode(body)
	}))
	t.Cleanup(server.Close)
	return server
}

func secretCredential(t *testing.T, server *httptest.Server) azcore.TokenCredential {
	t.Helper()
	transport, err := NewTransport(TransportOptions{CAFile: caOf(t, server)})
	if err != nil {
		t.Fatal(err)
	}
	credential, err := NewCredential(CredentialOptions{
		Kind: CredentialClientSecret, TenantID: tenantID, ClientID: "client", ClientSecret: plantedSecret,
		Cloud: cloudAt(server.URL), CustomCloud: true, Transport: transport,
	})
	if err != nil {
		t.Fatal(err)
	}
	return credential
}

func TestTokens(t *testing.T) {
	cases := map[string]struct {
		reason string
		status int
		answer map[string]any
		code   string // "" = no *Error
		text   string
	}{
		"Given": {
			reason: "the token reaches ARM",
			status: 200, answer: map[string]any{"access_token": "a-planted-token", "token_type": "Bearer", "expires_in": 3600},
		},
		"WrongSecret": {
			reason: "a refusal becomes one line without the parts that change each time",
			status: 401, answer: map[string]any{"error": "invalid_client", "error_description": "AADSTS7000215: Invalid client secret. Trace ID: 1 Correlation ID: 2\r\nTimestamp: 3"},
			code: CodeAuthenticationFailed, text: "invalid_client: AADSTS7000215: Invalid client secret.",
		},
		"SecretRepeated": {
			reason: "a secret that the authority repeats is not in the message",
			status: 400, answer: map[string]any{"error": "invalid_request", "error_description": "bad secret " + plantedSecret},
			code: CodeAuthenticationFailed, text: "bad secret (masked)",
		},
		"NoReason": {
			reason: "a refusal without a reason names the status and the remedy",
			status: 403, answer: map[string]any{},
			code: CodeAuthenticationFailed, text: "the authority host returned 403 Forbidden without a reason; check the credential in the worker's config",
		},
		"AuthorityFails": {
			reason: "an internal error of the authority is not a refused credential",
			status: 503, answer: map[string]any{"error": "temporarily_unavailable"},
			text: "the authority host returned 503",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			login := authority(t, tc.status, tc.answer)
			server := newScript(t, reply{200, nil, `{}`})
			client := server.client(t, func(o *Options) { o.Credential = secretCredential(t, login) })
			_, err := client.Get(testContext(t), parseID(t, clusterID), apiVersion)
			if tc.text == "" {
				if err != nil || server.requests()[0].header.Get("Authorization") != "Bearer a-planted-token" {
					t.Errorf("%s: got %v", tc.reason, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tc.text) || strings.Contains(err.Error(), plantedSecret) || strings.Contains(err.Error(), "Trace") {
				t.Errorf("%s: got %v", tc.reason, err)
			}
			var answer *Error
			if errors.As(err, &answer) != (tc.code != "") || answer != nil && (answer.Status != 401 || answer.Code != tc.code || answer.Class != ClassSlow) {
				t.Errorf("%s: got %+v", tc.reason, answer)
			}
			if n := len(server.requests()); n != 0 {
				t.Errorf("%d requests were sent without a token", n)
			}
		})
	}
}

func TestUnreachableAuthorityIsATransportError(t *testing.T) {
	login := authority(t, 200, nil)
	credential := secretCredential(t, login)
	login.Close()
	server := newScript(t, step1(t, pollLocation))
	op, err := server.client(t, nil).Delete(testContext(t), parseID(t, clusterID), apiVersion, DeleteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	client := server.client(t, func(o *Options) { o.Credential = credential })
	_, err = client.Poll(testContext(t), op.Token)
	var answer *Error
	if err == nil || errors.As(err, &answer) || !strings.Contains(err.Error(), "reach authority host") {
		t.Errorf("got %v, want a transport error: the network is down, not the credential", err)
	}
}

// refusing is a credential of another library that returns no token.
type refusing struct{}

func (refusing) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{}, errors.New("DefaultAzureCredential: failed to acquire a token.\nAttempted credentials:\n\tAzureCLI: not installed")
}

func TestRefusedTokenDuringAnOperation(t *testing.T) {
	server := newScript(t, step1(t, pollAsyncURL))
	op, err := server.client(t, nil).Put(testContext(t), parseID(t, clusterID), apiVersion, []byte(`{}`), PutOptions{})
	if err != nil {
		t.Fatal(err)
	}
	client := server.client(t, func(o *Options) { o.Credential = refusing{} })
	poll, err := client.Poll(testContext(t), op.Token)
	got := asError(t, err)
	if got.Status != 401 || got.Code != CodeAuthenticationFailed || poll.Outcome != "" {
		t.Errorf("got %+v and %v: the operation continues", poll, err)
	}
	if want := "no token for the credential: DefaultAzureCredential: failed to acquire a token.; Attempted credentials:; AzureCLI: not installed"; got.Message != want {
		t.Errorf("got message %q, want %q", got.Message, want)
	}
}

func TestNewCredential(t *testing.T) {
	if got, err := NewCredential(CredentialOptions{Kind: CredentialNone}); got != nil || err != nil {
		t.Errorf("none: got %v, %v", got, err)
	}
	t.Setenv("AZURE_TOKEN_CREDENTIALS", "EnvironmentCredential")
	t.Setenv("AZURE_TENANT_ID", tenantID)
	t.Setenv("AZURE_CLIENT_ID", "client")
	t.Setenv("AZURE_CLIENT_SECRET", plantedSecret)
	if got, err := NewCredential(CredentialOptions{}); got == nil || err != nil {
		t.Errorf("default: got %v, %v", got, err)
	}
	cases := map[string]struct {
		options CredentialOptions
		want    []string
	}{
		"Unknown": {CredentialOptions{Kind: "magic"}, []string{"credential magic", "default, workload-identity, managed-identity, client-secret, client-certificate, azure-cli, none"}},
		"AllAtOnce": {CredentialOptions{Kind: CredentialClientSecret, CustomCloud: true},
			[]string{"tenant ID", "client ID", "client secret", "authority host"}},
		"BadTenant": {CredentialOptions{Kind: CredentialClientSecret, TenantID: "a/b", ClientID: "c", ClientSecret: plantedSecret}, []string{"tenant"}},
	}
	for name, tc := range cases {
		_, err := NewCredential(tc.options)
		for _, want := range tc.want {
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), plantedSecret) {
				t.Errorf("%s: got %v, want %q in it", name, err, want)
			}
		}
	}
}
