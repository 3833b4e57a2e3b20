package encryption_test

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/armature-io/armature/internal/encryption"
	"github.com/armature-io/armature/internal/payload"
)

const (
	hexKey = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
	// base64Key has the same bytes.
	base64Key = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
)

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestLoad checks that each source gives the same key: what one writes, every other reads.
func TestLoad(t *testing.T) {
	vault := newVault(t)
	open := func() (encryption.Vault, error) { return encryption.NewVault(tokens{}, vault.transport()) }
	sources := encryption.Sources{
		LookupEnv: encryptionEnv(map[string]string{"KEY": hexKey, "KEY64": base64Key, "URL64": strings.TrimRight(strings.NewReplacer("+", "-", "/", "_").Replace(base64Key), "=")}),
		Vault:     open,
	}
	references := map[string]string{
		"variable in hex": "a=env:KEY", "variable in base64": "a=env:KEY64", "variable in base64url": "a=env:URL64",
		"file with a line break": "a=file:" + write(t, hexKey+"\n"),
		"secret of a key vault":  "a=keyvault:https://kv.vault.example/secrets/payloads",
		"wrapped file":           "a=wrapped:" + write(t, vault.wrap(t, hexKey)),
	}
	first, err := encryption.Load(t.Context(), encryption.Settings{Keys: []string{"a=env:KEY"}, WriteKey: "a"}, sources, payload.Options{})
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := first.Data.ToPayload("planted")
	if err != nil {
		t.Fatal(err)
	}
	for name, reference := range references {
		c, err := encryption.Load(t.Context(), encryption.Settings{Keys: []string{reference}, WriteKey: "a"}, sources, payload.Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got string
		if err := c.Data.FromPayload(sealed, &got); err != nil || got != "planted" {
			t.Errorf("%s: not the same key: %q, %v", name, got, err)
		}
	}
}

func TestLoadFails(t *testing.T) {
	vault := newVault(t)
	vault.refuse = true
	sources := encryption.Sources{
		LookupEnv: encryptionEnv(map[string]string{"KEY": hexKey, "PASSPHRASE": "planted-passphrase-of-a-user-1234"}),
		Vault:     func() (encryption.Vault, error) { return encryption.NewVault(tokens{}, vault.transport()) },
	}
	cases := map[string]struct {
		settings encryption.Settings
		sources  encryption.Sources
		want     string
	}{
		"not set":         {encryption.Settings{Keys: []string{"a=env:NONE"}}, sources, "read the key a from env:NONE: the variable is not set"},
		"a passphrase":    {encryption.Settings{Keys: []string{"a=env:PASSPHRASE"}}, sources, "openssl rand -hex 32"},
		"no file":         {encryption.Settings{Keys: []string{"a=file:/does/not/exist"}}, sources, "no such file"},
		"not a reference": {encryption.Settings{Keys: []string{"a=" + hexKey}}, sources, "never as the key itself"},
		"unknown write":   {encryption.Settings{Keys: []string{"a=env:KEY"}, WriteKey: "b"}, sources, `"b" is the ID of no key`},
		"vault refuses":   {encryption.Settings{Keys: []string{"a=keyvault:https://kv.vault.example/secrets/payloads"}}, sources, "403 Forbidden; the credential needs the right"},
		"no vault":        {encryption.Settings{Keys: []string{"a=keyvault:https://kv.vault.example/secrets/payloads"}}, encryption.Sources{}, "no key vault can be reached"},
		"not wrapped":     {encryption.Settings{Keys: []string{"a=wrapped:" + write(t, hexKey)}}, sources, "response of Key Vault's wrapkey"},
		"all at once":     {encryption.Settings{Keys: []string{"a=env:NONE", "b=env:PASSPHRASE"}}, sources, "read the key b"},
	}
	for name, tc := range cases {
		_, err := encryption.Load(t.Context(), tc.settings, tc.sources, payload.Options{})
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: want %q, got %v", name, tc.want, err)
		}
		if err != nil && (strings.Contains(err.Error(), hexKey) || strings.Contains(err.Error(), "planted")) {
			t.Errorf("%s: the error shows the key: %v", name, err)
		}
	}
}

// TestMemosStayEncrypted checks that a switch of the SDK cannot bring clear memos back.
//
//guard:what-is-encrypted-stays-whole
func TestMemosStayEncrypted(t *testing.T) {
	t.Setenv("TEMPORAL_SDK_FLAG_7", "0")
	sources := encryption.Sources{LookupEnv: encryptionEnv(map[string]string{"KEY": hexKey})}
	if _, err := encryption.Load(t.Context(), encryption.Settings{Keys: []string{"a=env:KEY"}, WriteKey: "a"}, sources, payload.Options{}); err == nil {
		t.Error("encryption loads although the SDK would write memos in clear")
	}
}

func encryptionEnv(values map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		value, ok := values[name]
		return value, ok
	}
}

type tokens struct{}

func (tokens) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: "token", ExpiresOn: time.Now().Add(time.Hour)}, nil
}

// vault is a key vault with one secret and one RSA key, over HTTPS.
type vault struct {
	*httptest.Server
	key    *rsa.PrivateKey
	refuse bool
}

func newVault(t *testing.T) *vault {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	v := &vault{key: key}
	v.Server = httptest.NewTLSServer(v)
	t.Cleanup(v.Close)
	return v
}

func (v *vault) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if r.Header.Get("Authorization") == "" {
		w.Header().Set("WWW-Authenticate", `Bearer authorization="https://login.example/00000000-0000-0000-0000-000000000001", resource="https://vault.example"`)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if v.refuse {
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, `{"error": {"code": "Forbidden", "message": "no"}}`)
		return
	}
	switch {
	case r.Method == http.MethodGet && strings.TrimSuffix(r.URL.Path, "/") == "/secrets/payloads":
		fmt.Fprintf(w, `{"value": %q}`, hexKey)
	case r.Method == http.MethodPost && r.URL.Path == "/keys/kek/0123456789abcdef0123456789abcdef/unwrapkey":
		var in struct{ Alg, Value string }
		_ = json.NewDecoder(r.Body).Decode(&in)
		wrapped, _ := base64.RawURLEncoding.DecodeString(in.Value)
		plain, err := v.key.Decrypt(nil, wrapped, &rsa.OAEPOptions{Hash: crypto.SHA256})
		if err != nil || in.Alg != "RSA-OAEP-256" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		fmt.Fprintf(w, `{"kid": "https://kv.vault.example/keys/kek/0123456789abcdef0123456789abcdef", "value": %q}`, base64.RawURLEncoding.EncodeToString(plain))
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// wrap returns the response of wrapkey for a key in hex.
func (v *vault) wrap(t *testing.T, text string) string {
	t.Helper()
	var plain []byte
	if _, err := fmt.Sscanf(text, "%x", &plain); err != nil {
		t.Fatal(err)
	}
	wrapped, err := rsa.EncryptOAEP(sha256.New(), rand.Reader, &v.key.PublicKey, plain, nil)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(`{"kid": "https://kv.vault.example/keys/kek/0123456789abcdef0123456789abcdef", "value": %q}`, base64.RawURLEncoding.EncodeToString(wrapped))
}

// transport reaches the vault under any host name.
func (v *vault) transport() policy.Transporter {
	return &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: v.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs, ServerName: "example.com", MinVersion: tls.VersionTLS12},
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, v.Listener.Addr().String())
		},
	}}
}
