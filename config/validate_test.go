package config_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/armature-io/armature/config"
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
			reason: "no credential and plain HTTP are fine on this machine",
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
			reason: "Azure answers nobody without a token",
			change: func(c *config.Config) { c.Azure.Cloud, c.Azure.Endpoint = config.CloudPublic, "" },
			want:   "azure.credential: none",
		},
		"a stray endpoint": {
			reason: "a token of the public cloud must not go to another host",
			change: func(c *config.Config) {
				c.Azure.Cloud, c.Azure.Credential = config.CloudPublic, config.CredentialDefault
			},
			want: "azure.endpoint: is for azure.cloud custom only",
		},
		"an endpoint with a user": {
			reason: "a password in a URL would be logged",
			change: func(c *config.Config) { c.Azure.Endpoint = "http://me:hunter2@127.0.0.1:8080" },
			want:   "azure.endpoint: want scheme, host and port only",
		},
		"an endpoint with a query": {
			reason: "paths are appended to it",
			change: func(c *config.Config) { c.Azure.Endpoint = "http://127.0.0.1:8080?sig=hunter2" },
			want:   "azure.endpoint: want scheme, host and port only",
		},
		"a plain authority": {
			reason: "client secrets go by HTTPS only",
			change: func(c *config.Config) { c.Azure.AuthorityHost = "http://127.0.0.1:8080" },
			want:   "azure.authority-host: want https://",
		},
		"a credential to come": {
			reason: "what is not built yet says so",
			change: func(c *config.Config) { c.Azure.Credential = "managed-identity" },
			want:   "azure.credential: managed-identity is not built yet",
		},
		"a literal secret": {
			reason: "a config file is not for secrets",
			change: func(c *config.Config) { c.Azure.ClientSecret = "hunter2" },
			want:   "azure.client-secret: want env:NAME or file:PATH",
		},
		"a client secret without its place": {
			reason: "all three parts are needed",
			change: func(c *config.Config) { c.Azure.Credential = config.CredentialClientSecret },
			want:   "azure.client-secret: want env:NAME",
		},
		"the worker's secret in the folder of manifests": {
			reason: "a manifest could put it under a property that anybody reads",
			change: func(c *config.Config) {
				c.Azure.ClientSecret, c.Secrets.Dir = "file:/run/secrets/azure", "/run/secrets"
			},
			want: "azure.client-secret: file:/run/secrets/azure lies where manifests may read",
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
			want:   "mask-key: env:ARMATURE_SECRET_MASK lies where manifests may read",
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
				t.Errorf("no fault with %q in %v: %s", tc.want, err, tc.reason)
			}
			if err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the fault shows the secret: %v", err)
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
	if got, err := c.Azure.Secret().Read(); err != nil || got != "hunter2" {
		t.Errorf("read %q, %v", got, err)
	}
}

func TestReferenceRead(t *testing.T) {
	cases := map[string]struct {
		reason    string
		reference config.Reference
		want      string
		fault     string
	}{
		"none":             {reason: "an unset key is no fault", reference: "", want: ""},
		"variable":         {reason: "env: names a variable", reference: "env:OWN", want: "hunter2"},
		"unset variable":   {reason: "an empty secret is never meant", reference: "env:MISSING", fault: "env:MISSING"},
		"file":             {reason: "editors end files with a line break", reference: config.Reference("file:" + write(t, "s", "hunter2\n")), want: "hunter2"},
		"empty file":       {reason: "an empty secret is never meant", reference: config.Reference("file:" + write(t, "e", "\n")), fault: "is empty"},
		"huge file":        {reason: "a wrong path must not fill the memory", reference: config.Reference("file:" + write(t, "h", strings.Repeat("x", 65<<10))), fault: "more than"},
		"missing file":     {reason: "the path is told", reference: "file:/does/not/exist", fault: "/does/not/exist"},
		"a literal secret": {reason: "it is not shown", reference: "hunter2", fault: "env:NAME or file:PATH"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Setenv("OWN", "hunter2")
			got, err := tc.reference.Read()
			if got != tc.want {
				t.Errorf("read %q, want %q: %s", got, tc.want, tc.reason)
			}
			if (err == nil) != (tc.fault == "") || err != nil && !strings.Contains(err.Error(), tc.fault) {
				t.Errorf("fault %v, want %q: %s", err, tc.fault, tc.reason)
			}
			encoded, encodeErr := json.Marshal(tc.reference)
			shown := fmt.Sprint(tc.reference, err, string(encoded), encodeErr) + fmt.Sprintf("%#v %q", tc.reference, tc.reference)
			if strings.Contains(shown, "hunter2") {
				t.Errorf("the secret is shown: %s", shown)
			}
		})
	}
}
