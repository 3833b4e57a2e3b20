package config

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
)

// credentialsKey is the section of the file that holds the named credentials.
const credentialsKey = "credentials"

// auxiliaryMost is how many auxiliary tenants ARM takes.
const auxiliaryMost = 3

var domain = regexp.MustCompile(`^[a-z0-9](-?[a-z0-9])*(\.[a-z0-9](-?[a-z0-9])*)+$`)

var credentialName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`)

// credentialKeys are the keys below credentials.NAME. They come from the file
// only, and nothing of the surroundings stands in for them.
func credentialKeys() []key {
	return []key{
		{"kind", "", "default, workload-identity, managed-identity, client-secret, client-certificate, azure-cli, or none (loopback only); required"},
		{"subscriptions", "", "list of the subscriptions that it is tied to: it serves no other, and these where a manifest names no credential; without it, it serves whoever names it"},
		{"tenant-id", "", "its tenant; required for client-secret and client-certificate"},
		{"client-id", "", "its application, required for client-secret and client-certificate; or client ID or resource ID of a user-assigned managed identity"},
		{"client-secret", "", "where its secret is: env:NAME or file:PATH"},
		{"certificate", "", "PEM or PKCS#12 file of client-certificate"},
		{"certificate-password", "", "where its password is: env:NAME or file:PATH"},
		{"send-certificate-chain", "false", "send the certificate with each token request (subject name and issuer authentication)"},
		{"token-file", "", "federated token of workload-identity"},
		{"auxiliary-tenants", "", "list of tenants whose tokens go with each request; at most three, and none for managed-identity and none"},
		{"cloud", "", "public, government, china or custom; without it the worker's own cloud holds, with all of its addresses"},
		{"endpoint", "", "ARM endpoint, as https://host[:port]; this and the following are for cloud: custom"},
		{"audience", "", "token audience; empty takes the endpoint"},
		{"authority-host", "", "token authority, as https://host[:port]"},
		{"ca-file", "", "PEM file of certificate authorities to trust beside the system's; beside any cloud of its own"},
		{"disable-instance-discovery", "false", "do not ask Microsoft about the authority; beside any cloud of its own, and on by itself for a custom one"},
		{"vault-suffix", "", "what the hosts of its key vaults end with, as vault.example; empty allows no $secret keyvault:"},
	}
}

// isCredentialKey reports whether a word stands in the table.
func isCredentialKey(field string) bool {
	return slices.ContainsFunc(credentialKeys(), func(k key) bool { return k.name == field })
}

// named reports whether a key of the file is one of a named credential.
func named(key string) bool {
	rest, ok := strings.CutPrefix(key, credentialsKey+".")
	name, field, found := strings.Cut(rest, ".")
	return ok && found && credentialName.MatchString(name) && isCredentialKey(field)
}

// nearestKey says which key a misspelt one of the file may have meant: below a
// named credential one of those that it takes.
func nearestKey(name string, known []string) string {
	rest, below := strings.CutPrefix(name, credentialsKey+".")
	if !below {
		return suggest(name, known)
	}
	_, field, _ := strings.Cut(rest, ".")
	var fields []string
	for _, k := range credentialKeys() {
		fields = append(fields, k.name)
	}
	if suggestion := suggest(field, fields); strings.HasPrefix(suggestion, " (did ") && field != "" {
		return suggestion
	}
	return "; write a named credential as a section with " + strings.Join(fields, ", ")
}

// At is where a named credential asks: its own place, else the worker's.
func (c Credential) EffectiveCloud(worker Azure) CloudSettings {
	if c.Cloud == "" {
		return worker.CloudSettings
	}
	return c.CloudSettings
}

// identities are all of them by the prefix of their keys.
func (c Config) identities() map[string]Identity {
	all := map[string]Identity{"azure.": c.Azure.Identity}
	for name, credential := range c.Credentials {
		all[credentialsKey+"."+name+"."] = credential.Identity
	}
	return all
}

// credentials checks the worker's own credential and the named ones.
func (c Config) credentials(f *faults) {
	c.Azure.CloudSettings.check(f, "azure.", c.Azure.Credential)
	c.Azure.EffectiveIdentity().check(f, "azure.", "azure.credential", c.Azure.Credential, c.Azure.CloudSettings)
	tied := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(c.Credentials)) {
		credential, prefix := c.Credentials[name], credentialsKey+"."+name+"."
		f.unless(credentialName.MatchString(name), prefix, "want a name of lower-case letters, digits and dashes")
		f.unless(name != CredentialDefault, prefix, "default is the name of azure.credential: choose another one")
		place := credential.EffectiveCloud(c.Azure)
		if credential.Cloud != "" {
			credential.CloudSettings.check(f, prefix, credential.Kind)
		} else {
			f.unless(credential.CloudSettings == CloudSettings{}, prefix+"cloud", "is needed beside the other addresses; without all of them the worker's own hold")
		}
		credential.Identity.check(f, prefix, prefix+"kind", credential.Kind, place)
		for _, subscription := range credential.Subscriptions {
			f.unless(guid.MatchString(subscription), prefix+"subscriptions", "want GUIDs, not %q", subscription)
			other, taken := tied[strings.ToLower(subscription)]
			f.unless(!taken, prefix+"subscriptions", "%s is tied to credential %s already", subscription, other)
			tied[strings.ToLower(subscription)] = name
		}
	}
}

// check checks who: every kind by what it needs.
func (i Identity) check(f *faults, prefix, key, kind string, at CloudSettings) {
	f.oneOf(key, kind, CredentialDefault, CredentialWorkloadIdentity, CredentialManagedIdentity, CredentialClientSecret,
		CredentialClientCertificate, CredentialAzureCLI, CredentialNone)
	application := kind == CredentialClientSecret || kind == CredentialClientCertificate
	if application {
		f.unless(guid.MatchString(i.TenantID), prefix+"tenant-id", "want the tenant's GUID (or AZURE_TENANT_ID) for %s", kind)
		f.unless(i.ClientID != "", prefix+"client-id", "want the application's ID (or AZURE_CLIENT_ID) for %s", kind)
	} else {
		f.unless(i.TenantID == "" || guid.MatchString(i.TenantID), prefix+"tenant-id", "want a GUID, not %q", i.TenantID)
	}
	switch kind {
	case CredentialNone:
		f.unless(at.Cloud == CloudCustom && loopback(at.Endpoint), key, "none is allowed for a custom cloud on this machine (loopback) only")
	case CredentialClientSecret:
		f.unless(i.ClientSecret != "", prefix+"client-secret", "want env:NAME or file:PATH (or AZURE_CLIENT_SECRET) for client-secret")
	case CredentialClientCertificate:
		f.unless(i.Certificate != "", prefix+"certificate", "want the path of a PEM or PKCS#12 file (or AZURE_CLIENT_CERTIFICATE_PATH) for client-certificate")
	}
	for _, tenant := range i.AuxiliaryTenants {
		f.unless(guid.MatchString(tenant), prefix+"auxiliary-tenants", "want GUIDs, not %q", tenant)
	}
	f.unless(len(i.AuxiliaryTenants) <= auxiliaryMost, prefix+"auxiliary-tenants", "want at most %d, not %d", auxiliaryMost, len(i.AuxiliaryTenants))
	f.unless(len(i.AuxiliaryTenants) == 0 || kind != CredentialManagedIdentity && kind != CredentialNone,
		prefix+"auxiliary-tenants", "%s gets tokens of its own tenant only", kind)
}

// check checks where. Addresses are refused for the known clouds, so that no
// token of theirs goes elsewhere by a stray variable.
func (p CloudSettings) check(f *faults, prefix, kind string) {
	f.oneOf(prefix+"cloud", p.Cloud, CloudPublic, CloudGovernment, CloudChina, CloudCustom)
	type address struct{ name, value string }
	addresses := []address{{prefix + "endpoint", p.Endpoint}, {prefix + "authority-host", p.AuthorityHost}}
	if p.Cloud != CloudCustom {
		for _, refused := range append(addresses, address{prefix + "audience", p.Audience}, address{prefix + "vault-suffix", p.VaultSuffix}) {
			f.unless(refused.value == "", refused.name, "is for %scloud custom only, not %s", prefix, p.Cloud)
		}
		return
	}
	f.unless(p.Endpoint != "", prefix+"endpoint", "a custom cloud needs one; write it like https://arm.example")
	f.unless(p.AuthorityHost != "" || !asksAuthority(kind), prefix+"authority-host", "a custom cloud needs one; write it like https://login.example")
	for _, address := range addresses {
		if address.value != "" {
			checkAddress(f, address.name, address.value)
		}
	}
	// One with a single label would be somebody's whole domain.
	f.unless(p.VaultSuffix == "" || domain.MatchString(p.VaultSuffix), prefix+"vault-suffix",
		"want what the hosts of key vaults end with, like vault.example, not %q", p.VaultSuffix)
	// azidentity sends a client secret by HTTPS only, to this machine too.
	f.unless(!strings.HasPrefix(p.AuthorityHost, "http://"), prefix+"authority-host", "want https://")
}

// asksAuthority reports whether a kind gets its tokens from the authority host
// and not from the machine.
func asksAuthority(kind string) bool {
	return kind != CredentialNone && kind != CredentialManagedIdentity && kind != CredentialAzureCLI
}

// EffectiveIdentity is the worker's own identity, with what the variables add to it that every
// Azure tool knows. Named credentials take nothing from the surroundings.
func (a Azure) EffectiveIdentity() Identity {
	i := a.Identity
	i.TenantID = first(i.TenantID, os.Getenv("AZURE_TENANT_ID"))
	i.ClientID = first(i.ClientID, os.Getenv("AZURE_CLIENT_ID"))
	if i.ClientSecret == "" && os.Getenv("AZURE_CLIENT_SECRET") != "" {
		i.ClientSecret = envScheme + "AZURE_CLIENT_SECRET"
	}
	i.Certificate = first(i.Certificate, os.Getenv("AZURE_CLIENT_CERTIFICATE_PATH"))
	if i.CertificatePassword == "" && os.Getenv("AZURE_CLIENT_CERTIFICATE_PASSWORD") != "" {
		i.CertificatePassword = envScheme + "AZURE_CLIENT_CERTIFICATE_PASSWORD"
	}
	return i
}
