package arm

import (
	"context"
	"fmt"
	"net/url"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/security/keyvault/azsecrets"
	"github.com/armature-io/armature/resource"
)

// CallSecret is the read of a secret from a key vault.
const CallSecret Call = "secret"

const (
	// secretTimeout bounds one read.
	secretTimeout = 3 * time.Second
	// maxSecretAge is how long a value, or an error, serves comparing and masking.
	// Values are cached in memory only.
	maxSecretAge = 30 * time.Second
	// maxSecrets bounds the cached values, and the vaults, of a connection.
	maxSecrets = 2000
)

// VaultSuffix returns the suffix of the hosts of a cloud's key vaults: the options'
// for a custom cloud, else the cloud's own; "" where there is none. From
// https://learn.microsoft.com/azure/key-vault/general/about-keys-secrets-certificates.
func VaultSuffix(options CloudOptions) string {
	switch {
	case options.VaultSuffix != "":
		return options.VaultSuffix
	case options.Name == "" || options.Name == CloudPublic:
		return "vault.azure.net"
	case options.Name == CloudGovernment:
		return "vault.usgovcloudapi.net"
	case options.Name == CloudChina:
		return "vault.azure.cn"
	}
	return ""
}

type subjectKey struct{}

// WithSubject sets the resource on behalf of which others are read, and secrets: its ID
// selects the connection, as for its own requests.
func WithSubject(ctx context.Context, id resource.ID) context.Context {
	return context.WithValue(ctx, subjectKey{}, id)
}

// vaults are the key vaults of one connection.
type vaults struct {
	suffix     string
	credential azcore.TokenCredential
	options    azsecrets.ClientOptions
	transport  policy.Transporter
	now        clock
	observe    func(Request)
	mayWrite   WriteCheck // nil for none
	journal    Journal    // nil for none
	// readOnly refuses every write.
	readOnly bool

	mu      sync.Mutex
	clients map[string]*azsecrets.Client
	cache   map[resource.VaultSecret]cachedSecret
}

// cachedSecret is the result of the last read. value is the last one that was read,
// also where err is set.
type cachedSecret struct {
	value  string
	err    error
	readAt time.Time
}

// Secret reads a secret with the credential of the context's resource (WithSubject,
// WithCredential). With cached, a value up to 30 s old is returned, and an older one
// where the vault returns none now: to compare and to mask, never to write. An
// error is a *VaultError.
func (c *Client) Secret(ctx context.Context, secret resource.VaultSecret, cached bool) (string, error) {
	id, ok := ctx.Value(subjectKey{}).(resource.ID)
	if !ok {
		return "", &VaultError{message: "secrets can only be read for a resource", notAllowed: true}
	}
	connection, err := c.For(ctx, id)
	if err != nil {
		return "", &VaultError{message: err.Error(), notAllowed: true}
	}
	return connection.vaults.read(ctx, secret, cached)
}

func (v *vaults) read(ctx context.Context, secret resource.VaultSecret, cached bool) (string, error) {
	if err := v.checkAllowed(secret); err != nil {
		return "", err
	}
	v.mu.Lock()
	last, known := v.cache[secret]
	v.mu.Unlock()
	if cached && known && v.now().Sub(last.readAt) < maxSecretAge {
		return last.lastValue()
	}
	next := cachedSecret{value: last.value, readAt: v.now()}
	value, err := v.get(ctx, secret)
	if next.err = err; err == nil {
		next.value = value
	}
	// A canceled read proves nothing about the vault.
	if ctx.Err() == nil {
		v.store(secret, next)
	}
	if cached {
		return next.lastValue()
	}
	return value, err
}

// lastValue returns the last value that was read, else the error.
func (s cachedSecret) lastValue() (string, error) {
	if s.value != "" {
		return s.value, nil
	}
	return "", s.err
}

