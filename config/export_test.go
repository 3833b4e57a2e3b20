package config

import (
	"strings"
	"testing"
)

// TestExportVaults checks the form of the allow-list, and that a named credential never uses
// that of the worker.
func TestExportVaults(t *testing.T) {
	cases := map[string]struct {
		reason, vault string
		valid         bool
	}{
		"prefix":         {reason: "the usual form", vault: "https://kv.vault.azure.net/secrets/app-*", valid: true},
		"all names":      {reason: "a vault of its own", vault: "https://kv.vault.azure.net/secrets/*", valid: true},
		"one name":       {reason: "without a star", vault: "https://kv.vault.azure.net/secrets/app", valid: true},
		"no name":        {reason: "it would allow nothing", vault: "https://kv.vault.azure.net/secrets/"},
		"vault alone":    {reason: "names are part of the decision", vault: "https://kv.vault.azure.net"},
		"a star between": {reason: "only a prefix is matched", vault: "https://kv.vault.azure.net/secrets/*-app"},
		"plain HTTP":     {reason: "vaults have none", vault: "http://kv.vault.azure.net/secrets/app-*"},
		"every vault":    {reason: "a vault is named", vault: "https://*.vault.azure.net/secrets/app-*"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			settings := Default()
			settings.Export.Vaults = []string{tc.vault}
			err := settings.Validate()
			if found := err != nil && strings.Contains(err.Error(), "export.vaults"); found == tc.valid {
				t.Errorf("%s: %v", tc.reason, err)
			}
		})
	}
	settings := Config{Export: Export{Vaults: []string{"a"}}, Credentials: map[string]Credential{"prod": {}, "dev": {Export: Export{Vaults: []string{"b"}}}}}
	if len(settings.ExportOf("prod").Vaults) != 0 || settings.ExportOf("dev").Vaults[0] != "b" || settings.ExportOf(CredentialDefault).Vaults[0] != "a" {
		t.Error("a named credential uses the list of another one")
	}
}
