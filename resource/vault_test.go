package resource

import (
	"strings"
	"testing"
)

func TestParseVaultSecret(t *testing.T) {
	const version = "0123456789abcdef0123456789abcdef"
	cases := map[string]struct {
		reason, text string
		want         VaultSecret
	}{
		"Newest":    {reason: "without a version the newest one is read", text: "https://v.vault.azure.net/secrets/n", want: VaultSecret{Host: "v.vault.azure.net", Name: "n"}},
		"Version":   {reason: "an identifier in Key Vault's form", text: "https://v.vault.azure.net/secrets/n-1/" + version, want: VaultSecret{Host: "v.vault.azure.net", Name: "n-1", Version: version}},
		"Case":      {reason: "hosts ignore case", text: "https://V.Vault.Azure.Net/secrets/N", want: VaultSecret{Host: "v.vault.azure.net", Name: "N"}},
		"HTTP":      {reason: "a token must not be sent in clear text", text: "http://v.vault.azure.net/secrets/n"},
		"Port":      {reason: "vaults have no port", text: "https://v.vault.azure.net:8443/secrets/n"},
		"User":      {reason: "the host follows the @", text: "https://v.vault.azure.net@evil.example/secrets/n"},
		"Query":     {reason: "nothing but the identifier", text: "https://v.vault.azure.net/secrets/n?api-version=7.4"},
		"EmptyHash": {reason: "nothing but the identifier", text: "https://v.vault.azure.net/secrets/n#"},
		"Key":       {reason: "a key is not a secret", text: "https://v.vault.azure.net/keys/n"},
		"Dots":      {reason: "a cleaned path is a different path", text: "https://v.vault.azure.net/secrets/../keys"},
		"Escaped":   {reason: "so is an escaped path", text: "https://v.vault.azure.net/secrets/a%2fb"},
		"Trailing":  {reason: "an empty version is a mistake", text: "https://v.vault.azure.net/secrets/n/"},
		"NoVersion": {reason: "versions are 32 digits", text: "https://v.vault.azure.net/secrets/n/latest"},
		"OneLabel":  {reason: "a host with one label is not in a cloud", text: "https://vault/secrets/n"},
		"Literal":   {reason: "the text is the secret itself", text: "hunter22"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := ParseVaultSecret(tc.text)
			if got != tc.want || (err == nil) != (tc.want.Host != "") {
				t.Errorf("%s: got %+v, %v", tc.reason, got, err)
			}
			if err != nil && strings.Contains(err.Error(), "hunter22") {
				t.Errorf("the error shows the text: %v", err)
			}
			if err == nil && tc.text != got.String() && name != "Case" {
				t.Errorf("the identifier became %s", got)
			}
		})
	}
}

func TestVaultSecretWithin(t *testing.T) {
	cases := map[string]struct {
		reason, host, suffix string
		want                 bool
	}{
		"Vault":  {reason: "one label in front of the suffix", host: "v.vault.azure.net", suffix: "vault.azure.net", want: true},
		"Deeper": {reason: "vaults have one label", host: "a.v.vault.azure.net", suffix: "vault.azure.net"},
		"Other":  {reason: "a host that only ends with the suffix is foreign", host: "v.evilvault.azure.net", suffix: "vault.azure.net"},
		"Bare":   {reason: "the suffix alone is not a vault", host: "vault.azure.net", suffix: "vault.azure.net"},
		"None":   {reason: "no suffix allows nothing", host: "v.vault.azure.net"},
	}
	for name, tc := range cases {
		if got := (VaultSecret{Host: tc.host}).Within(tc.suffix); got != tc.want {
			t.Errorf("%s: got %v: %s", name, got, tc.reason)
		}
	}
}
