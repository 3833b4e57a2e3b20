package service

import (
	"testing"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/config"
	"github.com/armature-io/armature/resource"
)

// TestExportOptions checks that each credential has the vaults of its own section, and none of
// another one.
func TestExportOptions(t *testing.T) {
	t.Parallel()
	settings := config.Default()
	settings.Azure.CloudSettings = config.CloudSettings{Cloud: config.CloudCustom, Endpoint: "http://127.0.0.1:1", AuthorityHost: "https://login.example", VaultSuffix: "vault.example"}
	settings.Azure.Credential = config.CredentialNone
	settings.Export.Vaults = []string{"https://kv.vault.example/secrets/app-*"}
	settings.Credentials = map[string]config.Credential{
		"prod": {Kind: config.CredentialNone, Export: config.Export{Vaults: []string{"https://kv.vault.example/secrets/prod-*"}}},
		"dev":  {Kind: config.CredentialNone},
	}
	azure, err := newAzure(settings, "v0", func(arm.Request) {}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	allowed, err := exportOptions(settings, azure.client)
	if err != nil {
		t.Fatal(err)
	}
	may := func(credential, name string) bool {
		for _, pattern := range allowed[credential] {
			if pattern.Allows(resource.VaultSecret{Host: "kv.vault.example", Name: name}) {
				return true
			}
		}
		return false
	}
	for name, tc := range map[string]struct {
		credential, secret string
		want               bool
	}{
		"own prefix of the worker":     {"default", "app-key", true},
		"letter case":                  {"default", "APP-key", true},
		"another prefix":               {"default", "prod-key", false},
		"own prefix of a credential":   {"prod", "prod-key", true},
		"the worker's of a credential": {"prod", "app-key", false},
		"nothing stated":               {"dev", "app-key", false},
	} {
		if may(tc.credential, tc.secret) != tc.want {
			t.Errorf("%s: %s may write %s: %t, want %t", name, tc.credential, tc.secret, !tc.want, tc.want)
		}
	}
}
