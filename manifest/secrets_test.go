package manifest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLiteralSecrets checks that a manifest with a secret as text is refused without the
// text, and that $plain and the facts of a type allow what only looks like one.
func TestLiteralSecrets(t *testing.T) {
	t.Parallel()
	const start = "type: Microsoft.Compute/virtualMachines/extensions@2024-07-01\nname: e\nowner: /subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/g/providers/Microsoft.Compute/virtualMachines/v\nbody: "
	const secret, byForm, inTags = "is a literal secret", "has the form of a credential; write {$secret: ", "has the form of a credential, and tags are public"
	cases := map[string]struct {
		reason, body string
		want         []string // the path and the beginning of each issue
	}{
		"protected":    {"all of it is secret, at any depth", "{properties: {protectedSettings: {commandToExecute: echo Canary, files: [Canary], deep: {storageAccountName: Canary, n: 5, on: true}}}}", []string{"body.properties.protectedSettings.commandToExecute: " + secret, "body.properties.protectedSettings.files[0]: " + secret, "body.properties.protectedSettings.deep.storageAccountName: " + secret, "body.properties.protectedSettings.deep.n: " + secret}},
		"in a vault":   {"a reference to a vault has no secret", "{properties: {protectedSettingsFromKeyVault: {secretUrl: 'https://v.vault.azure.net/secrets/s', sourceVault: {id: x}}}}", nil},
		"placeholders": {"references and stated texts", "{properties: {protectedSettings: {commandToExecute: {$secret: env:A}, fileUris: {$plain: [https://x.example/a.sh]}}}}", nil},
		"parameters":   {"the values of protected parameters", "{properties: {protectedParameters: [{name: a, value: Canary}], parameters: [{name: a, value: b}]}}", []string{"body.properties.protectedParameters[name=a].value: " + secret}},
		"forms":        {"JWTs, addresses of hooks, connection strings", "{properties: {settings: {a: eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIn0.Canary, b: 'https://hooks.chat.example/services/T1/B1/x8Kq2Lw9Zr4Tv6Yn1Bm3Hj5G', c: 'AccountName=a;AccountKey=Canary==', d: 'pwd=$PASS'}}}", []string{"body.properties.settings.a: " + byForm, "body.properties.settings.b: " + byForm, "body.properties.settings.c: " + byForm}},
		"plain form":   {"the author states that it is none", "{properties: {settings: {c: {$plain: 'see AccountKey=abcd for a sample'}}}}", nil},
		"tags":         {"everybody reads them", "{tags: {connection: 'AccountName=a;AccountKey=Canary==', apiKey: x, sample: {$plain: pwd=abcd}}}", []string{"body.tags.connection: " + inTags}},
		"public":       {"a fact of the type", "{properties: {validationToken: _abcdef0123456789}}", nil},
		"not public":   {"it is about one path", "{properties: {other: {validationToken: Canary}}}", []string{"body.properties.other.validationToken: " + secret}},
	}
	facts := func(string) Facts { return Facts{Public: []string{"properties.validationToken"}} }
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Load(Options{Stdin: strings.NewReader(start + c.body + "\n"), Facts: facts}, "-")
			var got []string
			if err != nil {
				got = strings.Split(err.Error(), "\n")
			}
			if len(got) != len(c.want) || err != nil && strings.Contains(err.Error(), "Canary") {
				t.Fatalf("%s: got %q, want %q", c.reason, got, c.want)
			}
			for i, want := range c.want {
				if !strings.Contains(got[i], want) {
					t.Errorf("%s: got %q, want %q", c.reason, got[i], want)
				}
			}
		})
	}
}

// TestPublicOutput checks that a value with the name of a secret is an output if the facts of
// the type say that it is public.
func TestPublicOutput(t *testing.T) {
	t.Parallel()
	const text = "type: Microsoft.Cdn/profiles/customDomains@2023-05-01\nname: d\nowner: /subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/g/providers/Microsoft.Cdn/profiles/p\nbody: {properties: {hostName: x.example}}\noutputs: {TXT: properties.validationProperties.validationToken}\n"
	facts := func(string) Facts {
		return Facts{Public: []string{"properties.validationProperties.validationToken"}}
	}
	set, err := Load(Options{Stdin: strings.NewReader(text), Facts: facts}, "-")
	if err != nil || set.Resources[0].Outputs["TXT"] == "" {
		t.Errorf("with the fact: %v", err)
	}
	if _, err := Load(Options{Stdin: strings.NewReader(text)}, "-"); err == nil {
		t.Error("without the fact it is a secret by its name")
	}
}

// TestPublishedSecrets checks the warning about texts that the type publishes as secrets.
func TestPublishedSecrets(t *testing.T) {
	const hook = "type: Microsoft.EventGrid/eventSubscriptions@2022-06-15\nname: e\nowner: /subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/g/providers/Microsoft.Storage/storageAccounts/s\nbody: {properties: {destination: {endpointType: WebHook, properties: {endpointUrl: "
	const certificate = "type: Microsoft.Automation/automationAccounts/certificates@2023-11-01\nname: c\nowner: /subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/g/providers/Microsoft.Automation/automationAccounts/a\nbody: {properties: {base64Value: "
	const server = "type: Microsoft.DBforMySQL/servers@2017-12-01\nname: s\nowner: /subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/g\nbody: {location: westus2, properties: {createMode: Default, administratorLogin: "
	for reason, c := range map[string]struct {
		text string
		want []string
	}{
		"an address that the type marks":             {hook + "https://x.example/a}}}}", []string{"m.yaml:4:84: warning: body.properties.destination.properties.endpointUrl: is published as a secret, and Temporal would store it; write {$secret: env:NAME} or {$secret: file:NAME}, or {$plain: VALUE} if it is none"}},
		"the same, stated as none":                   {hook + "{$plain: https://x.example/a}}}}}", nil},
		"the same in a vault":                        {hook + "{$secret: env:ARMATURE_SECRET_X}}}}}", nil},
		"a random text that Azure never shows":       {certificate + "MIIJqQIBAzCCCW8GCSqGkJ3xQ9vT7mB2cZ8wLr5NyH0sGfD4uAeXqP6iVoK1}}", []string{"m.yaml:4:34: warning: body.properties.base64Value: is published as a secret, and Temporal would store it; write {$secret: env:NAME} or {$secret: file:NAME}, or {$plain: VALUE} if it is none"}},
		"a name and a mode that Azure does not show": {server + "sqladmin, administratorLoginPassword: {$secret: env:ARMATURE_SECRET_X}}}", nil},
	} {
		if diff := cmp.Diff(c.want, validate(t, Options{}, "m.yaml", c.text+"\n")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", reason, diff)
		}
	}
}
