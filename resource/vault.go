package resource

import (
	"errors"
	"net/url"
	"regexp"
	"strings"
)

// VaultScheme is the prefix of a $secret in a key vault.
const VaultScheme = "keyvault:"

// VaultSecret addresses a secret of a key vault.
type VaultSecret struct {
	// Host of the vault, in lower case, without a port.
	Host string
	Name string
	// Version is 32 hexadecimal digits, "" for the newest.
	Version string
}

var (
	vaultHost    = regexp.MustCompile(`^[a-z0-9](-?[a-z0-9])*(\.[a-z0-9](-?[a-z0-9])*)+$`)
	secretName   = regexp.MustCompile(`^[0-9A-Za-z-]{1,127}$`)
	versionDigit = regexp.MustCompile(`^[0-9A-Fa-f]{32}$`)
)

var (
	errExportTarget = errors.New("write it like keyvault:https://VAULT.vault.azure.net/secrets/NAME, without a version")
	errVaultPattern = errors.New("write it like https://VAULT.vault.azure.net/secrets/PREFIX* for all names that begin with a prefix, or https://VAULT.vault.azure.net/secrets/NAME for one")
)

var errVaultSecret = errors.New("write it like keyvault:https://VAULT.vault.azure.net/secrets/NAME, followed by /VERSION to pin a version")

// ParseVaultSecret parses https://VAULT.SUFFIX/secrets/NAME[/VERSION], Key Vault's
// form of a secret identifier. The worker checks whether the suffix belongs to its
// cloud. The error never repeats the text, which may be a secret.
func ParseVaultSecret(text string) (VaultSecret, error) {
	at, err := url.Parse(text)
	if err != nil || at.Scheme != "https" || at.User != nil || at.RawQuery != "" || at.Fragment != "" || strings.ContainsAny(text, "?#%") {
		return VaultSecret{}, errVaultSecret
	}
	secret := VaultSecret{Host: strings.ToLower(at.Host)}
	segments := strings.Split(at.Path, "/")
	if !vaultHost.MatchString(secret.Host) || len(segments) < 3 || len(segments) > 4 || segments[0] != "" || segments[1] != "secrets" {
		return VaultSecret{}, errVaultSecret
	}
	if secret.Name = segments[2]; !secretName.MatchString(secret.Name) {
		return VaultSecret{}, errVaultSecret
	}
	if len(segments) == 4 {
		if secret.Version = segments[3]; !versionDigit.MatchString(secret.Version) {
			return VaultSecret{}, errVaultSecret
		}
	}
	return secret, nil
}

// Within reports whether the vault belongs to a cloud: one label in front of the
// suffix (vault.azure.net). "" allows none.
func (s VaultSecret) Within(suffix string) bool {
	name, found := strings.CutSuffix(s.Host, "."+strings.ToLower(suffix))
	return suffix != "" && found && !strings.Contains(name, ".")
}

// String returns the identifier.
func (s VaultSecret) String() string {
	return strings.TrimSuffix("https://"+s.Host+"/secrets/"+s.Name+"/"+s.Version, "/")
}
