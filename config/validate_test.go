package config_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/armature-io/armature/config"
	"github.com/google/go-cmp/cmp"
)

// custom is a valid cloud of this machine.
func custom() config.Config {
	c := config.Default()
	c.Azure.Cloud = config.CloudCustom
	c.Azure.Endpoint = "http://127.0.0.1:8080"
	c.Azure.Credential = config.CredentialNone
	return c
}

func TestValidate(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(c *config.Config)
		want   string
	}{
		"simulator": {
			reason: "no credential and plain HTTP are allowed on this machine",
			change: func(*config.Config) {},
		},
		"IPv6 loopback": {
			reason: "::1 is this machine too",
			change: func(c *config.Config) { c.Azure.Endpoint = "http://[::1]:8080" },
		},
		"none elsewhere": {
			reason: "no credential must never go to another machine",
			change: func(c *config.Config) { c.Azure.Endpoint = "https://arm.example" },
			want:   "azure.credential: none is allowed for a custom cloud on this machine",
		},
		"a host that only looks like loopback": {
			reason: "127.0.0.1.example resolves anywhere",
			change: func(c *config.Config) { c.Azure.Endpoint = "http://127.0.0.1.example:80" },
			want:   "azure.endpoint: plain HTTP is allowed to this machine",
		},
		"none for the public cloud": {
			reason: "Azure rejects requests without a token",
			change: func(c *config.Config) { c.Azure.Cloud, c.Azure.Endpoint = config.CloudPublic, "" },
			want:   "azure.credential: none",
		},
		"a stray endpoint": {
			reason: "a token of the public cloud must not go to another host",
			change: func(c *config.Config) {
				c.Azure.Cloud, c.Azure.Credential = config.CloudPublic, config.CredentialDefault
			},
			want: "azure.endpoint: allowed for azure.cloud custom only",
		},
		"a deployment with a dot": {
			reason: "Temporal refuses the name when the worker polls, over and over",
			change: func(c *config.Config) { c.Worker.Deployment = "team.armature" },
			want:   "worker.deployment: must not contain . or :",
		},
		"a reserved build ID": {
			reason: "Temporal keeps such names for itself",
			change: func(c *config.Config) { c.Worker.Deployment, c.Worker.BuildID = "armature", "__unversioned__" },
			want:   "worker.build-id: must not begin with __",
		},
		"a first version that is none": {
			reason: "a misspelt word would silently wait",
			change: func(c *config.Config) { c.Worker.FirstVersion = "now" },
			want:   "worker.first-version: must be one of auto, current, wait",
		},
		"vaults of a known cloud": {
			reason: "a token for secrets must not go to another host",
			change: func(c *config.Config) {
				c.Azure.CloudSettings, c.Azure.Credential = config.CloudSettings{Cloud: config.CloudPublic, VaultSuffix: "vault.example"}, config.CredentialDefault
			},
			want: "azure.vault-suffix: allowed for azure.cloud custom only",
		},
		"vaults of a whole domain": {
			reason: "every host would be a vault",
			change: func(c *config.Config) { c.Azure.VaultSuffix = "com" },
			want:   "azure.vault-suffix: must be the suffix of the hosts of key vaults",
		},
		"vaults at an address": {
			reason: "it is the end of a host, not a URL",
			change: func(c *config.Config) { c.Azure.VaultSuffix = "https://vault.example" },
			want:   "azure.vault-suffix: must be the suffix of the hosts of key vaults",
		},
		"vaults of a custom cloud": {
			reason: "such a cloud has its own vault suffix",
			change: func(c *config.Config) { c.Azure.VaultSuffix = "vault.example" },
		},
		"an endpoint with a user": {
			reason: "a password in a URL would be logged",
			change: func(c *config.Config) { c.Azure.Endpoint = "http://me:hunter2@127.0.0.1:8080" },
			want:   "azure.endpoint: must have scheme, host and port only",
		},
		"an endpoint with a query": {
			reason: "paths are appended to it",
			change: func(c *config.Config) { c.Azure.Endpoint = "http://127.0.0.1:8080?sig=hunter2" },
			want:   "azure.endpoint: must have scheme, host and port only",
		},
		"a plain authority": {
			reason: "client secrets go by HTTPS only",
			change: func(c *config.Config) { c.Azure.AuthorityHost = "http://127.0.0.1:8080" },
			want:   "azure.authority-host: must begin with https://",
		},
		"an unknown credential": {
			reason: "the error lists the kinds",
			change: func(c *config.Config) { c.Azure.Credential = "magic" },
			want:   "azure.credential: must be one of default, workload-identity, managed-identity, client-secret, client-certificate, azure-cli, none",
		},
		"a certificate without its file": {
			reason: "nothing could be signed",
			change: func(c *config.Config) { c.Azure.Credential = config.CredentialClientCertificate },
			want:   "azure.certificate: must be the path of a PEM or PKCS#12 file",
		},
		"a certificate where manifests read": {
			reason: "a manifest could publish the key",
			change: func(c *config.Config) { c.Azure.Certificate, c.Secrets.Dir = "/run/secrets/app.pem", "/run/secrets" },
			want:   "azure.certificate: /run/secrets/app.pem is readable by manifests",
		},
		"four auxiliary tenants": {
			reason: "ARM takes three",
			change: func(c *config.Config) { c.Azure.AuxiliaryTenants = []string{tenant, tenant, tenant, tenant} },
			want:   "azure.auxiliary-tenants: must be at most 3, not 4",
		},
		"an auxiliary tenant by name": {
			reason: "azidentity would ask for it as for a domain",
			change: func(c *config.Config) { c.Azure.AuxiliaryTenants = []string{"contoso"} },
			want:   "azure.auxiliary-tenants: must be GUIDs",
		},
		"a named credential called default": {
			reason: "the name is reserved for the worker's own credential",
			change: named("default", config.Credential{Kind: config.CredentialNone}),
			want:   "credentials.default.: default is the name of azure.credential",
		},
		"a named credential without kind": {
			reason: "without an identity",
			change: named("prod", config.Credential{}),
			want:   "credentials.prod.kind: must be one of",
		},
		"a named credential without token beyond this machine": {
			reason: "the rules for the worker's own credential apply to each",
			change: named("prod", config.Credential{Kind: config.CredentialNone, CloudSettings: config.CloudSettings{Cloud: config.CloudCustom, Endpoint: "https://arm.example"}}),
			want:   "credentials.prod.kind: none is allowed for a custom cloud on this machine",
		},
		"an address without its cloud": {
			reason: "the addresses are incomplete",
			change: named("prod", config.Credential{Kind: config.CredentialNone, CloudSettings: config.CloudSettings{Endpoint: "http://127.0.0.1:1"}}),
			want:   "credentials.prod.cloud: required with the other addresses",
		},
		"a subscription that is no GUID": {
			reason: "it would have no subscription",
			change: named("prod", config.Credential{Kind: config.CredentialNone, Subscriptions: []string{"prod"}}),
			want:   "credentials.prod.subscriptions: must be GUIDs",
		},
		"a subscription that is tied twice": {
			reason: "it is ambiguous which credential applies",
			change: func(c *config.Config) {
				one := config.Credential{Kind: config.CredentialNone, Subscriptions: []string{tenant}}
				c.Credentials = map[string]config.Credential{"a": one, "b": one}
			},
			want: "credentials.b.subscriptions: " + tenant + " already belongs to credential a",
		},
		"a secret in place of its reference": {
			reason: "the value is not repeated",
			change: named("prod", config.Credential{Kind: config.CredentialClientSecret, Identity: config.Identity{ClientSecret: "hunter2"}}),
			want:   "credentials.prod.client-secret: must be env:NAME or file:PATH",
		},
		"a literal secret": {
			reason: "a config file is not for secrets",
			change: func(c *config.Config) { c.Azure.ClientSecret = "hunter2" },
			want:   "azure.client-secret: must be env:NAME or file:PATH",
		},
		"a client secret without its place": {
			reason: "all three parts are needed",
			change: func(c *config.Config) { c.Azure.Credential = config.CredentialClientSecret },
			want:   "azure.client-secret: must be env:NAME",
		},
		"the worker's secret in the folder of manifests": {
			reason: "a manifest could publish it in a readable property",
			change: func(c *config.Config) {
				c.Azure.ClientSecret, c.Secrets.Dir = "file:/run/secrets/azure", "/run/secrets"
			},
			want: "azure.client-secret: /run/secrets/azure is readable by manifests",
		},
		"the worker's secret beside the folder of manifests": {
			reason: "only the folder itself is open to manifests",
			change: func(c *config.Config) {
				c.MaskKey, c.Secrets.Dir = "file:/run/secrets-of-worker/azure", "/run/secrets"
			},
		},
		"the worker's secret among the variables of manifests": {
			reason: "the same by a variable",
			change: func(c *config.Config) { c.MaskKey = "env:ARMATURE_SECRET_MASK" },
			want:   "mask-key: env:ARMATURE_SECRET_MASK is readable by manifests",
		},
		"a prefix that covers AZURE_": {
			reason: "a manifest could read AZURE_CLIENT_SECRET",
			change: func(c *config.Config) { c.Secrets.EnvPrefix = "AZURE_" },
			want:   "secrets.env-prefix",
		},
		"a prefix without underscore": {
			reason: "A would cover AZURE_CLIENT_SECRET",
			change: func(c *config.Config) { c.Secrets.EnvPrefix = "A" },
			want:   "secrets.env-prefix",
		},
		"a prefix that covers the worker's variables": {
			reason: "ARMATURE_ covers all keys",
			change: func(c *config.Config) { c.Secrets.EnvPrefix = "ARMATURE_" },
			want:   "secrets.env-prefix",
		},
		"the root as folder": {
			reason: "it holds /proc/self/environ",
			change: func(c *config.Config) { c.Secrets.Dir = "/" },
			want:   "secrets.dir",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			clean(t)
			c := custom()
			tc.change(&c)
			err := c.Validate()
			switch {
			case tc.want == "" && err != nil:
				t.Errorf("refused: %v: %s", err, tc.reason)
			case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
				t.Errorf("no error with %q in %v: %s", tc.want, err, tc.reason)
			}
			if err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error shows the secret: %v", err)
			}
		})
	}
}

