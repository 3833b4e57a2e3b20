package config

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// tokenFolders hold tokens of the worker's identity: Kubernetes mounts the service
// account's in the first, the webhook of workload identity its own in the second.
var tokenFolders = []string{"/var/run/secrets/kubernetes.io", "/var/run/secrets/azure/tokens"}

// pathVariables are further variables with the path of a file of the worker's own.
var pathVariables = []string{FileVariable, "KUBECONFIG"}

// ownSecret is a file or folder with secrets of the worker, and what names it.
type ownSecret struct{ key, path string }

// OwnFiles returns the files and folders with secrets of the worker, which no $secret may
// read: its tokens, certificates and keys, wherever the configuration or a variable of
// Azure's and Temporal's tools names them.
func (c Config) OwnFiles() []string {
	var paths []string
	for _, own := range c.ownSecrets() {
		paths = append(paths, own.path)
	}
	return paths
}

// ownSecrets is OwnFiles with the keys or variables that name them. Files need not exist.
func (c Config) ownSecrets() []ownSecret {
	var all []ownSecret
	add := func(key, path string) {
		if path != "" && filepath.Clean(path) != "/" {
			all = append(all, ownSecret{key, path})
		}
	}
	add("mask-key", c.MaskKey.key().file())
	for key, path := range c.Encryption.files() {
		add(key, path)
	}
	identities := c.identities()
	identities["azure."] = c.Azure.EffectiveIdentity()
	for prefix, identity := range identities {
		add(prefix+"client-secret", identity.ClientSecret.file())
		add(prefix+"certificate-password", identity.CertificatePassword.file())
		add(prefix+"certificate", identity.Certificate)
		add(prefix+"token-file", identity.TokenFile)
	}
	for _, assignment := range os.Environ() {
		name, value, _ := strings.Cut(assignment, "=")
		isOwn := slices.Contains(pathVariables, name) || slices.ContainsFunc(ownFamilies, func(family string) bool { return strings.HasPrefix(name, family) })
		// The certificate of an authority is public.
		if isOwn && filepath.IsAbs(value) && !strings.Contains(name, "_CA_") {
			add(name, value)
		}
	}
	folders := slices.Clone(tokenFolders)
	if home, err := os.UserHomeDir(); err == nil {
		folders = append(folders, filepath.Join(home, ".azure"))
	}
	for _, folder := range folders {
		if _, err := os.Stat(folder); err == nil {
			add("tokens of this machine", folder)
		}
	}
	return all
}

// CheckExposed returns an error for each path that a manifest's $secret may read, by what
// names it: files of the worker that this configuration does not name.
func (c Config) CheckExposed(paths map[string]string) error {
	own := map[string]Reference{}
	for key, path := range paths {
		if path != "" {
			own[key] = Reference(fileScheme + path)
		}
	}
	p := &problems{}
	c.checkExposed(p, own)
	return p.err()
}

// MaskKeyNone is the value of mask-key that allows a worker to run without one.
const MaskKeyNone Reference = "none"

// key returns the reference of a mask key, "" where there is none.
func (r Reference) key() Reference {
	if r == MaskKeyNone {
		return ""
	}
	return r
}

// ReadMaskKey returns the key of the masks, "" without one.
func (c Config) ReadMaskKey() (string, error) { return c.MaskKey.key().Read() }

// errMaskKeyMissing names both ways out.
var errMaskKeyMissing = errors.New("mask-key: required outside of this machine, because without it a change of a secret is not noticed: " +
	"set it to a file with random text (openssl rand -hex 32), the same for all workers, or to none to run without it")

// CheckMaskKey returns an error if a connection leads to another machine and the
// configuration has no mask-key and does not state that it needs none.
func (c Config) CheckMaskKey() error {
	if c.MaskKey != "" {
		return nil
	}
	clouds := []CloudSettings{c.Azure.CloudSettings}
	for _, credential := range c.Credentials {
		clouds = append(clouds, credential.EffectiveCloud(c.Azure))
	}
	for _, cloud := range clouds {
		if cloud.Cloud != CloudCustom || !loopback(cloud.Endpoint) {
			return errMaskKeyMissing
		}
	}
	return nil
}
