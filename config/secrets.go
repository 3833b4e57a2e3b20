package config

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/armature-io/armature/internal/keyref"
)

// Secrets is the allow-list of $secret in manifests.
type Secrets struct {
	// EnvPrefix is the prefix of the variables that manifests may name; "" allows none.
	EnvPrefix string `mapstructure:"env-prefix"`
	// Dir is the one folder of files that manifests may name; "" allows none.
	Dir string
}

// secretsKey is the section of the allow-list, of the worker and of a named credential.
const secretsKey = "secrets."

// ownFamilies are prefixes of variables with tokens and keys of the worker itself.
var ownFamilies = []string{"AZURE_", "TEMPORAL_", "OTEL_", "IDENTITY_", "MSI_"}

// systemFolders show the process and the machine as files.
var systemFolders = []string{"/proc", "/sys"}

// SecretsOf returns the allow-list for the resources of a credential, CredentialDefault
// for the worker's own. Once a credential is tied to subscriptions, or has an allow-list of
// its own, no other named credential shares that of the worker.
func (c Config) SecretsOf(credential string) Secrets {
	named, isNamed := c.Credentials[credential]
	switch {
	case !isNamed:
		return c.Secrets
	case named.Secrets != Secrets{} || c.separatesSecrets():
		return named.Secrets
	}
	return c.Secrets
}

// separatesSecrets reports whether secrets belong to single credentials.
func (c Config) separatesSecrets() bool {
	for _, credential := range c.Credentials {
		if len(credential.Subscriptions) > 0 || credential.Secrets != (Secrets{}) {
			return true
		}
	}
	return false
}

// allowLists returns all allow-lists by the prefix of their keys.
func (c Config) allowLists() map[string]Secrets {
	all := map[string]Secrets{secretsKey: c.Secrets}
	for name, credential := range c.Credentials {
		all[credentialsKey+"."+name+"."+secretsKey] = credential.Secrets
	}
	return all
}

// secrets checks each allow-list, and that none contains another one.
func (c Config) secrets(p *problems) {
	lists := c.allowLists()
	prefixes := slices.Sorted(maps.Keys(lists))
	for _, prefix := range prefixes {
		lists[prefix].check(p, prefix)
		for _, other := range prefixes {
			if other == prefix {
				continue
			}
			one, two := lists[prefix], lists[other]
			if one.EnvPrefix != "" && one.EnvPrefix != two.EnvPrefix && strings.HasPrefix(two.EnvPrefix, one.EnvPrefix) {
				p.add(prefix+"env-prefix", "%q also allows the variables of %senv-prefix (%q); use prefixes of which none begins with another, or the same one to share them",
					one.EnvPrefix, other, two.EnvPrefix)
			}
			if one.Dir != "" && two.Dir != "" && resolveLinks(one.Dir) != resolveLinks(two.Dir) && within(two.Dir, one.Dir) {
				p.add(prefix+"dir", "%s contains %s, the folder of %sdir; use folders side by side, or the same one to share it", one.Dir, two.Dir, other)
			}
		}
	}
}

// check refuses an allow-list that covers the worker's own variables.
func (s Secrets) check(p *problems, prefix string) {
	if s.EnvPrefix != "" {
		p.require(envNamePattern.MatchString(s.EnvPrefix) && strings.HasSuffix(s.EnvPrefix, "_"), prefix+"env-prefix",
			"must be a variable name that ends with an underscore, not %q", s.EnvPrefix)
		for _, name := range slices.Concat(ownFamilies, Variables()) {
			if strings.HasPrefix(name, s.EnvPrefix) || strings.HasPrefix(s.EnvPrefix, name) {
				p.add(prefix+"env-prefix", "%q would let manifests read the worker's own %s*; use another prefix", s.EnvPrefix, name)
				break
			}
		}
	}
	if s.Dir == "" {
		return
	}
	p.require(filepath.IsAbs(s.Dir) && filepath.Clean(s.Dir) != "/", prefix+"dir", "must be the absolute path of a folder below /, not %q", s.Dir)
	for _, folder := range systemFolders {
		p.require(!within(s.Dir, folder), prefix+"dir", "%s is part of %s, which shows the worker's own variables; use a folder of secrets only", s.Dir, folder)
	}
}

// references checks the form of the worker's own secrets, and that no manifest can
// read them.
func (c Config) references(p *problems) {
	references := map[string]Reference{"mask-key": c.MaskKey.key(), "audit.token": c.Audit.Token}
	for _, ref := range c.Encryption.check(p) {
		if ref.Kind == keyref.Env {
			references["encryption.keys "+ref.ID] = envScheme + Reference(ref.At)
		}
	}
	for prefix, identity := range c.identities() {
		references[prefix+"client-secret"] = identity.ClientSecret
		references[prefix+"certificate-password"] = identity.CertificatePassword
	}
	for _, key := range slices.Sorted(maps.Keys(references)) {
		reference := references[key]
		if reference != "" && reference.variable() == "" && reference.file() == "" {
			p.add(key, "%w", errNoReference)
			delete(references, key)
		}
	}
	for _, own := range c.ownSecrets() {
		references[own.key] = fileScheme + Reference(own.path)
	}
	c.checkExposed(p, references)
}

// checkExposed adds a problem for each location that an allow-list covers, and for each
// folder of the worker's own that contains one.
func (c Config) checkExposed(p *problems, own map[string]Reference) {
	lists := c.allowLists()
	for _, key := range slices.Sorted(maps.Keys(own)) {
		for _, prefix := range slices.Sorted(maps.Keys(lists)) {
			list, reference := lists[prefix], own[key]
			switch {
			case reference == "":
			case reference.readableBy(list) && reference.variable() != "":
				p.add(key, "%s is readable by manifests ($secret); move it out of %senv-prefix", reference, prefix)
			case reference.readableBy(list):
				p.add(key, "%s is readable by manifests ($secret); move it out of %sdir, or use another folder there", reference.file(), prefix)
			case reference.file() != "" && list.Dir != "" && within(list.Dir, reference.file()):
				p.add(prefix+"dir", "%s is part of %s, which contains the worker's own secrets (%s); use a folder of its own", list.Dir, reference.file(), key)
			}
		}
	}
}
