package activities

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/secrets"
)

const (
	appText     = groupText + "/providers/Microsoft.App/containerApps/app1"
	appBody     = `{"location":"westus2","properties":{"environmentId":"` + groupText + `/providers/Microsoft.App/managedEnvironments/env","configuration":{"ingress":{"external":true,"targetPort":80}%s},"template":{"containers":[{"name":"main","image":"nginx"}]}}}`
	appDrift    = `{"properties":{"configuration":{"ingress":{"external":false}}}}`
	otherSecret = "an0ther-t00ls-s3cret"
)

// TestGuardSecretsOfOthers lets another tool set a secret that no GET shows, and drifts
// what the manifest states: the secret is there after the correction, or the PUT is held.
// It is in no result and no log.
//
//guard:secrets-of-others
func TestGuardSecretsOfOthers(t *testing.T) {
	t.Parallel()
	const (
		account = groupText + "/providers/Microsoft.NetApp/netAppAccounts/acct"
		apim    = groupText + "/providers/Microsoft.ApiManagement/service/apim"
		gateway = groupText + "/providers/Microsoft.Network/virtualNetworkGateways/gw"
	)
	secrets := `{"properties":{"configuration":{"secrets":[{"name":"db","value":"` + otherSecret + `"},{"name":"kv","keyVaultUrl":"https://v.vault.azure.net/secrets/x","identity":"system"}]}}}`
	app := func(more string) string { return strings.Replace(appBody, "%s", more, 1) }
	stated := `,"secrets":[{"name":"own","value":{"$secret":"env:ARMATURE_SECRET_ACTIVITIES"}}]`
	directories := `{"properties":{"activeDirectories":[{"activeDirectoryId":"a1","username":"u","domain":"contoso.com","password":"` + otherSecret + `"}]}}`
	server := `{"properties":{"vpnClientConfiguration":{"radiusServers":[{"radiusServerAddress":"10.2.0.4","radiusServerScore":30,"radiusServerSecret":"` + otherSecret + `"}]}}}`
	cases := map[string]struct {
		reason, id, version, body, theirs, drift string
		put                                      resource.Put
		secret                                   []string // paths of $secret
		denied                                   bool     // the worker may not send POSTs
		method                                   string   // of the correction; "" if it is held
		message                                  string
		lost                                     bool
	}{
		"listed": {
			reason: "an action of the type returns the secret", id: appText, version: "2024-03-01",
			body: app(""), theirs: secrets, drift: appDrift, method: http.MethodPut,
		},
		"listed in a merge": {
			reason: "items that the manifest states not at all stay", id: appText, version: "2024-03-01", put: resource.PutMerge, secret: []string{"properties.configuration.secrets[name=own].value"},
			body: app(stated), theirs: strings.Replace(secrets, `[`, `[{"name":"own","value":"`+planted+`"},`, 1), drift: appDrift, method: http.MethodPut,
		},
		"listed beside a stated one": {
			reason: "other tools are known to add secrets", id: appText, version: "2024-03-01", secret: []string{"properties.configuration.secrets[name=own].value"},
			body: app(stated), theirs: strings.Replace(secrets, `[`, `[{"name":"own","value":"`+planted+`"},`, 1), drift: appDrift, method: http.MethodPut,
		},
		"stated without its value": {
			reason: "the manifest names the secret, another tool sets the value", id: appText, version: "2024-03-01",
			body: app(`,"secrets":[{"name":"db"}]`), theirs: `{"properties":{"configuration":{"secrets":[{"name":"db","value":"` + otherSecret + `"}]}}}`, drift: appDrift, method: http.MethodPut,
		},
		"all stated": {
			reason: "nothing has to be read", id: appText, version: "2024-03-01", denied: true, secret: []string{"properties.configuration.secrets[name=own].value"},
			body: app(stated), theirs: `{"tags":{"theirs":"1"}}`, drift: appDrift, method: http.MethodPut, lost: true,
		},
		"not listed, patched": {
			reason: "a PATCH of the type keeps what it omits", id: appText, version: "2024-03-01", denied: true,
			body: app(""), theirs: secrets, drift: appDrift, method: http.MethodPatch,
		},
		"replaced": {
			reason: "the user lets them go", id: appText, version: "2024-03-01", put: resource.PutReplace,
			body: app(""), theirs: secrets, drift: appDrift, method: http.MethodPut, lost: true,
		},
		"listed without a key": {
			reason: "the address identifies the item", id: gateway, version: "2023-09-01",
			body: `{"location":"westus2","properties":{"enableBgp":true}}`, theirs: server, drift: `{"properties":{"enableBgp":false}}`, method: http.MethodPut,
		},
		"listed beside other properties": {
			reason: "a GET shows nothing of it", id: apim + "/authorizationServers/as", version: "2022-08-01",
			body: `{"properties":{"displayName":"a","clientId":"c"}}`, theirs: `{"properties":{"clientSecret":"` + otherSecret + `"}}`, drift: `{"properties":{"displayName":"b"}}`, method: http.MethodPut,
		},
		"not to be read": {
			reason: "whether there is one is not known", id: gateway, version: "2023-09-01", denied: true,
			body: `{"location":"westus2","properties":{"enableBgp":true}}`, theirs: server, drift: `{"properties":{"enableBgp":false}}`,
			message: "Microsoft.Network/virtualNetworkGateways/listRadiusSecrets/action",
		},
		"placeholder": {
			reason: "no action returns the secret", id: account, version: "2022-11-01",
			body: `{"location":"westus2","properties":{"encryption":{"keySource":"Microsoft.NetApp"}}}`, theirs: directories, drift: `{"properties":{"encryption":{"keySource":"Microsoft.KeyVault"}}}`,
			message: "properties.activeDirectories[username=u].password",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(s *setup) { s.sim.TimeScale = 1e6 })
			w.put(groupText, `{"location":"westus2"}`)
			w.put(apim, `{"location":"westus2"}`)
			p := &passRunner{world: w, spec: desired(t, tc.id, tc.body)}
			p.spec.APIVersion, p.spec.Put, p.spec.Secret = tc.version, tc.put, tc.secret
			if len(tc.secret) > 0 {
				p.spec.SecretRefs = []string{"env:ARMATURE_SECRET_ACTIVITIES"}
			}
			if got := p.pass(); tc.method != "" && got.Stops() && !strings.Contains(tc.body, `{"name":"db"}`) {
				t.Fatalf("creation: %s %s", got.Reason, got.Message)
			}
			if strings.Contains(tc.body, `{"name":"db"}`) { // Azure refuses to create it so
				w.put(tc.id, strings.Replace(tc.body, `{"name":"db"}`, `{"name":"db","value":"`+otherSecret+`"}`, 1))
			}
			p.patch(tc.theirs)
			if tc.denied {
				w.sim.Deny(armsim.Denial{Scope: "*", Method: http.MethodPost})
			}
			for round := range 2 {
				p.patch(tc.drift)
				before := w.puts(tc.id)
				p.approved = tc.lost
				got := p.pass()
				if tc.method == "" {
					want(t, got, resource.ActionBlock, resource.ReasonHeld, resource.RetryVerySlow, "SecretOfOthers", "$secret", "put: replace", tc.message)
					if w.puts(tc.id) != before || got.Actor == "" {
						t.Errorf("%s: a PUT was sent, or the verdict names no actor", tc.reason)
					}
					continue
				}
				if got.Stops() || w.puts(tc.id) != before+1 || w.lastMethod(tc.id) != tc.method {
					t.Fatalf("correction %d: %d writes, the last a %s, want one %s (%s): %s %s",
						round+1, w.puts(tc.id)-before, w.lastMethod(tc.id), tc.method, tc.reason, got.Reason, got.Message)
				}
			}
			if kept := strings.Contains(w.storedBody(tc.id), otherSecret); kept == tc.lost {
				t.Errorf("the secret is there: %t (%s)", kept, tc.reason)
			}
			w.leaks(otherSecret, w.verdicts, p.memory, p.results)
		})
	}
}

