package drift_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/internal/jsontree"
)

//guard:secrets-of-others
func TestOpenSecrets(t *testing.T) {
	const (
		app     = "Microsoft.App/containerApps 2024-03-01"
		account = "Microsoft.NetApp/netAppAccounts 2022-11-01"
		groups  = "Microsoft.ContainerInstance/containerGroups 2023-05-01"
		cluster = "Microsoft.ContainerService/managedClusters 2024-02-01"
		server  = "Microsoft.ApiManagement/service/authorizationServers 2022-08-01"
	)
	cases := map[string]struct {
		reason, typ, desired, observed string
		// payload is what the PUT would send, want what it sends; empty if they are equal.
		payload, want string
		open          []string // "!" where the resource shows that the secret exists
	}{
		"item of others": {
			reason: "it shows nothing but its name", typ: app, desired: `{}`, observed: `{"properties":{"configuration":{"secrets":[{"name":"a"}]}}}`,
			payload: `{"properties":{"configuration":{"secrets":[{"name":"a"}]}}}`, open: []string{"!properties.configuration.secrets[name=a].value"},
		},
		"reference": {
			reason: "the service reads it from a vault", typ: app, desired: `{}`, observed: `{"properties":{"configuration":{"secrets":[{"name":"a","keyVaultUrl":"https://v/s","identity":"system"}]}}}`,
			payload: `{"properties":{"configuration":{"secrets":[{"name":"a","keyVaultUrl":"https://v/s","identity":"system"}]}}}`, open: []string{"properties.configuration.secrets[name=a].value"},
		},
		"stated": {
			reason: "the manifest has it", typ: app, desired: `{"properties":{"configuration":{"secrets":[{"name":"a","value":{"$secret":"env:A"}}]}}}`, observed: `{"properties":{"configuration":{"secrets":[{"name":"a"}]}}}`,
			payload: `{"properties":{"configuration":{"secrets":[{"name":"a","value":"s"}]}}}`,
		},
		"new item": {
			reason: "the PUT creates it", typ: app, desired: `{"properties":{"configuration":{"secrets":[{"name":"b"}]}}}`, observed: `{"properties":{"configuration":{"secrets":[{"name":"a"}]}}}`,
			payload: `{"properties":{"configuration":{"secrets":[{"name":"b"}]}}}`,
		},
		"plain variable": {
			reason: "a variable with a value has no secret value", typ: groups, desired: `{"properties":{"containers":[{"name":"c"}]}}`,
			observed: `{"properties":{"containers":[{"name":"c","properties":{"environmentVariables":[{"name":"a","value":"1"},{"name":"b"}]}}]}}`,
			payload:  `{"properties":{"containers":[{"name":"c","properties":{"environmentVariables":[{"name":"a","value":"1"},{"name":"b"}]}}]}}`,
			open:     []string{"properties.containers[name=c].properties.environmentVariables[name=a].secureValue", "!properties.containers[name=c].properties.environmentVariables[name=b].secureValue"},
		},
		"placeholder": {
			reason: "asterisks are never sent", typ: account, desired: `{}`, observed: `{"properties":{"activeDirectories":[{"username":"u","password":"****","serverRootCACertificate":"cert"}]}}`,
			payload: `{"properties":{"activeDirectories":[{"username":"u","password":"****"}]}}`,
			want:    `{"properties":{"activeDirectories":[{"username":"u","serverRootCACertificate":"cert"}]}}`,
			open:    []string{"!properties.activeDirectories[username=u].password", "properties.activeDirectories[username=u].serverRootCACertificate"},
		},
		"object without secret": {
			reason: "every cluster shows such objects, and most have no secret", typ: cluster, desired: `{}`, observed: `{"properties":{"servicePrincipalProfile":{"clientId":"msi"},"windowsProfile":{"adminUsername":"u"}}}`,
			payload: `{"properties":{"servicePrincipalProfile":{"clientId":"msi"},"windowsProfile":{"adminUsername":"u"}}}`,
			open:    []string{"properties.servicePrincipalProfile.secret", "properties.windowsProfile.adminPassword"},
		},
		"never shown": {
			reason: "whether there is one only its action says", typ: server, desired: `{"properties":{"clientId":"c"}}`, observed: `{"properties":{"clientId":"c"}}`,
			payload: `{"properties":{"clientId":"c"}}`, open: []string{"properties.clientSecret"},
		},
		"absent": {reason: "a creation sends the manifest", typ: app, desired: `{}`, observed: `null`, payload: `{}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			typ, version, _ := strings.Cut(tc.typ, " ")
			payload := object(t, tc.payload)
			var got []string
			for _, open := range drift.OpenSecrets(payload, object(t, tc.desired), object(t, tc.observed), drift.Options{Type: typ, Facts: factsOf(typ), APIVersion: version}) {
				text := open.Path.String()
				if open.Evident {
					text = "!" + text
				}
				// A type has more secrets than the case is about.
				if strings.Contains(fmt.Sprint(tc.open), open.Path.String()) || open.Evident {
					got = append(got, text)
				}
			}
			if diff := cmp.Diff(tc.open, got); diff != "" {
				t.Errorf("%s (-want +got)\n%s", tc.reason, diff)
			}
			if tc.want == "" {
				tc.want = tc.payload
			}
			if diff := cmp.Diff(object(t, tc.want), payload); diff != "" {
				t.Errorf("payload (-want +got)\n%s", diff)
			}
		})
	}
}

// TestPlaceholderOfTheService shows that a placeholder that was there after the last PUT,
// and that no PUT kept, is the service's own: it holds no later PUT.
//
//guard:secrets-of-others
func TestPlaceholderOfTheService(t *testing.T) {
	opts := drift.Options{Type: "Microsoft.ApiManagement/service/authorizationServers", Facts: factsOf("Microsoft.ApiManagement/service/authorizationServers"), APIVersion: "2022-08-01", Key: []byte("key"), KeepOthers: true}
	desired, observed := object(t, `{"properties":{"clientId":"c"}}`), object(t, `{"properties":{"clientId":"c","clientSecret":"****"}}`)
	evident := func(opts drift.Options) bool {
		open := drift.OpenSecrets(jsontree.Clone(desired), desired, observed, opts)
		return len(open) == 1 && open[0].Evident
	}
	if !evident(opts) {
		t.Error("without a baseline the placeholder is no evidence")
	}
	after := opts
	after.Put, after.Sent = true, true
	opts.Baseline = drift.NewBaseline(desired, observed, after)
	if evident(opts) {
		t.Error("a placeholder of the service counts as a secret of another tool")
	}
	after.Kept = after.Kept.With(drift.OpenSecrets(jsontree.Clone(desired), desired, observed, after)[0].Path)
	opts.Baseline = drift.NewBaseline(desired, observed, after)
	if !evident(opts) {
		t.Error("a secret that the last PUT kept counts as the service's own")
	}
}

func TestCompleteSecret(t *testing.T) {
	cases := map[string]struct {
		reason, answer string
		want           string
	}{
		"by name":    {"the names agree", `{"value":[{"name":"b","value":"2"},{"name":"A","value":"1"}]}`, "1"},
		"absent":     {"the answer has no such item", `{"value":[{"name":"b","value":"2"}]}`, ""},
		"ambiguous":  {"two items agree and differ", `{"value":[{"name":"a","value":"1"},{"name":"a","value":"2"}]}`, ""},
		"hidden":     {"the action shows no value either", `{"value":[{"name":"a","value":"***"}]}`, ""},
		"no value":   {"the item has none", `{"value":[{"name":"a"}]}`, ""},
		"other form": {"the answer is not as published", `{"value":{"name":"a","value":"1"}}`, ""},
		"nothing":    {"the action failed", `null`, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			body := object(t, `{"properties":{"configuration":{"secrets":[{"name":"a"}]}}}`)
			open := drift.OpenSecrets(body, nil, jsontree.Clone(body), drift.Options{Type: "Microsoft.App/containerApps", Facts: factsOf("Microsoft.App/containerApps"), APIVersion: "2024-03-01"})
			if len(open) != 1 {
				t.Fatalf("open %v, want one", open)
			}
			done := open[0].Complete(object(t, tc.answer), []string{"value", "[]", "value"})
			if open[0].Value() != tc.want || done != (tc.want != "") {
				t.Errorf("%s: %q, want %q", tc.reason, open[0].Value(), tc.want)
			}
		})
	}
}
