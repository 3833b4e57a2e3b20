package secrets

import (
	"context"
	"errors"
	"strings"

	"github.com/armature-io/armature/resource"
)

// ReadCached is the value behind a reference for those who compare with it or mask
// it: that of a key vault may be 30 s old, an older one where the vault gives
// none now. [Resolver.Resolve] reads it afresh.
func (r *Resolver) ReadCached(ctx context.Context, reference string) (string, error) {
	return r.read(ctx, reference, true)
}

// vault reads keyvault:https://VAULT/secrets/NAME[/VERSION].
func (r *Resolver) vault(ctx context.Context, reference string, kept bool) (string, error) {
	secret, err := resource.ParseVaultSecret(strings.TrimPrefix(reference, resource.VaultScheme))
	switch {
	case err != nil:
		// The reference may be a secret that somebody wrote here: it is not shown.
		return "", refused("of the body", "%v", err)
	case r.options.Vault == nil:
		return "", refused(reference, "this worker reads no key vaults")
	}
	value, err := r.options.Vault.Secret(ctx, secret, kept)
	var final interface{ NotAllowed() bool }
	switch {
	case errors.As(err, &final) && final.NotAllowed():
		return "", refused(reference, "%v", err)
	case err != nil:
		return "", missing(reference, "%v", err)
	}
	return value, nil
}
