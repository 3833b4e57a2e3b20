package armsim_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/armature-io/armature/armsim"
)

// vaultDo sends a request to the key vault kv, with a token unless that is "".
func vaultDo(h *harness, token, method, path, body string) (int, http.Header, map[string]any) {
	h.t.Helper()
	request := httptest.NewRequest(method, path+"?api-version=7.5", strings.NewReader(body))
	request.Host = "kv.vault.example"
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	recorder := httptest.NewRecorder()
	h.ServeHTTP(recorder, request)
	var decoded map[string]any
	if recorder.Body.Len() > 0 {
		if err := json.Unmarshal(recorder.Body.Bytes(), &decoded); err != nil {
			h.t.Fatalf("%s %s: %v in %s", method, path, err, recorder.Body)
		}
	}
	return recorder.Code, recorder.Header(), decoded
}

// innerCode returns the inner code of an error, else its code.
func innerCode(body map[string]any) string {
	failure, _ := body["error"].(map[string]any)
	if inner, ok := failure["innererror"].(map[string]any); ok {
		return inner["code"].(string)
	}
	code, _ := failure["code"].(string)
	return code
}

// TestVault walks through the life of a secret: challenge, versions, tags, a disabled version,
// soft delete, recovery and purge.
func TestVault(t *testing.T) {
	t.Parallel()
	h := newHarness(t, armsim.Options{VaultSuffix: "vault.example"})
	status, header, _ := vaultDo(h, "", "GET", "/secrets/n", "")
	if challenge := header.Get("WWW-Authenticate"); status != 401 || !strings.Contains(challenge, `resource="https://vault.example"`) {
		t.Fatalf("without a token: %d %q", status, challenge)
	}
	want := func(method, path, body string, wantStatus int, wantCode string) map[string]any {
		t.Helper()
		status, _, got := vaultDo(h, "t", method, path, body)
		if status != wantStatus || innerCode(got) != wantCode {
			t.Fatalf("%s %s: %d %v, want %d %s", method, path, status, got, wantStatus, wantCode)
		}
		return got
	}
	want("GET", "/secrets/n/", "", 404, "SecretNotFound")
	first := want("PUT", "/secrets/n", `{"value":"one","tags":{"a":"b"}}`, 200, "")
	second := want("PUT", "/secrets/N", `{"value":"two"}`, 200, "")
	if first["id"] == second["id"] {
		t.Error("two versions have one ID")
	}
	version := first["id"].(string)[strings.LastIndex(first["id"].(string), "/")+1:]
	if got := want("GET", "/secrets/n/"+version, "", 200, ""); got["value"] != "one" || got["tags"].(map[string]any)["a"] != "b" {
		t.Errorf("the first version is %v", got)
	}
	if got := want("GET", "/secrets/n/", "", 200, ""); got["value"] != "two" || got["tags"] != nil {
		t.Errorf("the newest version is %v", got)
	}
	if got := want("PATCH", "/secrets/n/"+version, `{"tags":{"a":"c"}}`, 200, ""); got["value"] != nil || got["tags"].(map[string]any)["a"] != "c" {
		t.Errorf("a PATCH returned %v", got)
	}
	h.ChangeVault(armsim.VaultChange{Vault: "kv", Name: "n", Enabled: new(false)})
	want("GET", "/secrets/n/", "", 403, "SecretDisabled")
	want("DELETE", "/secrets/n", "", 200, "")
	want("GET", "/secrets/n/", "", 404, "SecretNotFound")
	want("PUT", "/secrets/n", `{"value":"three"}`, 409, "ObjectIsDeletedButRecoverable")
	want("POST", "/deletedsecrets/n/recover", "", 200, "")
	want("PUT", "/secrets/n", `{"value":"three"}`, 200, "")
	want("DELETE", "/secrets/n", "", 200, "")
	if status, _, _ := vaultDo(h, "t", "DELETE", "/deletedsecrets/n", ""); status != 204 {
		t.Errorf("a purge returned %d", status)
	}
	want("PUT", "/secrets/n", `{"value":"four"}`, 200, "")
	want("PUT", "/secrets/n", `{"value":"`+strings.Repeat("x", 25_001)+`"}`, 400, "BadParameter")
	if secrets := h.VaultSecrets(); len(secrets) != 1 || len(secrets[0].Versions) != 1 || secrets[0].Versions[0].Value != "four" {
		t.Errorf("after a purge the vault has %+v", secrets)
	}
	h.DenyVault(armsim.VaultDenial{Vault: "k*", Method: "PUT", Code: "AccessDenied"})
	want("PUT", "/secrets/n", `{"value":"five"}`, 403, "AccessDenied")
	want("GET", "/secrets/n", "", 200, "")
	h.AllowVaults()
	want("PUT", "/secrets/n", `{"value":"five"}`, 200, "")
	if puts := h.Counters().ByMethod["PUT"]; puts != 0 {
		t.Errorf("%d requests to a vault count as requests to ARM", puts)
	}
}

// TestVaultTokens checks that a vault accepts only tokens of this server for key vaults.
func TestVaultTokens(t *testing.T) {
	t.Parallel()
	h := newHarness(t, armsim.Options{VaultSuffix: "vault.example", RequireAuth: true})
	token := func(scope string) string {
		t.Helper()
		request := httptest.NewRequest("POST", "/"+tenant+"/oauth2/v2.0/token", strings.NewReader("grant_type=client_credentials&client_id=c&client_secret=s&scope="+scope))
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		recorder := httptest.NewRecorder()
		h.ServeHTTP(recorder, request)
		var body map[string]any
		if err := json.Unmarshal(recorder.Body.Bytes(), &body); err != nil {
			t.Fatal(err)
		}
		return body["access_token"].(string)
	}
	for name, tc := range map[string]struct {
		token string
		want  int
	}{
		"for key vaults": {token("https://vault.example/.default+openid+profile"), 404},
		"for ARM":        {token("https://management.azure.com/.default"), 401},
		"of another":     {"made.up.token", 401},
	} {
		if status, _, got := vaultDo(h, tc.token, "GET", "/secrets/n", ""); status != tc.want {
			t.Errorf("a token %s: %d %v, want %d", name, status, got, tc.want)
		}
	}
}

// TestRegenerateKey checks that an action changes one key, and what contains it.
func TestRegenerateKey(t *testing.T) {
	t.Parallel()
	h := newHarness(t, armsim.Options{})
	h.makeGroup()
	const hub = group + "/providers/Microsoft.SignalRService/signalR/s1"
	h.want(h.do("PUT", hub+version, `{"location":"westus2"}`), 201, "")
	before := h.do("POST", hub+"/listKeys"+version, "")
	if again := h.do("POST", hub+"/listKeys"+version, ""); again.raw != before.raw {
		t.Fatal("two answers differ without a regeneration")
	}
	after := h.do("POST", hub+"/regenerateKey"+version, `{"keyType":"Primary"}`)
	if after.at("primaryKey") == before.at("primaryKey") || after.at("secondaryKey") != before.at("secondaryKey") ||
		!strings.Contains(after.at("primaryConnectionString").(string), after.at("primaryKey").(string)) {
		t.Errorf("before %s after %s", before.raw, after.raw)
	}
	h.want(h.do("POST", hub+"/regenerateKey"+version, `{"keyType":"Tertiary"}`), 400, "InvalidParameter")
	h.want(h.do("PUT", plain+version, `{"location":"westus2"}`), 201, "")
	h.want(h.do("POST", plain+"/regenerateKey"+version, `{}`), 404, "InvalidResourceType")
}
