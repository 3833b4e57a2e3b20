package secrets

import (
	"context"
	"errors"
	"strings"

	"github.com/armature-io/armature/resource"
)

// ReadCached returns the value behind a reference for comparing and masking: a value
// of a key vault may be 30 s old, or older where the vault returns none now.
// [Resolver.Resolve] reads it again.
func (r *Resolver) ReadCached(ctx context.Context, reference string) (string, error) {
	return r.read(ctx, reference, true)
}

// vaultRefusal is an error of a Vault.
type vaultRefusal interface {
	error
	NotAllowed() bool
}

// vault reads keyvault:https://VAULT/secrets/NAME[/VERSION].
func (r *Resolver) vault(ctx context.Context, reference string, cached bool) (string, error) {
	secret, err := resource.ParseVaultSecret(strings.TrimPrefix(reference, resource.VaultScheme))
	switch {
	case err != nil:
		// The reference may be a misplaced secret, so it is not shown.
		return "", notAllowed("of the body", "%v", err)
	case r.options.Vault == nil:
		return "", notAllowed(reference, "this worker has no access to key vaults")
	}
	value, err := r.options.Vault.Secret(ctx, secret, cached)
	switch refusal, ok := errors.AsType[vaultRefusal](err); {
	case ok && refusal.NotAllowed():
		return "", notAllowed(reference, "%v", err)
	case err != nil:
		return "", missing(reference, "%v", err)
	}
	return value, nil
}

// Unpinned reports whether the value behind a reference may change without an edit of the
// manifest: all but those of a version of a secret in a key vault.
func Unpinned(reference string) bool {
	address, vault := strings.CutPrefix(reference, resource.VaultScheme)
	secret, err := resource.ParseVaultSecret(address)
	return !vault || err != nil || secret.Version == ""
}
