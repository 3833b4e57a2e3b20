package activities

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/resource"
)

const (
	vaultReference = "keyvault:https://v.vault.example/secrets/n"
	vaultBody      = `{"location":"westus2","properties":{"size":1,"adminPassword":{"$secret":"` + vaultReference + `"}}}`
)

// constantToken is a credential.
type constantToken string

func (c constantToken) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: string(c), ExpiresOn: time.Now().Add(time.Hour)}, nil
}

// vaulted adds the key vault v.vault.example to a world, which responds with status
// and body; tokens other than "own" get a 403. The credential "stranger" has such a
// token.
func vaulted(t *testing.T, status *int, body *string) func(*setup) {
	t.Helper()
	vault := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		switch token {
		case "":
			w.Header().Set("WWW-Authenticate", `Bearer authorization="https://login.example/t", resource="https://vault.example"`)
			w.WriteHeader(http.StatusUnauthorized)
		case "own":
			w.WriteHeader(*status)
			_, _ = io.WriteString(w, *body)
		default:
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, `{"error":{"code":"Forbidden","innererror":{"code":"ForbiddenByRbac"}}}`)
		}
	}))
	t.Cleanup(vault.Close)
	inner, _ := vault.Client().Transport.(*http.Transport)
	transport := inner.Clone()
	transport.TLSClientConfig.ServerName = "example.com"
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		if strings.HasPrefix(address, "v.vault.example:") {
			address = vault.Listener.Addr().String()
		}
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}
	return func(s *setup) {
		s.client = func(o *arm.Options) {
			o.Transport, o.VaultSuffix, o.Credential = &http.Client{Transport: transport}, "vault.example", constantToken("own")
			stranger := *o
			stranger.Connections, stranger.Credential = nil, constantToken("stranger")
			o.Connections = map[string]arm.Connection{"stranger": {Options: stranger}}
		}
	}
}

// withVault is a PUT whose body names a secret of the vault.
func withVault(t *testing.T, status *int, body *string) (*world, PutResourceInput) {
	t.Helper()
	w, in := putWorld(t, vaulted(t, status, body))
	in.Desired.Body = []byte(vaultBody)
	in.Desired.Secret, in.Desired.SecretRefs = []string{"properties.adminPassword"}, []string{vaultReference}
	return w, in
}

// TestVaultSecretIsPut checks that a PUT sends the current value, and that it is
// masked wherever ARM repeats it.
func TestVaultSecretIsPut(t *testing.T) {
	t.Parallel()
	status, body := 200, `{"value":"`+planted+`"}`
	w, in := withVault(t, &status, &body)
	got, err := run(w, w.acts.PutResource, in)
	must(t, err)
	if !got.Sent || !strings.Contains(jsonOf(w.lastPut()), planted) {
		t.Fatalf("ARM got %v (%s), without the secret", w.lastPut(), got.Verdict.Message)
	}
	w.put(thingText, `{"location":"westus2","properties":{"size":1,"echo":"x `+planted+` y"}}`)
	status = 500
	w.fresh()
	read, err := run(w, w.acts.GetResource, GetResourceInput{
		Target: in.Desired.Target(),
	})
	must(t, err)
	if !strings.Contains(string(read.Observed), "echo") {
		t.Fatalf("the resource was not read: %s", read.Observed)
	}
	w.leaks(planted, got, read, string(read.Observed), w.verdicts)

	status, body = 200, `{"value":"rotated-by-others"}`
	w.fresh()
	in.Kind = PutUncompared
	if _, err = run(w, w.acts.PutResource, in); err != nil || !strings.Contains(jsonOf(w.lastPut()), "rotated-by-others") {
		t.Errorf("after a rotation ARM got %v (%v)", w.lastPut(), err)
	}
}

func TestVaultSecretIsNotPut(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason     string
		status     int
		body       string
		credential string
		reference  string
		action     resource.Action
		class      resource.RetryClass
		part       string
	}{
		"Absent": {reason: "it may still be created", status: 404, body: `{"error":{"code":"SecretNotFound"}}`,
			action: resource.ActionBlock, class: resource.RetrySlow, part: "has no such secret"},
		"Stranger": {reason: "the rights of another credential are not used", status: 200, body: `{"value":"` + planted + `"}`, credential: "stranger",
			action: resource.ActionBlock, class: resource.RetrySlow, part: "may not read secrets of the vault"},
		"Down": {reason: "a network error is transient", status: 503,
			action: resource.ActionBlock, class: resource.RetrySlow, part: "is unavailable; retrying"},
		"Foreign": {reason: "only a change of the manifest fixes it", status: 200, reference: "keyvault:https://v.vault.azure.net/secrets/n",
			action: resource.ActionError, class: resource.RetryVerySlow, part: "no key vault of the credential's cloud"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, in := withVault(t, &tc.status, &tc.body)
			in.Desired.Credential = tc.credential
			if tc.reference != "" {
				in.Desired.Body = []byte(strings.ReplaceAll(vaultBody, vaultReference, tc.reference))
			}
			if tc.credential != "" {
				// The vault returns it for the other credential, and its cache must not be used.
				own := in
				own.Desired.Credential = ""
				_, err := run(w, w.acts.PutResource, own)
				must(t, err)
				w.fresh()
			}
			before := len(w.sim.Writes())
			got, err := run(w, w.acts.PutResource, in)
			must(t, err)
			want(t, got.Verdict, tc.action, resource.ReasonSecretNotFound, tc.class, tc.part)
			if len(w.sim.Writes()) != before {
				t.Errorf("%s: a PUT was sent", tc.reason)
			}
			w.leaks(planted, got, w.verdicts)
		})
	}
}
