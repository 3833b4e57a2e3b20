package arm

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/security/keyvault/azsecrets"

	"github.com/armature-io/armature/resource"
)

// CallSecretWrite is the write of a secret, or of its tags, in a key vault.
const CallSecretWrite Call = "secret-write"

// typeVaultSecret is the type of requests to key vaults in metrics and in Write.
const typeVaultSecret = "Microsoft.KeyVault/vaults/secrets"

// secretWriteTimeout bounds one write. It asks Temporal first.
const secretWriteTimeout = 15 * time.Second

// StoredSecret is the newest version of a secret in a key vault.
type StoredSecret struct {
	Value, Version string
	Tags           map[string]string
	// CreatedAt is when the version was made.
	CreatedAt time.Time
}

// StoredSecret reads the newest version of a secret with the credential of the context's
// resource, past every cache. It returns nil where there is none. The value of a secret that
// is disabled cannot be read. An error is a *VaultError.
func (c *Client) StoredSecret(ctx context.Context, secret resource.VaultSecret) (*StoredSecret, error) {
	v, err := c.vaultsFor(ctx, secret)
	if err != nil {
		return nil, err
	}
	var stored *StoredSecret
	err = v.request(ctx, secret, CallSecret, func(ctx context.Context, client *azsecrets.Client) error {
		response, err := client.GetSecret(ctx, secret.Name, "", nil)
		if err == nil {
			stored = newStoredSecret(response.Secret)
		}
		return err
	})
	if err != nil && err.Kind == VaultAbsent {
		return nil, nil //nolint:nilnil // no secret is an expected answer
	}
	if err != nil {
		return nil, err
	}
	return stored, nil
}

// WriteSecret adds a version to a secret, or creates it, and returns the version. An error is
// a *VaultError, or that of Options.MayWrite (WriteRefusedError).
func (c *Client) WriteSecret(ctx context.Context, secret resource.VaultSecret, value string, tags map[string]string) (string, error) {
	v, err := c.vaultsFor(ctx, secret)
	if err != nil {
		return "", err
	}
	version := ""
	err = v.request(ctx, secret, CallSecretWrite, func(ctx context.Context, client *azsecrets.Client) error {
		response, err := client.SetSecret(ctx, secret.Name, azsecrets.SetSecretParameters{Value: &value, Tags: pointers(tags)}, nil)
		if err == nil && response.ID != nil {
			version = response.ID.Version()
		}
		return err
	})
	if err != nil {
		return "", err.orRefusal()
	}
	return version, nil
}

// TagSecret replaces the tags of one version of a secret. Errors are those of WriteSecret.
func (c *Client) TagSecret(ctx context.Context, secret resource.VaultSecret, version string, tags map[string]string) error {
	v, err := c.vaultsFor(ctx, secret)
	if err != nil {
		return err
	}
	err = v.request(ctx, secret, CallSecretWrite, func(ctx context.Context, client *azsecrets.Client) error {
		_, err := client.UpdateSecretProperties(ctx, secret.Name, version, azsecrets.UpdateSecretPropertiesParameters{Tags: pointers(tags)}, nil)
		return err
	})
	if err != nil {
		return err.orRefusal()
	}
	return nil
}

// vaultsFor returns the key vaults of the connection of the context's resource, after the
// check that the secret is in one of them.
func (c *Client) vaultsFor(ctx context.Context, secret resource.VaultSecret) (*vaults, *VaultError) {
	id, ok := ctx.Value(subjectKey{}).(resource.ID)
	if !ok {
		return nil, &VaultError{message: "secrets can only be used for a resource", notAllowed: true}
	}
	connection, err := c.For(ctx, id)
	if err != nil {
		return nil, &VaultError{message: err.Error(), notAllowed: true}
	}
	return connection.vaults, connection.vaults.checkAllowed(secret)
}

// request sends requests to the vault of a secret and returns the reason of a failure.
func (v *vaults) request(ctx context.Context, secret resource.VaultSecret, call Call, send func(context.Context, *azsecrets.Client) error) (failure *VaultError) {
	// The library panics on a malformed challenge.
	defer func() {
		if recover() != nil {
			failure = foreignVault(secret)
		}
	}()
	client, err := v.client(secret.Host)
	if err != nil {
		return &VaultError{message: "cannot create a vault client: " + err.Error()}
	}
	timeout := secretTimeout
	if call == CallSecretWrite {
		timeout = secretWriteTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	trip := &roundTrip{call: call, typ: typeVaultSecret}
	switch err := send(withRoundTrip(ctx, trip), client); {
	case trip.tooLarge:
		return &VaultError{message: "the vault's response is too large"}
	case err != nil:
		failure := v.readError(secret, err)
		failure.cause = err
		return failure
	}
	return nil
}

// newStoredSecret returns a secret that a vault returned.
func newStoredSecret(secret azsecrets.Secret) *StoredSecret {
	stored := &StoredSecret{Tags: map[string]string{}}
	if secret.Value != nil {
		stored.Value = *secret.Value
	}
	if secret.ID != nil {
		stored.Version = secret.ID.Version()
	}
	if at := secret.Attributes; at != nil && at.Created != nil {
		stored.CreatedAt = at.Created.UTC()
	}
	for name, value := range secret.Tags {
		if value != nil {
			stored.Tags[name] = *value
		}
	}
	return stored
}

// pointers returns tags in the form of the library.
func pointers(tags map[string]string) map[string]*string {
	converted := make(map[string]*string, len(tags))
	for _, name := range slices.Sorted(maps.Keys(tags)) {
		converted[name] = new(tags[name])
	}
	return converted
}
