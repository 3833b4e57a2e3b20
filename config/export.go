package config

import (
	"maps"
	"regexp"
	"slices"
)

// Export is the allow-list of the exports of manifests.
type Export struct {
	// Vaults are the secrets that exports may write:
	// https://VAULT.vault.azure.net/secrets/PREFIX*. None allows no export.
	Vaults []string
}

// vaultPattern is the form of an entry.
var vaultPattern = regexp.MustCompile(`^https://[a-z0-9](-?[a-z0-9])*(\.[a-z0-9](-?[a-z0-9])*)+/secrets/([0-9A-Za-z-]{1,127}|[0-9A-Za-z-]{0,126}\*)$`)

// exportKey is the section of the allow-list, of the worker and of a named credential.
const exportKey = "export."

// ExportOf returns the allow-list for the resources of a credential, CredentialDefault for
// the worker's own. A named credential never uses that of the worker.
func (c Config) ExportOf(credential string) Export {
	if named, isNamed := c.Credentials[credential]; isNamed {
		return named.Export
	}
	return c.Export
}

// exports checks each allow-list of exports.
func (c Config) exports(p *problems) {
	lists := map[string]Export{exportKey: c.Export}
	for name, credential := range c.Credentials {
		lists[credentialsKey+"."+name+"."+exportKey] = credential.Export
	}
	for _, prefix := range slices.Sorted(maps.Keys(lists)) {
		for _, vault := range lists[prefix].Vaults {
			p.require(vaultPattern.MatchString(vault), prefix+"vaults",
				"must be https://VAULT.vault.azure.net/secrets/PREFIX* for all names that begin with a prefix, or https://VAULT.vault.azure.net/secrets/NAME for one, not %q", vault)
		}
	}
}