func (v *vaults) store(secret resource.VaultSecret, entry cachedSecret) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.cache) >= maxSecrets {
		clear(v.cache)
	}
	v.cache[secret] = entry
}

// checkAllowed refuses every host that is no vault of the cloud, so that no token is
// sent there.
func (v *vaults) checkAllowed(secret resource.VaultSecret) *VaultError {
	switch {
	case v.suffix == "":
		return &VaultError{notAllowed: true, message: "the worker's config has no key vaults for its custom cloud; set vault-suffix beside the cloud's endpoint"}
	case !secret.Within(v.suffix):
		return &VaultError{notAllowed: true, message: fmt.Sprintf("the host is no key vault of the credential's cloud (VAULT.%s); correct the reference", v.suffix)}
	case v.credential == nil:
		return &VaultError{notAllowed: true, message: "the credential none has no tokens for key vaults; configure another one"}
	}
	return nil
}

// get requests a secret from its vault. The client has none of azcore's retries,
// because the workflow decides about them.
func (v *vaults) get(ctx context.Context, secret resource.VaultSecret) (string, error) {
	var response azsecrets.GetSecretResponse
	failure := v.request(ctx, secret, CallSecret, func(ctx context.Context, client *azsecrets.Client) (err error) {
		response, err = client.GetSecret(ctx, secret.Name, secret.Version, nil)
		return err
	})
	if failure != nil {
		return "", failure
	}
	return v.validValue(secret, response.Secret)
}

// client returns the client of a vault, one per host.
func (v *vaults) client(host string) (*azsecrets.Client, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if client, known := v.clients[host]; known {
		return client, nil
	}
	options := v.options
	options.Transport = &guardedTransport{next: v.transport, endpoint: &url.URL{Scheme: "https", Host: host}, now: v.now, observe: v.observe, mayWrite: v.mayWrite, journal: v.journal, hosted: true, readOnly: v.readOnly}
	client, err := azsecrets.NewClient("https://"+host, v.credential, &options)
	if err != nil {
		return nil, err
	}
	if len(v.clients) >= maxSecrets {
		clear(v.clients)
	}
	v.clients[host] = client
	return client, nil
}

// newVaults returns the key vaults of a connection; it sends nothing.
func newVaults(options Options, now clock) (*vaults, error) {
	v := &vaults{
		suffix: options.VaultSuffix, now: now, observe: options.Observer, mayWrite: options.MayWrite, journal: options.Journal, readOnly: options.ReadOnly,
		clients: map[string]*azsecrets.Client{}, cache: map[resource.VaultSecret]cachedSecret{},
	}
	if options.Credential != nil {
		v.credential = guardCredential(options.Credential)
	}
	var err error
	if v.transport, err = preparedTransport(options.Transport); err != nil {
		return nil, err
	}
	v.options.Retry = policy.RetryOptions{MaxRetries: -1}
	v.options.Telemetry = policy.TelemetryOptions{ApplicationID: options.ApplicationID}
	return v, nil
}

// validValue returns the value of a secret unless it is disabled, expired or not yet
// valid.
func (v *vaults) validValue(secret resource.VaultSecret, resp azsecrets.Secret) (string, error) {
	if at := resp.Attributes; at != nil {
		switch now := v.now(); {
		case at.Enabled != nil && !*at.Enabled:
			return "", disabled(secret)
		case at.Expires != nil && !at.Expires.After(now):
			return "", &VaultError{message: fmt.Sprintf("the secret expired at %s; add a new version in the vault, or extend it", at.Expires.UTC().Format(time.RFC3339))}
		case at.NotBefore != nil && at.NotBefore.After(now):
			return "", &VaultError{message: fmt.Sprintf("the secret is not valid before %s; wait, or use another version", at.NotBefore.UTC().Format(time.RFC3339))}
		}
	}
	if resp.Value == nil {
		return "", &VaultError{message: "the vault returned no value"}
	}
	return *resp.Value, nil
}
