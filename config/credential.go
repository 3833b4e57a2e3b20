package config

import (
	"cmp"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
)

// credentialsKey is the section of the file with the named credentials.
const credentialsKey = "credentials"

// maxAuxiliaryTenants is ARM's limit.
const maxAuxiliaryTenants = 3

var domainPattern = regexp.MustCompile(`^[a-z0-9](-?[a-z0-9])*(\.[a-z0-9](-?[a-z0-9])*)+$`)

var credentialNamePattern = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`)

// credentialKeys returns the keys below credentials.NAME. They come from the file
// only; no environment variable replaces them.
func credentialKeys() []key {
	return []key{
		{"kind", "", "default, workload-identity, managed-identity, client-secret, client-certificate, azure-cli, or none (loopback only); required"},
		{"subscriptions", "", "list of the subscriptions that it is restricted to: it serves no other, and these where a manifest names no credential; without it, it serves every manifest that names it"},
		{"may-read", "", "list of further subscriptions from which resources in subscriptions may read, for $ref and owners; none without it"},
		{"tied", "", "strict: manifests of resources in subscriptions may name no other credential, not even default; empty allows it"},
		{"secrets.env-prefix", "", "prefix of the variables that $secret env: may read in manifests of its resources; empty allows none, see encryption.md"},
		{"secrets.dir", "", "folder that $secret file: may read there; empty allows none"},
		{"export.vaults", "", "list of the secrets that exports of its resources may write, each as https://VAULT.vault.azure.net/secrets/PREFIX*; empty allows none, see everyday.md"},
		{"feed-queue", "", "URL of the storage queue with the events of its subscriptions, for feed.source queue; empty is none"},
		{"tenant-id", "", "its tenant; required for client-secret and client-certificate"},
		{"client-id", "", "its application, required for client-secret and client-certificate; or client ID or resource ID of a user-assigned managed identity"},
		{"client-secret", "", "reference to its secret: env:NAME or file:PATH"},
		{"certificate", "", "PEM or PKCS#12 file of client-certificate"},
		{"certificate-password", "", "reference to its password: env:NAME or file:PATH"},
		{"send-certificate-chain", "false", "send the certificate with each token request (subject name and issuer authentication)"},
		{"token-file", "", "federated token of workload-identity"},
		{"auxiliary-tenants", "", "list of tenants whose tokens accompany each request; at most three, not for managed-identity and none"},
		{"cloud", "", "public, government, china or custom; without it the worker's own cloud applies, with all of its addresses"},
		{"endpoint", "", "ARM endpoint, as https://host[:port]; this and the following are for cloud: custom"},
		{"audience", "", "token audience; empty is the endpoint"},
		{"authority-host", "", "token authority, as https://host[:port]"},
		{"ca-file", "", "PEM file of certificate authorities to trust besides the system's; requires cloud"},
		{"disable-instance-discovery", "false", "do not check the authority with Microsoft; requires cloud, and always on for a custom one"},
		{"vault-suffix", "", "suffix of the hosts of its key vaults, for example vault.example; empty allows no $secret keyvault:"},
	}
}

// isCredentialKey reports whether a key is in the table.
func isCredentialKey(field string) bool {
	return slices.ContainsFunc(credentialKeys(), func(k key) bool { return k.name == field })
}

// isNamedCredentialKey reports whether a key of the file belongs to a named credential.
func isNamedCredentialKey(key string) bool {
	rest, ok := strings.CutPrefix(key, credentialsKey+".")
	name, field, found := strings.Cut(rest, ".")
	return ok && found && credentialNamePattern.MatchString(name) && isCredentialKey(field)
}

// suggestKey returns a hint for an unknown key of the file: below a named credential
// one of the keys that it takes, else all of them.
func suggestKey(name string, known []string) string {
	rest, below := strings.CutPrefix(name, credentialsKey+".")
	if !below {
		return suggest(name, known)
	}
	_, field, _ := strings.Cut(rest, ".")
	var fields []string
	for _, k := range credentialKeys() {
		fields = append(fields, k.name)
	}
	if match := closest(field, fields); match != "" && field != "" {
		return " (did you mean " + match + "?)"
	}
	return "; write a named credential as a section with " + strings.Join(fields, ", ")
}

// EffectiveCloud returns a named credential's own cloud, else the worker's.
func (c Credential) EffectiveCloud(worker Azure) CloudSettings {
	if c.Cloud == "" {
		return worker.CloudSettings
	}
	return c.CloudSettings
}

// identities returns all identities by the prefix of their keys.
func (c Config) identities() map[string]Identity {
	all := map[string]Identity{"azure.": c.Azure.Identity}
	for name, credential := range c.Credentials {
		all[credentialsKey+"."+name+"."] = credential.Identity
	}
	return all
}

// credentials checks the worker's own credential and the named ones.
func (c Config) credentials(p *problems) {
	c.Azure.CloudSettings.check(p, "azure.", c.Azure.Credential)
	c.Azure.EffectiveIdentity().check(p, "azure.", "azure.credential", c.Azure.Credential, c.Azure.CloudSettings)
	owners := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(c.Credentials)) {
		credential, prefix := c.Credentials[name], credentialsKey+"."+name+"."
		p.require(credentialNamePattern.MatchString(name), prefix, "a name must consist of lower-case letters, digits and dashes")
		p.require(name != CredentialDefault, prefix, "default is the name of azure.credential; use another name")
		if credential.Cloud != "" {
			credential.CloudSettings.check(p, prefix, credential.Kind)
		} else {
			p.require(credential.CloudSettings == CloudSettings{}, prefix+"cloud", "required with the other addresses; without any of them the worker's own apply")
		}
		credential.Identity.check(p, prefix, prefix+"kind", credential.Kind, credential.EffectiveCloud(c.Azure))
		p.require(credential.Tied == "" || credential.Tied == TiedStrict, prefix+"tied", "must be strict or empty, not %q", credential.Tied)
		p.require(len(credential.Subscriptions) > 0 || credential.Tied == "" && len(credential.MayRead) == 0, prefix+"subscriptions", "required with may-read and tied")
		for _, subscription := range credential.MayRead {
			p.require(guidPattern.MatchString(subscription), prefix+"may-read", "must be GUIDs, not %q", subscription)
		}
		for _, subscription := range credential.Subscriptions {
			p.require(guidPattern.MatchString(subscription), prefix+"subscriptions", "must be GUIDs, not %q", subscription)
			other, taken := owners[strings.ToLower(subscription)]
			p.require(!taken, prefix+"subscriptions", "%s already belongs to credential %s", subscription, other)
			owners[strings.ToLower(subscription)] = name
		}
	}
}

// check checks the properties that each kind of credential requires.
func (i Identity) check(p *problems, prefix, key, kind string, cloud CloudSettings) {
	p.oneOf(key, kind, CredentialDefault, CredentialWorkloadIdentity, CredentialManagedIdentity, CredentialClientSecret,
		CredentialClientCertificate, CredentialAzureCLI, CredentialNone)
	if kind == CredentialClientSecret || kind == CredentialClientCertificate {
		p.require(guidPattern.MatchString(i.TenantID), prefix+"tenant-id", "must be the tenant's GUID for %s (or set AZURE_TENANT_ID)", kind)
		p.require(i.ClientID != "", prefix+"client-id", "must be the application's ID for %s (or set AZURE_CLIENT_ID)", kind)
	} else {
		p.require(i.TenantID == "" || guidPattern.MatchString(i.TenantID), prefix+"tenant-id", "must be a GUID, not %q", i.TenantID)
	}
	switch kind {
	case CredentialNone:
		p.require(cloud.Cloud == CloudCustom && loopback(cloud.Endpoint), key, "none is allowed for a custom cloud on this machine (loopback) only")
	case CredentialClientSecret:
		p.require(i.ClientSecret != "", prefix+"client-secret", "must be env:NAME or file:PATH for client-secret (or set AZURE_CLIENT_SECRET)")
	case CredentialClientCertificate:
		p.require(i.Certificate != "", prefix+"certificate", "must be the path of a PEM or PKCS#12 file for client-certificate (or set AZURE_CLIENT_CERTIFICATE_PATH)")
	}
	for _, tenant := range i.AuxiliaryTenants {
		p.require(guidPattern.MatchString(tenant), prefix+"auxiliary-tenants", "must be GUIDs, not %q", tenant)
	}
	p.require(len(i.AuxiliaryTenants) <= maxAuxiliaryTenants, prefix+"auxiliary-tenants", "must be at most %d, not %d", maxAuxiliaryTenants, len(i.AuxiliaryTenants))
	p.require(len(i.AuxiliaryTenants) == 0 || kind != CredentialManagedIdentity && kind != CredentialNone,
		prefix+"auxiliary-tenants", "not allowed for %s, which gets tokens of its own tenant only", kind)
}

// check checks the addresses. They are refused for the known clouds, so that a stray
// variable sends none of their tokens elsewhere.
func (s CloudSettings) check(p *problems, prefix, kind string) {
	p.oneOf(prefix+"cloud", s.Cloud, CloudPublic, CloudGovernment, CloudChina, CloudCustom)
	type address struct{ key, value string }
	addresses := []address{{prefix + "endpoint", s.Endpoint}, {prefix + "authority-host", s.AuthorityHost}}
	if s.Cloud != CloudCustom {
		for _, other := range append(addresses, address{prefix + "audience", s.Audience}, address{prefix + "vault-suffix", s.VaultSuffix}) {
			p.require(other.value == "", other.key, "allowed for %scloud custom only, not for %s", prefix, s.Cloud)
		}
		return
	}
	p.require(s.Endpoint != "", prefix+"endpoint", "required for a custom cloud, for example https://arm.example")
	p.require(s.AuthorityHost != "" || !usesAuthority(kind), prefix+"authority-host", "required for a custom cloud, for example https://login.example")
	for _, address := range addresses {
		if address.value != "" {
			checkAddress(p, address.key, address.value)
		}
	}
	// A single label would match a whole top-level domain.
	p.require(s.VaultSuffix == "" || domainPattern.MatchString(s.VaultSuffix), prefix+"vault-suffix",
		"must be the suffix of the hosts of key vaults, for example vault.example, not %q", s.VaultSuffix)
	// azidentity sends a client secret by HTTPS only, to this machine too.
	p.require(!strings.HasPrefix(s.AuthorityHost, "http://"), prefix+"authority-host", "must begin with https://")
}

// usesAuthority reports whether a kind of credential gets its tokens from the
// authority host and not from the machine.
func usesAuthority(kind string) bool {
	return kind != CredentialNone && kind != CredentialManagedIdentity && kind != CredentialAzureCLI
}

// EffectiveIdentity returns the worker's own identity, completed by the variables that
// every Azure tool reads. Named credentials ignore these variables.
func (a Azure) EffectiveIdentity() Identity {
	i := a.Identity
	i.TenantID = cmp.Or(i.TenantID, os.Getenv("AZURE_TENANT_ID"))
	i.ClientID = cmp.Or(i.ClientID, os.Getenv("AZURE_CLIENT_ID"))
	if i.ClientSecret == "" && os.Getenv("AZURE_CLIENT_SECRET") != "" {
		i.ClientSecret = envScheme + "AZURE_CLIENT_SECRET"
	}
	i.Certificate = cmp.Or(i.Certificate, os.Getenv("AZURE_CLIENT_CERTIFICATE_PATH"))
	if i.CertificatePassword == "" && os.Getenv("AZURE_CLIENT_CERTIFICATE_PASSWORD") != "" {
		i.CertificatePassword = envScheme + "AZURE_CLIENT_CERTIFICATE_PASSWORD"
	}
	return i
}
