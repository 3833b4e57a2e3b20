package arm

import (
	"cmp"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// issuer returns an authority that checks its requests: the text of a token names
// the application, the tenant and the method.
func issuer(t *testing.T) *httptest.Server {
	t.Helper()
	var server *httptest.Server
	server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		tenant := strings.Split(r.URL.Path, "/")[1]
		if strings.HasSuffix(r.URL.Path, "openid-configuration") {
			base := server.URL + "/" + tenant
			_ = json.NewEncoder(w).Encode(map[string]any{"issuer": base + "/v2.0", "token_endpoint": base + "/token", "authorization_endpoint": base + "/authorize"})
			return
		}
		how := "secret"
		if assertion := r.PostFormValue("client_assertion"); assertion != "" {
			how = "assertion"
			header, _ := base64.RawURLEncoding.DecodeString(strings.Split(assertion, ".")[0])
			if strings.Contains(string(header), `"x5c"`) {
				how = "chain"
			}
			if assertion == "a-federated-token" {
				how = "federated"
			}
		}
		_ = json.NewEncoder(w).Encode(map[string]any{
			"access_token": how + " " + r.PostFormValue("client_id") + " " + tenant, "token_type": "Bearer", "expires_in": 3600,
		})
	}))
	t.Cleanup(server.Close)
	return server
}

// selfSigned returns a certificate with its key, in PEM.
func selfSigned(t *testing.T) []byte {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "armature"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return append(text, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})...)
}

// TestCredentialKinds requests a token with each kind of credential.
func TestCredentialKinds(t *testing.T) {
	login := issuer(t)
	identity := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Header.Get("X-IDENTITY-HEADER") != "the-header" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		identity := cmp.Or(r.URL.Query().Get("client_id"), r.URL.Query().Get("mi_res_id"), "system")
		_ = json.NewEncoder(w).Encode(map[string]any{"access_token": "managed " + identity, "expires_on": time.Now().Add(time.Hour).Unix(), "resource": "x", "token_type": "Bearer"})
	}))
	t.Cleanup(identity.Close)
	t.Setenv("IDENTITY_ENDPOINT", identity.URL)
	t.Setenv("IDENTITY_HEADER", "the-header")
	folder := t.TempDir()
	federated := filepath.Join(folder, "token")
	if err := os.WriteFile(federated, []byte("a-federated-token"), 0o600); err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\necho '{\"accessToken\": \"cli\", \"expiresOn\": \"2099-01-01 00:00:00.000000\", \"expires_on\": 4070908800}'\n"
	if err := os.WriteFile(filepath.Join(folder, "az"), []byte(script), 0o700); err != nil { //nolint:gosec // a program has to be executable
		t.Fatal(err)
	}
	t.Setenv("PATH", folder+string(os.PathListSeparator)+os.Getenv("PATH"))
	cases := map[string]struct {
		reason string
		change func(*CredentialOptions)
		token  string
	}{
		"Secret": {
			reason: "an application with a secret", token: "secret app " + tenantID,
			change: func(o *CredentialOptions) { o.Kind, o.ClientSecret = CredentialClientSecret, plantedSecret },
		},
		"Certificate": {
			reason: "an application with a certificate signs an assertion", token: "assertion app " + tenantID,
			change: func(o *CredentialOptions) { o.Kind, o.Certificate = CredentialClientCertificate, selfSigned(t) },
		},
		"Chain": {
			reason: "the certificate is sent if configured", token: "chain app " + tenantID,
			change: func(o *CredentialOptions) {
				o.Kind, o.Certificate, o.SendChain = CredentialClientCertificate, selfSigned(t), true
			},
		},
		"Workload": {
			reason: "a federated token is sent as the assertion", token: "federated app " + tenantID,
			change: func(o *CredentialOptions) { o.Kind, o.TokenFile = CredentialWorkloadIdentity, federated },
		},
		"System": {
			reason: "the machine's own identity", token: "managed system",
			change: func(o *CredentialOptions) { o.Kind, o.ClientID = CredentialManagedIdentity, "" },
		},
		"User": {
			reason: "a user-assigned identity, by client ID", token: "managed app",
			change: func(o *CredentialOptions) { o.Kind = CredentialManagedIdentity },
		},
		"UserByResource": {
			reason: "a user-assigned identity, by resource ID", token: "managed " + clusterID,
			change: func(o *CredentialOptions) { o.Kind, o.ClientID = CredentialManagedIdentity, clusterID },
		},
		"CLI": {
			reason: "the signed-in user", token: "cli",
			change: func(o *CredentialOptions) { o.Kind = CredentialAzureCLI },
		},
	}
	transport, err := NewTransport(TransportOptions{CAFile: caOf(t, login)})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			options := CredentialOptions{
				TenantID: tenantID, ClientID: "app", Cloud: cloudAt(login.URL), CustomCloud: true, Transport: transport,
			}
			c.change(&options)
			credential, err := NewCredential(options)
			if err != nil {
				t.Fatalf("%s: %v", c.reason, err)
			}
			server := newScript(t, reply{200, nil, `{}`})
			client := server.client(t, func(o *Options) { o.Credential = credential })
			if _, err := client.Get(testContext(t), parseID(t, clusterID), apiVersion); err != nil {
				t.Fatalf("%s: %v", c.reason, err)
			}
			if got := server.requests()[0].header.Get("Authorization"); got != "Bearer "+c.token {
				t.Errorf("%s: got %q, want the token %q", c.reason, got, c.token)
			}
		})
	}
}

// TestMetadataUnreachable checks that an unreachable identity endpoint is a transport
// error, not a refused credential.
func TestMetadataUnreachable(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	t.Setenv("IDENTITY_ENDPOINT", gone.URL)
	t.Setenv("IDENTITY_HEADER", "the-header")
	credential, err := NewCredential(CredentialOptions{Kind: CredentialManagedIdentity})
	if err != nil {
		t.Fatal(err)
	}
	server := newScript(t)
	client := server.client(t, func(o *Options) { o.Credential = credential })
	_, err = client.Get(testContext(t), parseID(t, clusterID), apiVersion)
	if err == nil || isRefusal(err) {
		t.Errorf("got %v, want a transport error", err)
	}
}

// TestAuxiliaryTenants checks that a request carries the tokens of further tenants.
func TestAuxiliaryTenants(t *testing.T) {
	const other = "bbbbbbbb-bbbb-cccc-dddd-eeeeeeeeeeee"
	login := issuer(t)
	transport, err := NewTransport(TransportOptions{CAFile: caOf(t, login)})
	if err != nil {
		t.Fatal(err)
	}
	credential, err := NewCredential(CredentialOptions{
		Kind: CredentialClientSecret, TenantID: tenantID, ClientID: "app", ClientSecret: plantedSecret,
		AuxiliaryTenants: []string{other}, Cloud: cloudAt(login.URL), CustomCloud: true, Transport: transport,
	})
	if err != nil {
		t.Fatal(err)
	}
	server := newScript(t, reply{200, nil, `{}`})
	client := server.client(t, func(o *Options) { o.Credential, o.AuxiliaryTenants = credential, []string{other} })
	if _, err := client.Get(testContext(t), parseID(t, clusterID), apiVersion); err != nil {
		t.Fatal(err)
	}
	header := server.requests()[0].header
	if got := header.Get("X-Ms-Authorization-Auxiliary"); got != "Bearer secret app "+other {
		t.Errorf("the auxiliary header is %q", got)
	}
	if got := header.Get("Authorization"); got != "Bearer secret app "+tenantID {
		t.Errorf("the token is %q", got)
	}
}
