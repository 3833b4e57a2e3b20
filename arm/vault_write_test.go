package arm

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/armature-io/armature/resource"
)

// writableVault is a test vault that records bodies of writes and responds with a status and a
// body.
func writableVault(t *testing.T, status int, body string) (*testVault, *[]string) {
	t.Helper()
	var bodies []string
	vault := newTestVault(t, nil)
	inner := vault.Config.Handler
	vault.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "" {
			inner.ServeHTTP(w, r)
			return
		}
		content, _ := io.ReadAll(r.Body)
		bodies = append(bodies, r.Method+" "+r.URL.Path+" "+string(content))
		w.Header().Set("Content-Type", "application/json")
		respond(w, status, body)
	})
	return vault, &bodies
}

// TestWriteSecret checks what is sent to a vault, and the version that comes back.
func TestWriteSecret(t *testing.T) {
	t.Parallel()
	const version = "0123456789abcdef0123456789abcdef"
	vault, bodies := writableVault(t, 200, `{"id":"https://v.vault.example/secrets/n/`+version+`","attributes":{"enabled":true,"created":1767225600},"tags":{"a":"b"},"value":"s3cret!"}`)
	client := vaultClient(t, vault.transport(), speaker{name: "t0ken"})
	got, err := client.WriteSecret(subject(t), inVault, "s3cret!", map[string]string{"a": "b"})
	if err != nil || got != version {
		t.Fatalf("%q, %v", got, err)
	}
	if err := client.TagSecret(subject(t), inVault, version, map[string]string{"a": "c"}); err != nil {
		t.Fatal(err)
	}
	stored, err := client.StoredSecret(subject(t), inVault)
	if err != nil || stored.Value != "s3cret!" || stored.Version != version || stored.Tags["a"] != "b" || stored.CreatedAt.Year() != 2026 {
		t.Errorf("%+v, %v", stored, err)
	}
	sent := *bodies
	var body struct {
		Value string
		Tags  map[string]string
	}
	if len(sent) != 3 || !strings.HasPrefix(sent[0], "PUT /secrets/n ") || json.Unmarshal([]byte(strings.TrimPrefix(sent[0], "PUT /secrets/n ")), &body) != nil || body.Value != "s3cret!" || body.Tags["a"] != "b" {
		t.Errorf("the vault got %q", sent)
	}
	if !strings.HasPrefix(sent[1], "PATCH /secrets/n/"+version+" ") || strings.Contains(sent[1], "s3cret!") {
		t.Errorf("the vault got %q", sent[1])
	}
}

// TestWriteSecretFails checks the kinds of failures, and that no error has a value.
func TestWriteSecretFails(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		status int
		body   string
		kind   VaultKind
		part   string
	}{
		"deleted":   {reason: "the name is taken", status: 409, body: `{"error":{"code":"Conflict","message":"s3cret! is deleted","innererror":{"code":"ObjectIsDeletedButRecoverable"}}}`, kind: VaultDeleted, part: "recover it"},
		"recovered": {reason: "the recovery takes seconds", status: 409, body: `{"error":{"code":"Conflict","innererror":{"code":"ObjectIsBeingRecovered"}}}`, kind: VaultUnavailable, part: "unavailable"},
		"no role":   {reason: "it needs another role than a read", status: 403, body: `{"error":{"code":"Forbidden","innererror":{"code":"ForbiddenByRbac"}}}`, kind: VaultDenied, part: "Key Vault Secrets Officer"},
		"too large": {reason: "the vault refuses it", status: 400, body: `{"error":{"code":"BadParameter"}}`, kind: VaultInvalid, part: "rejects"},
		"busy":      {reason: "it ends by itself", status: 429, body: `{}`, kind: VaultUnavailable, part: "unavailable"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			vault, _ := writableVault(t, tc.status, tc.body)
			client := vaultClient(t, vault.transport(), speaker{name: "t0ken"})
			_, err := client.WriteSecret(subject(t), inVault, "the-value-to-store", nil)
			failure, ok := errors.AsType[*VaultError](err)
			if !ok || failure.Kind != tc.kind || !strings.Contains(err.Error(), tc.part) || strings.Contains(err.Error(), "the-value-to-store") {
				t.Errorf("%s: %v, want %q", tc.reason, err, tc.part)
			}
		})
	}
}

// TestStoredSecretAbsent checks that a missing secret is an answer, and a missing right is not.
func TestStoredSecretAbsent(t *testing.T) {
	t.Parallel()
	vault, _ := writableVault(t, 404, `{"error":{"code":"SecretNotFound"}}`)
	stored, err := vaultClient(t, vault.transport(), speaker{name: "t0ken"}).StoredSecret(subject(t), inVault)
	if stored != nil || err != nil {
		t.Errorf("%+v, %v; want neither", stored, err)
	}
	denied, _ := writableVault(t, 403, `{"error":{"code":"Forbidden"}}`)
	if _, err := vaultClient(t, denied.transport(), speaker{name: "t0ken"}).StoredSecret(subject(t), inVault); err == nil {
		t.Error("a refused read is no absence")
	}
}

// TestSecretWritesAreAsked checks that the write of a secret is asked about like every write, that
// a read is not, and that neither leaves a read-only client.
//
//guard:exports
func TestSecretWritesAreAsked(t *testing.T) {
	t.Parallel()
	vault, bodies := writableVault(t, 200, `{"value":"s3cret!"}`)
	var asked []Write
	client := vaultClient(t, vault.transport(), speaker{name: "t0ken"}, func(o *Options) {
		o.MayWrite = func(_ context.Context, write Write) error {
			asked = append(asked, write)
			return errors.New("frozen")
		}
	})
	if _, err := client.StoredSecret(subject(t), inVault); err != nil || len(asked) != 0 {
		t.Fatalf("a read was asked about: %v, %v", asked, err)
	}
	_, err := client.WriteSecret(subject(t), inVault, "value", nil)
	if _, refused := errors.AsType[*WriteRefusedError](err); !refused || len(asked) == 0 || asked[0].Call != CallSecretWrite || asked[0].Type != typeVaultSecret {
		t.Errorf("%v, asked about %+v", err, asked)
	}
	if err := client.TagSecret(subject(t), inVault, "v", nil); err == nil || !strings.Contains(err.Error(), "frozen") {
		t.Errorf("the tags were written: %v", err)
	}
	readOnly := vaultClient(t, vault.transport(), speaker{name: "t0ken"}, func(o *Options) { o.ReadOnly = true })
	if _, err := readOnly.WriteSecret(subject(t), inVault, "value", nil); err == nil || !strings.Contains(err.Error(), "read-only") {
		t.Errorf("a read-only client: %v", err)
	}
	for _, sent := range *bodies {
		if !strings.HasPrefix(sent, http.MethodGet) {
			t.Errorf("the vault got %q", sent)
		}
	}
	if _, err := client.WriteSecret(subject(t), resource.VaultSecret{Host: "v.vault.azure.net", Name: "n"}, "value", nil); err == nil {
		t.Error("a token left for another cloud")
	}
}