// lastMethod returns the method of the last accepted write of a resource.
func (w *world) lastMethod(text string) string {
	for _, write := range slices.Backward(w.sim.Writes()) {
		if strings.EqualFold(write.ID, text) {
			return write.Method
		}
	}
	return ""
}

// storedBody returns what the simulator has of a resource: the response to a GET, and what
// it does not show.
func (w *world) storedBody(text string) string {
	w.t.Helper()
	snapshot, err := w.sim.Snapshot()
	must(w.t, err)
	var saved []struct {
		ID   string          `json:"id"`
		Body json.RawMessage `json:"body"`
	}
	must(w.t, json.Unmarshal(snapshot, &saved))
	stored := ""
	for _, r := range saved {
		if strings.EqualFold(r.ID, text) {
			stored += string(r.Body)
		}
	}
	for _, r := range w.sim.Resources(text, "") {
		stored += jsonOf(r.Body)
	}
	return stored
}

// TestKeptSecretIsRotatedDuringPut rotates a password at its source after the comparison of a PUT
// that would leave it out: the PUT sends the new one, because its hash counts as sent.
func TestKeptSecretIsRotatedDuringPut(t *testing.T) {
	t.Parallel()
	const server = groupText + "/providers/Microsoft.Sql/servers/rotated"
	folder, armed, sent := t.TempDir(), false, ""
	is := func(value string) { must(t, os.WriteFile(filepath.Join(folder, "password"), []byte(value), 0o600)) }
	w := newWorld(t, func(s *setup) {
		s.sim.TimeScale, s.options.Rotation = 1e6, true
		s.handler = func(h http.Handler) http.Handler {
			reads := 0
			return http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				must(t, err)
				r.Body = io.NopCloser(bytes.NewReader(body))
				if armed && r.Method == http.MethodGet {
					if reads++; reads == 2 { // that of the PUT
						is("second")
					}
				}
				if r.Method == http.MethodPut {
					sent = string(body)
				}
				h.ServeHTTP(out, r)
			})
		}
	})
	is("first")
	w.acts.resolver = secrets.New(secrets.Options{Dir: folder})
	w.put(groupText, `{"location":"westus2"}`)
	p := &passRunner{world: w, spec: desired(t, server, `{"location":"westus2","properties":{"administratorLogin":"boss","administratorLoginPassword":{"$secret":"file:password"},"minimalTlsVersion":"1.2"}}`)}
	p.spec.APIVersion, p.spec.SecretRefs = "2021-11-01", []string{"file:password"}
	if got := p.pass(); got.Stops() {
		t.Fatalf("creation: %s %s", got.Reason, got.Message)
	}
	p.patch(`{"properties":{"minimalTlsVersion":"1.0"}}`)
	armed = true
	if got := p.pass(); got.Stops() || !strings.Contains(sent, `"second"`) {
		t.Errorf("%s %s: sent %s", got.Reason, got.Message, sent)
	}
}