func TestClientSecretFromAzureVariables(t *testing.T) {
	clean(t)
	t.Setenv("AZURE_TENANT_ID", tenant)
	t.Setenv("AZURE_CLIENT_ID", "app")
	t.Setenv("AZURE_CLIENT_SECRET", "hunter2")
	c := config.Default()
	c.Azure.Credential = config.CredentialClientSecret
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	if got, err := c.Azure.EffectiveIdentity().ClientSecret.Read(); err != nil || got != "hunter2" {
		t.Errorf("read %q, %v", got, err)
	}
}

func TestReferenceRead(t *testing.T) {
	cases := map[string]struct {
		reason    string
		reference config.Reference
		want      string
		wantErr   string
	}{
		"none":             {reason: "an unset key is no error", reference: "", want: ""},
		"variable":         {reason: "env: names a variable", reference: "env:OWN", want: "hunter2"},
		"unset variable":   {reason: "an empty secret is a mistake", reference: "env:MISSING", wantErr: "env:MISSING"},
		"file":             {reason: "editors end files with a line break", reference: config.Reference("file:" + write(t, "s", "hunter2\n")), want: "hunter2"},
		"empty file":       {reason: "an empty secret is a mistake", reference: config.Reference("file:" + write(t, "e", "\n")), wantErr: "is empty"},
		"huge file":        {reason: "a wrong path must not fill the memory", reference: config.Reference("file:" + write(t, "h", strings.Repeat("x", 65<<10))), wantErr: "more than"},
		"missing file":     {reason: "the error names the path", reference: "file:/does/not/exist", wantErr: "/does/not/exist"},
		"a literal secret": {reason: "it is not shown", reference: "hunter2", wantErr: "env:NAME or file:PATH"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Setenv("OWN", "hunter2")
			got, err := tc.reference.Read()
			if got != tc.want {
				t.Errorf("read %q, want %q: %s", got, tc.want, tc.reason)
			}
			if (err == nil) != (tc.wantErr == "") || err != nil && !strings.Contains(err.Error(), tc.wantErr) {
				t.Errorf("error %v, want %q: %s", err, tc.wantErr, tc.reason)
			}
			encoded, encodeErr := json.Marshal(tc.reference)
			shown := fmt.Sprint(tc.reference, err, string(encoded), encodeErr) + fmt.Sprintf("%#v %q", tc.reference, tc.reference)
			if strings.Contains(shown, "hunter2") {
				t.Errorf("the secret is shown: %s", shown)
			}
		})
	}
}

