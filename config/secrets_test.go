package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/armature-io/armature/config"
	"github.com/google/go-cmp/cmp"
)

const otherTenant = "00000000-0000-0000-0000-000000000002"

// TestSecretsOfCredentials checks whose variables and files a resource may name.
//
//guard:secrets-belong-to-a-credential
func TestSecretsOfCredentials(t *testing.T) {
	const tied, own = "subscriptions: [" + tenant + "]", "secrets: {env-prefix: TEAM_A_, dir: /run/team-a}"
	named := func(lines ...string) string {
		return "credentials:\n  a:\n    kind: managed-identity\n    " + strings.Join(lines, "\n    ") + "\n  b:\n    kind: azure-cli\n"
	}
	all := config.Secrets{EnvPrefix: "ARMATURE_SECRET_"}
	teamA := config.Secrets{EnvPrefix: "TEAM_A_", Dir: "/run/team-a"}
	cases := map[string]struct {
		reason, file   string
		variable       string
		a, b, standard config.Secrets
	}{
		"named only":      {reason: "nothing separates the resources, as before", file: named(), a: all, b: all, standard: all},
		"tied":            {reason: "secrets belong to nobody until they are stated", file: named(tied)},
		"own":             {reason: "so do they once one credential has its own", file: named(own), a: teamA},
		"tied with own":   {reason: "team a has its own, the rest has none", file: named(tied, own), a: teamA},
		"stated for rest": {reason: "what is stated stays with the worker's own credential alone", file: named(tied, own) + "secrets: {env-prefix: SHARED_}\n", a: teamA, standard: config.Secrets{EnvPrefix: "SHARED_"}},
		"stated again":    {reason: "a variable with the value of the default states it", file: named(tied), variable: "ARMATURE_SECRET_", standard: all},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			clean(t)
			t.Setenv("ARMATURE_SECRET_DB", "x") // no misspelled key
			if c.variable != "" {
				t.Setenv("ARMATURE_SECRETS_ENV_PREFIX", c.variable)
			}
			loaded, err := config.Load([]string{"--config=" + write(t, "worker.yaml", c.file)})
			if err != nil {
				t.Fatal(err)
			}
			want := []config.Secrets{c.a, c.b, c.standard}
			got := []config.Secrets{loaded.SecretsOf("a"), loaded.SecretsOf("b"), loaded.SecretsOf(config.CredentialDefault)}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

// TestSecretsDoNotOverlap checks that no allow-list contains that of another credential.
//
//guard:secrets-belong-to-a-credential
func TestSecretsDoNotOverlap(t *testing.T) {
	team := func(name, prefix, dir string) config.Credential {
		return config.Credential{Kind: config.CredentialNone, Subscriptions: []string{name}, Secrets: config.Secrets{EnvPrefix: prefix, Dir: dir}}
	}
	base := t.TempDir()
	for _, folder := range []string{"a", "a/b", "c"} {
		if err := os.MkdirAll(filepath.Join(base, folder), 0o750); err != nil {
			t.Fatal(err)
		}
	}
	cases := map[string]struct {
		reason string
		a, b   config.Credential
		shared string
		want   string
	}{
		"side by side":     {reason: "each has its own", a: team(tenant, "TEAM_A_", base+"/a"), b: team(otherTenant, "TEAM_B_", base+"/c")},
		"the same":         {reason: "an operator may share them", a: team(tenant, "TEAM_", base+"/a"), b: team(otherTenant, "TEAM_", base+"/a")},
		"prefix of prefix": {reason: "a would read the variables of b", a: team(tenant, "TEAM_", ""), b: team(otherTenant, "TEAM_B_", ""), want: `credentials.a.secrets.env-prefix: "TEAM_" also allows the variables of credentials.b.secrets.env-prefix`},
		"folder in folder": {reason: "a would read the files of b", a: team(tenant, "", base+"/a"), b: team(otherTenant, "", base+"/a/b"), want: "credentials.a.secrets.dir: " + base + "/a contains"},
		"the worker's":     {reason: "the default credential would read those of b", a: team(tenant, "", ""), b: team(otherTenant, "TEAM_B_", ""), shared: "TEAM_", want: "secrets.env-prefix"},
		"own variables":    {reason: "each list is checked", a: team(tenant, "AZURE_", ""), b: team(otherTenant, "", ""), want: "credentials.a.secrets.env-prefix: \"AZURE_\" would let manifests read"},
		"the process":      {reason: "environ has all variables", a: team(tenant, "", "/proc/self"), b: team(otherTenant, "", ""), want: "credentials.a.secrets.dir: /proc/self is part of /proc"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			clean(t)
			settings := custom()
			settings.Secrets = config.Secrets{EnvPrefix: c.shared}
			settings.Credentials = map[string]config.Credential{"a": c.a, "b": c.b}
			refused(t, settings.Validate(), c.want, c.reason)
		})
	}
}

// TestOwnSecretsOutOfReach checks that the worker does not start where a manifest could
// read one of its own secrets, whatever variable names it.
//
//guard:own-secrets-of-the-worker
func TestOwnSecretsOutOfReach(t *testing.T) {
	cases := map[string]struct {
		reason   string
		variable string
		want     bool
	}{
		"federated token":     {"the webhook of Kubernetes sets it", "AZURE_FEDERATED_TOKEN_FILE", true},
		"certificate":         {"azidentity reads it", "AZURE_CLIENT_CERTIFICATE_PATH", true},
		"key of a collector":  {"it opens the traces of all", "OTEL_EXPORTER_OTLP_CLIENT_KEY", true},
		"key of Temporal":     {"it opens the namespace", "TEMPORAL_TLS_CLIENT_KEY_PATH", true},
		"profile of Temporal": {"it contains the API key", "TEMPORAL_CONFIG_FILE", true},
		"another file":        {"of no tool that the worker uses", "DB_PASSWORD_FILE", false},
		"public certificate":  {"that of an authority is no secret", "TEMPORAL_TLS_SERVER_CA_CERT_PATH", false},
	}
	for name, c := range cases {
		for place, isNamed := range map[string]bool{"": false, "credentials.a.": true} {
			t.Run(name+" "+place, func(t *testing.T) {
				clean(t)
				dir := t.TempDir()
				t.Setenv(c.variable, filepath.Join(dir, "own"))
				settings := custom()
				if isNamed {
					settings.Credentials = map[string]config.Credential{"a": {Kind: config.CredentialNone, Secrets: config.Secrets{Dir: dir}}}
				} else {
					settings.Secrets.Dir = dir
				}
				want := ""
				if c.want {
					want = c.variable + ": " + filepath.Join(dir, "own") + " is readable by manifests ($secret); move it out of " + place + "secrets.dir"
				}
				refused(t, settings.Validate(), want, c.reason)
				settings.Secrets.Dir = ""
				settings.Credentials = nil
				refused(t, settings.Validate(), "", "nothing can read it")
			})
		}
	}
}

// TestFolderOfOwnSecrets checks that the folder of manifests is not part of one of the
// worker's own.
//
//guard:own-secrets-of-the-worker
func TestFolderOfOwnSecrets(t *testing.T) {
	clean(t)
	home := t.TempDir()
	t.Setenv("HOME", home)
	folder := filepath.Join(home, ".azure", "secrets")
	if err := os.MkdirAll(folder, 0o750); err != nil {
		t.Fatal(err)
	}
	settings := custom()
	settings.Secrets.Dir = folder
	refused(t, settings.Validate(), "secrets.dir: "+folder+" is part of "+filepath.Dir(folder), "the Azure CLI keeps its tokens there")
	if own := settings.OwnFiles(); len(own) == 0 || own[len(own)-1] != filepath.Dir(folder) {
		t.Errorf("the worker's own files are %q, without the folder of the Azure CLI", own)
	}
	refused(t, settings.CheckExposed(map[string]string{"key of a profile": filepath.Join(folder, "key")}), "key of a profile: ", "a path of another configuration")
}

// TestMaskKeyIsRequired checks which workers run without a mask-key.
//
//guard:masks-without-a-key-show-nothing
func TestMaskKeyIsRequired(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*config.Config)
		want   string
	}{
		"simulator":         {reason: "the secrets of this machine", change: func(*config.Config) {}},
		"a cloud":           {reason: "a short secret is found in its history", change: func(c *config.Config) { *c = config.Default() }, want: "mask-key: required outside of this machine"},
		"another machine":   {reason: "a custom cloud is one", change: func(c *config.Config) { c.Azure.Endpoint = "https://arm.example" }, want: "or to none to run without it"},
		"named credential":  {reason: "one connection is enough", change: named("a", config.Credential{Kind: config.CredentialAzureCLI, CloudSettings: config.CloudSettings{Cloud: config.CloudChina}}), want: "mask-key"},
		"a key":             {reason: "masks have hashes that nobody can guess", change: func(c *config.Config) { *c = config.Default(); c.MaskKey = "env:KEY" }},
		"stated as missing": {reason: "the operator decides", change: func(c *config.Config) { *c = config.Default(); c.MaskKey = config.MaskKeyNone }},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			clean(t)
			settings := custom()
			c.change(&settings)
			refused(t, settings.CheckMaskKey(), c.want, c.reason)
		})
	}
	none := config.Default()
	none.MaskKey = config.MaskKeyNone
	if key, err := none.ReadMaskKey(); key != "" || err != nil || none.Validate() != nil {
		t.Errorf("mask-key none: read %q, %v, valid: %v", key, err, none.Validate())
	}
}

// refused checks an error for a text, "" for no error.
func refused(t *testing.T, err error, want, reason string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("refused: %v: %s", err, reason)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
		t.Errorf("got %v, want %q: %s", err, want, reason)
	}
}
