package encryption

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/security/keyvault/azkeys"
	"github.com/Azure/azure-sdk-for-go/sdk/security/keyvault/azsecrets"
)

// azureVault reads from key vaults of Azure.
type azureVault struct {
	credential azcore.TokenCredential
	options    azcore.ClientOptions
}

// NewVault returns the connection to key vaults with a credential. Transport nil is the
// default one.
func NewVault(credential azcore.TokenCredential, transport policy.Transporter) (Vault, error) {
	if credential == nil {
		return nil, errors.New("the credential none has no tokens for key vaults; configure another one")
	}
	return &azureVault{credential: credential, options: azcore.ClientOptions{Transport: transport}}, nil
}

// identified are the parts of an identifier: https://VAULT/COLLECTION/NAME[/VERSION].
type identified struct{ vault, name, version string }

// split returns the parts of an identifier.
func split(identifier, collection string) (identified, error) {
	parsed, err := url.Parse(identifier)
	if err == nil {
		parts := strings.Split(strings.Trim(parsed.Path, "/"), "/")
		if parsed.Scheme == "https" && parsed.Host != "" && len(parts) >= 2 && len(parts) <= 3 && parts[0] == collection {
			return identified{"https://" + parsed.Host, parts[1], strings.Join(parts[2:], "")}, nil
		}
	}
	return identified{}, fmt.Errorf("%q is not https://VAULT.vault.azure.net/%s/NAME[/VERSION]", identifier, collection)
}

// Secret returns the value of a secret.
func (v *azureVault) Secret(ctx context.Context, identifier string) (string, error) {
	at, err := split(identifier, "secrets")
	if err != nil {
		return "", err
	}
	client, err := azsecrets.NewClient(at.vault, v.credential, &azsecrets.ClientOptions{ClientOptions: v.options})
	if err != nil {
		return "", fmt.Errorf("open %s: %w", at.vault, err)
	}
	response, err := client.GetSecret(ctx, at.name, at.version, nil)
	if err != nil {
		return "", refused(err, "Get of secrets (role Key Vault Secrets User)")
	}
	if response.Value == nil {
		return "", errors.New("the vault returned no value")
	}
	return *response.Value, nil
}

// Unwrap returns what a key has wrapped.
func (v *azureVault) Unwrap(ctx context.Context, identifier, algorithm string, wrapped []byte) ([]byte, error) {
	at, err := split(identifier, "keys")
	if err != nil {
		return nil, err
	}
	client, err := azkeys.NewClient(at.vault, v.credential, &azkeys.ClientOptions{ClientOptions: v.options})
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", at.vault, err)
	}
	kind := azkeys.EncryptionAlgorithm(algorithm)
	response, err := client.UnwrapKey(ctx, at.name, at.version, azkeys.KeyOperationParameters{Algorithm: &kind, Value: wrapped}, nil)
	if err != nil {
		return nil, refused(err, "unwrap key (role Key Vault Crypto Service Encryption User)")
	}
	return response.Result, nil
}

// refused returns the error of a vault in a line: code, status and the right that is needed.
func refused(err error, right string) error {
	response, ok := errors.AsType[*azcore.ResponseError](err)
	if !ok {
		return err
	}
	return fmt.Errorf("the vault refused with %d %s; the credential needs the right: %s", response.StatusCode, response.ErrorCode, right)
}