// named adds one named credential.
func named(name string, credential config.Credential) func(*config.Config) {
	return func(c *config.Config) { c.Credentials = map[string]config.Credential{name: credential} }
}

func TestNamedCredentials(t *testing.T) {
	clean(t)
	const subscription = "00000000-0000-0000-0000-00000000000b"
	path := write(t, "worker.yaml", `
credentials:
  prod:
    kind: client-certificate
    tenant-id: `+tenant+`
    client-id: app
    certificate: /run/worker/app.pem
    certificate-password: env:APP_PASSWORD
    auxiliary-tenants: [`+tenant+`]
    subscriptions: [`+subscription+`]
  east:
    kind: managed-identity
    cloud: china
`)
	got, err := config.Load([]string{"--config=" + path, "--azure-auxiliary-tenants=" + tenant + "," + subscription})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]config.Credential{
		"prod": {
			Kind: config.CredentialClientCertificate, Subscriptions: []string{subscription},
			Identity: config.Identity{
				TenantID: tenant, ClientID: "app", Certificate: "/run/worker/app.pem",
				CertificatePassword: "env:APP_PASSWORD", AuxiliaryTenants: []string{tenant},
			},
		},
		"east": {Kind: config.CredentialManagedIdentity, CloudSettings: config.CloudSettings{Cloud: config.CloudChina}},
	}
	if diff := cmp.Diff(want, got.Credentials); diff != "" {
		t.Errorf("named credentials (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{tenant, subscription}, got.Azure.AuxiliaryTenants); diff != "" {
		t.Errorf("a text with commas is a list (-want +got):\n%s", diff)
	}
	wrong := write(t, "wrong.yaml", "credentials:\n  prod:\n    kind: none\n    client-secert: x\n")
	if _, err := config.Load([]string{"--config=" + wrong}); err == nil || !strings.Contains(err.Error(), "unknown key credentials.prod.client-secert (did you mean client-secret?)") {
		t.Errorf("a misspelled key gave %v", err)
	}
}
