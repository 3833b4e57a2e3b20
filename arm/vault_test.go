package arm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/armature-io/armature/resource"
)

// testVault is a key vault over HTTPS: it challenges requests without a token and
// responds with a handler.
type testVault struct {
	*httptest.Server
	// challenge is the resource of the challenge.
	challenge string
	answer    func(w http.ResponseWriter, name string)

	mu     sync.Mutex
	tokens []string
}

func newTestVault(t *testing.T, answer func(w http.ResponseWriter, name string)) *testVault {
	t.Helper()
	v := &testVault{challenge: "https://vault.example", answer: answer}
	v.Server = httptest.NewTLSServer(v)
	t.Cleanup(v.Close)
	return v
}

func (v *testVault) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	if token == "" {
		w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer authorization="https://login.example/00000000-0000-0000-0000-000000000001", resource="%s"`, v.challenge))
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	v.mu.Lock()
	v.tokens = append(v.tokens, token)
	v.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Ms-Request-Id", "request-1")
	v.answer(w, strings.TrimPrefix(r.URL.Path, "/secrets/"))
}

// reads returns how often a token reached the vault.
func (v *testVault) reads() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.tokens)
}

// transport returns a transport that reaches the vault under any host name.
func (v *testVault) transport() policy.Transporter {
	client := v.Client()
	inner, _ := client.Transport.(*http.Transport)
	copied := inner.Clone()
	copied.TLSClientConfig.ServerName = "example.com"
	copied.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, v.Listener.Addr().String())
	}
	return &http.Client{Transport: copied}
}

// speaker issues a token with its own name and records the requested scopes.
type speaker struct {
	name  string
	err   error
	scope *string
}

func (s speaker) GetToken(_ context.Context, options policy.TokenRequestOptions) (azcore.AccessToken, error) {
	if s.scope != nil {
		*s.scope = options.TenantID + " " + strings.Join(options.Scopes, " ")
	}
	return azcore.AccessToken{Token: s.name, ExpiresOn: time.Now().Add(time.Hour)}, s.err
}

func vaultClient(t *testing.T, transport policy.Transporter, credential azcore.TokenCredential, change ...func(*Options)) *Client {
	t.Helper()
	at, err := CloudConfiguration(CloudOptions{Name: CloudCustom, Endpoint: "http://127.0.0.1:1", AuthorityHost: "https://login.example"})
	if err != nil {
		t.Fatal(err)
	}
	options := Options{Cloud: at, Credential: credential, Transport: transport, VaultSuffix: "vault.example"}
	for _, c := range change {
		c(&options)
	}
	client, err := NewClient(options)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

var vaultSubject = "/subscriptions/00000000-0000-0000-0000-00000000000a/resourceGroups/g"

func subject(t *testing.T) context.Context {
	t.Helper()
	id, err := resource.ParseID(vaultSubject)
	if err != nil {
		t.Fatal(err)
	}
	return WithSubject(context.Background(), id)
}

var inVault = resource.VaultSecret{Host: "v.vault.example", Name: "n"}

func respond(w http.ResponseWriter, status int, body string) {
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

func TestVaultSecret(t *testing.T) {
	at := func(when time.Duration) int64 { return time.Now().Add(when).Unix() }
	forbidden := func(inner string) string {
		return `{"error":{"code":"Forbidden","message":"The user,\n is not allowed","innererror":{"code":"` + inner + `"}}}`
	}
	cases := map[string]struct {
		reason  string
		secret  resource.VaultSecret
		status  int
		body    string
		want    string
		wantErr []string
		final   bool
	}{
		"Value":    {reason: "the newest version", body: `{"value":"s3cret!"}`, want: "s3cret!"},
		"Valid":    {reason: "within its validity period", body: fmt.Sprintf(`{"value":"s3cret!","attributes":{"enabled":true,"nbf":%d,"exp":%d}}`, at(-time.Hour), at(time.Hour)), want: "s3cret!"},
		"Expired":  {reason: "a vault still returns an expired secret", body: fmt.Sprintf(`{"value":"s3cret!","attributes":{"enabled":true,"exp":%d}}`, at(-time.Hour)), wantErr: []string{"the secret expired at", "new version"}},
		"Early":    {reason: "a vault returns it before its start time", body: fmt.Sprintf(`{"value":"s3cret!","attributes":{"nbf":%d}}`, at(time.Hour)), wantErr: []string{"not valid before", "wait"}},
		"Disabled": {reason: "it may be enabled again", status: 403, body: forbidden("SecretDisabled"), wantErr: []string{"the secret is disabled", "az keyvault secret set-attributes --enabled true --id https://v.vault.example/secrets/n"}},
		"NoRight":  {reason: "role-based access", status: 403, body: forbidden("ForbiddenByRbac"), wantErr: []string{"may not read secrets of the vault v.vault.example", "Key Vault Secrets User", "ForbiddenByRbac", "request-1"}},
		"NoPolicy": {reason: "access policies", status: 403, body: forbidden("AccessDenied"), wantErr: []string{"get in an access policy"}},
		"Firewall": {reason: "no role helps here", status: 403, body: forbidden("ForbiddenByFirewall"), wantErr: []string{"firewall", "private endpoint"}},
		"Absent":   {reason: "it may be created later", status: 404, body: `{"error":{"code":"SecretNotFound","message":"not found"}}`, wantErr: []string{"has no such secret", "SecretNotFound"}},
		"Bad":      {reason: "the vault refuses the request", status: 400, body: `{"error":{"code":"BadParameter","message":"x"}}`, wantErr: []string{"correct its name or version"}},
		"Busy":     {reason: "the client does not retry", status: 429, body: `{}`, wantErr: []string{"is unavailable", "429"}},
		"Broken":   {reason: "a proxy's page", status: 502, body: `<html>`, wantErr: []string{"is unavailable", "502"}},
		"NoValue":  {reason: "a response of another service", body: `{}`, wantErr: []string{"no value"}},
		"Foreign":  {reason: "a token must not leave the cloud", secret: resource.VaultSecret{Host: "v.vault.azure.net", Name: "n"}, wantErr: []string{"no key vault of the credential's cloud", "VAULT.vault.example"}, final: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			vault := newTestVault(t, func(w http.ResponseWriter, _ string) { respond(w, max(tc.status, 200), tc.body) })
			var scope string
			client := vaultClient(t, vault.transport(), speaker{name: "t0ken", scope: &scope})
			secret := inVault
			if tc.secret.Host != "" {
				secret = tc.secret
			}
			got, err := client.Secret(subject(t), secret, false)
			var refused *VaultError
			if got != tc.want || errors.As(err, &refused) != (tc.wantErr != nil) {
				t.Fatalf("%s: got %q, %v", tc.reason, got, err)
			}
			for _, part := range tc.wantErr {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%s: %q does not contain %q", tc.reason, err, part)
				}
			}
			if err != nil && (refused.NotAllowed() != tc.final || strings.ContainsAny(err.Error(), "\n") || strings.Contains(err.Error(), "s3cret!") || strings.Contains(err.Error(), "t0ken")) {
				t.Errorf("%s: not allowed %v: %q", tc.reason, refused.NotAllowed(), err)
			}
			if wantReads := 1; tc.final && vault.reads() != 0 || !tc.final && vault.reads() != wantReads {
				t.Errorf("%s: the vault received %d requests", tc.reason, vault.reads())
			}
			if want := "00000000-0000-0000-0000-000000000001 https://vault.example/.default"; !tc.final && scope != want {
				t.Errorf("the token is for %q, want %q", scope, want)
			}
		})
	}
}

func TestVaultChallenge(t *testing.T) {
	cases := map[string]struct{ reason, header, challenge, want string }{
		"Foreign": {reason: "a token for ARM must not go to a host that poses as a vault", challenge: "https://management.azure.com", want: "invalid response"},
		"Broken":  {reason: "a malformed challenge is refused", header: `Bearer authorization="x", resource="https://vault.example"`, want: "is not that of a key vault"},
		"None":    {reason: "a proxy that requires a login", header: "-", want: "rejects the token"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			vault := newTestVault(t, func(w http.ResponseWriter, _ string) { respond(w, 200, `{"value":"x"}`) })
			vault.challenge = tc.challenge
			if tc.header != "" {
				vault.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					if tc.header != "-" {
						w.Header().Set("WWW-Authenticate", tc.header)
					}
					w.WriteHeader(http.StatusUnauthorized)
				})
			}
			_, err := vaultClient(t, vault.transport(), speaker{name: "t0ken"}).Secret(subject(t), inVault, false)
			if err == nil || !strings.Contains(err.Error(), tc.want) || vault.reads() != 0 {
				t.Errorf("%s: got %v after %d tokens", tc.reason, err, vault.reads())
			}
		})
	}
}

// downed is a network in which the vault is unreachable.
type downed struct{}

func (downed) Do(*http.Request) (*http.Response, error) {
	return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("no route to host")}
}

func TestVaultUnreachable(t *testing.T) {
	_, err := vaultClient(t, &http.Client{Transport: transportFunc(downed{}.Do)}, speaker{name: "t"}).Secret(subject(t), inVault, false)
	if err == nil || !strings.Contains(err.Error(), "cannot reach the vault v.vault.example") || !strings.Contains(err.Error(), "no route to host") {
		t.Errorf("a dead network returns %v", err)
	}
	vault := newTestVault(t, nil)
	refused := &Error{Status: 401, Code: CodeAuthenticationFailed, Message: "AADSTS700016"}
	_, err = vaultClient(t, vault.transport(), speaker{err: refused}).Secret(subject(t), inVault, false)
	if err == nil || !strings.Contains(err.Error(), "no token for the vault") || !strings.Contains(err.Error(), "AADSTS700016") {
		t.Errorf("a refused credential reads %v", err)
	}
}

type transportFunc func(*http.Request) (*http.Response, error)

func (f transportFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestVaultCache checks that a value is read afresh for a PUT, that a comparison does
// not read it again within 30 s, and that an older value still masks when the vault
// is unreachable.
func TestVaultCache(t *testing.T) {
	now, status, value := time.Now(), 200, "one"
	vault := newTestVault(t, func(w http.ResponseWriter, _ string) {
		body, _ := json.Marshal(map[string]any{"value": value})
		respond(w, status, string(body))
	})
	client := vaultClient(t, vault.transport(), speaker{name: "t"}, func(o *Options) { o.Clock = func() time.Time { return now } })
	read := func(kept bool, want string, reads int) {
		t.Helper()
		got, err := client.Secret(subject(t), inVault, kept)
		if got != want || (err == nil) != (want != "") || vault.reads() != reads {
			t.Fatalf("got %q, %v after %d reads, want %q after %d", got, err, vault.reads(), want, reads)
		}
	}
	read(true, "one", 1)
	value = "two"
	read(true, "one", 1)
	read(false, "two", 2)
	read(true, "two", 2)
	now = now.Add(maxSecretAge)
	status = 500
	read(true, "two", 3)
	read(true, "two", 3)
	read(false, "", 4)
	status, value = 200, "three"
	read(false, "three", 5)
}

// TestVaultConnections checks that a vault is read with the credential of the
// resource, and that a cached value is not returned to another credential.
func TestVaultConnections(t *testing.T) {
	vault := newTestVault(t, func(w http.ResponseWriter, _ string) { respond(w, 200, `{"value":"x"}`) })
	own := Options{}
	client := vaultClient(t, vault.transport(), speaker{name: "own"}, func(o *Options) {
		own = *o
		own.Credential = speaker{name: "team"}
		tied := own
		tied.Credential = speaker{name: "tied"}
		o.Connections = map[string]Connection{
			"team": {Options: own},
			"tied": {Options: tied, Subscriptions: []string{"00000000-0000-0000-0000-00000000000b"}},
		}
	})
	elsewhere, err := resource.ParseID("/subscriptions/00000000-0000-0000-0000-00000000000B/resourceGroups/g")
	if err != nil {
		t.Fatal(err)
	}
	for _, ctx := range []context.Context{subject(t), WithCredential(subject(t), "team"), WithSubject(context.Background(), elsewhere)} {
		if _, err := client.Secret(ctx, inVault, true); err != nil {
			t.Fatal(err)
		}
	}
	if got := strings.Join(vault.tokens, " "); got != "own team tied" {
		t.Errorf("the vault received the tokens %q", got)
	}
	var refused *VaultError
	for name, ctx := range map[string]context.Context{
		"tied elsewhere": WithCredential(subject(t), "tied"), "unknown": WithCredential(subject(t), "missing"), "no resource": context.Background(),
	} {
		if _, err := client.Secret(ctx, inVault, true); !errors.As(err, &refused) || !refused.NotAllowed() || len(vault.tokens) != 3 {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestVaultSuffix(t *testing.T) {
	cases := map[string]struct {
		options CloudOptions
		want    string
	}{
		"Public":     {want: "vault.azure.net"},
		"Government": {options: CloudOptions{Name: CloudGovernment}, want: "vault.usgovcloudapi.net"},
		"China":      {options: CloudOptions{Name: CloudChina}, want: "vault.azure.cn"},
		"Custom":     {options: CloudOptions{Name: CloudCustom}},
		"Named":      {options: CloudOptions{Name: CloudCustom, VaultSuffix: "vault.example"}, want: "vault.example"},
	}
	for name, tc := range cases {
		if got := VaultSuffix(tc.options); got != tc.want {
			t.Errorf("%s: got %q", name, got)
		}
	}
	client := vaultClient(t, nil, nil, func(o *Options) { o.VaultSuffix = "" })
	if _, err := client.Secret(subject(t), inVault, false); err == nil || !strings.Contains(err.Error(), "set vault-suffix") {
		t.Errorf("a custom cloud without vaults returns %v", err)
	}
	client = vaultClient(t, nil, nil)
	if _, err := client.Secret(subject(t), inVault, false); err == nil || !strings.Contains(err.Error(), "the credential none") {
		t.Errorf("no credential returns %v", err)
	}
}
