package service

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/config"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/secrets"
	"go.temporal.io/sdk/contrib/envconfig"
)

// minMaskKeyBytes is the minimum length of a mask key.
const minMaskKeyBytes = 16

// maskKey is the key of masks and of the hashes in baselines.
type maskKey struct {
	key []byte
	// secret is set for the key of the configuration.
	secret bool
	// former is the key that workers of the namespace without one used, nil where that is
	// key.
	former []byte
}

// newMaskKey returns the key of the configuration, hashed. Without one, all workers of a
// namespace share a key that is no secret, for hashes of what is no secret: a random key
// would differ between workers and restarts, and every accepted difference would be new.
func newMaskKey(settings config.Config, namespace string) (maskKey, error) {
	value, err := settings.ReadMaskKey()
	if err != nil {
		return maskKey{}, fmt.Errorf("mask-key: %w", err)
	}
	public := sha256.Sum256([]byte("armature mask key\x00" + namespace))
	if value == "" {
		return maskKey{key: public[:]}, nil
	}
	if len(strings.TrimSpace(value)) < minMaskKeyBytes {
		return maskKey{}, fmt.Errorf("mask-key: must have at least %d bytes; generate one with openssl rand -hex 32", minMaskKeyBytes)
	}
	sum := sha256.Sum256([]byte(value))
	return maskKey{key: sum[:], secret: true, former: public[:]}, nil
}

// masker returns the masker of the key; a key that is no secret gives masks without hashes.
func (k maskKey) masker() *secrets.Masker {
	if !k.secret {
		return secrets.NewMasker(nil)
	}
	return secrets.NewMasker(k.key)
}

// secretOptions returns the allow-lists of each credential, and what none of them allows.
func secretOptions(settings config.Config, client *arm.Client, temporalFiles map[string]string) secrets.Options {
	holders := map[string]secrets.Allowed{}
	for _, name := range client.Names() {
		allowed := settings.SecretsOf(name)
		holders[name] = secrets.Allowed{EnvPrefix: allowed.EnvPrefix, Dir: allowed.Dir}
	}
	return secrets.Options{
		Holder: client.SecretHolder, Holders: holders, Vault: client,
		Own: append(settings.OwnFiles(), slices.Sorted(maps.Values(temporalFiles))...),
	}
}

// exportOptions returns the secrets that exports may write, by the name of the credential.
func exportOptions(settings config.Config, client *arm.Client) (map[string][]resource.VaultPattern, error) {
	allowed := map[string][]resource.VaultPattern{}
	for _, name := range client.Names() {
		for _, text := range settings.ExportOf(name).Vaults {
			pattern, err := resource.ParseVaultPattern(text)
			if err != nil {
				return nil, fmt.Errorf("export.vaults of the credential %s: %w", name, err)
			}
			allowed[name] = append(allowed[name], pattern)
		}
	}
	return allowed, nil
}

// temporalSecretFiles returns the files with keys of the connection to Temporal that a
// profile names, by what names them. Variables that name such files are known to config.
func temporalSecretFiles(options Options) map[string]string {
	files := map[string]string{}
	if options.Temporal != nil {
		return files // the caller of Run has the connection
	}
	if folder, err := os.UserConfigDir(); err == nil {
		files["temporal.toml"] = filepath.Join(folder, "temporalio", "temporal.toml")
	}
	profile, err := envconfig.LoadClientConfigProfile(envconfig.LoadClientConfigProfileOptions{})
	if err != nil {
		return files // temporalOptions reports it
	}
	if tls := profile.TLS; tls != nil {
		files["client_key_path of temporal.toml"], files["client_cert_path of temporal.toml"] = tls.ClientKeyPath, tls.ClientCertPath
	}
	maps.DeleteFunc(files, func(_, path string) bool { return path == "" })
	return files
}
