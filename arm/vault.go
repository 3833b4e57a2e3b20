package arm

import (
	"context"
	"fmt"
	"net/http"
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

// Bounds of what is kept of secrets, in memory alone.
const (
	// vaultBudget bounds one read.
	vaultBudget = 3 * time.Second
	// secretKept is how long a value, or that it could not be had, answers those
	// who only compare or mask.
	secretKept = 30 * time.Second
	// secretsMost bounds the values kept, and the vaults known, of a connection.
	secretsMost = 2000
)

// vaultSuffix is a cloud's own, after
// https://learn.microsoft.com/azure/key-vault/general/about-keys-secrets-certificates.
func vaultSuffix(name string) string {
	switch name {
	case "", CloudPublic:
		return "vault.azure.net"
	case CloudGovernment:
		return "vault.usgovcloudapi.net"
	case CloudChina:
		return "vault.azure.cn"
	}
	return ""
}

// VaultSuffix is what the hosts of a cloud's key vaults end with: the cloud's
// own, or that of the options for a custom one; "" where there are none.
func VaultSuffix(options CloudOptions) string {
	if options.VaultSuffix != "" {
		return options.VaultSuffix
	}
	return vaultSuffix(options.Name)
}

type subjectKey struct{}

// WithSubject says for which resource secrets are read: by its ID the connection
// is chosen, as for its own requests.
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

	mu      sync.Mutex
	clients map[string]*azsecrets.Client
	known   map[resource.VaultSecret]vaultReading
}

// vaultReading is the last answer: value is the last one that was had, also
// where err says why there is none now.
type vaultReading struct {
	value string
	err   error
	at    time.Time
}

// Secret reads a secret with the credential of the context's resource
// (WithSubject, WithCredential). Kept says that the value of the last 30 s will
// do, and an older one where the vault gives none now: to compare with and to
// mask, never to write. An error is a *VaultError.
func (c *Client) Secret(ctx context.Context, secret resource.VaultSecret, kept bool) (string, error) {
	id, ok := ctx.Value(subjectKey{}).(resource.ID)
	if !ok {
		return "", &VaultError{message: "it is read for a resource only", notAllowed: true}
	}
	chosen, err := c.For(ctx, id)
	if err != nil {
		return "", &VaultError{message: err.Error(), notAllowed: true}
	}
	return chosen.vaults.read(ctx, secret, kept)
}

func (v *vaults) read(ctx context.Context, secret resource.VaultSecret, kept bool) (string, error) {
	if stop := v.allowed(secret); stop != nil {
		return "", stop
	}
	v.mu.Lock()
	last, known := v.known[secret]
	v.mu.Unlock()
	if kept && known && v.now().Sub(last.at) < secretKept {
		return last.have()
	}
	next := vaultReading{value: last.value, at: v.now()}
	value, err := v.get(ctx, secret)
	if next.err = err; err == nil {
		next.value = value
	}
	// Who gave up says nothing of the vault.
	if ctx.Err() == nil {
		v.keep(secret, next)
	}
	if kept {
		return next.have()
	}
	return value, err
}

// have is the last value that there was.
func (r vaultReading) have() (string, error) {
	if r.value != "" {
		return r.value, nil
	}
	return "", r.err
}

func (v *vaults) keep(secret resource.VaultSecret, reading vaultReading) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.known) >= secretsMost {
		clear(v.known)
	}
	v.known[secret] = reading
}

// allowed keeps tokens from every host that is none of the cloud's vaults.
func (v *vaults) allowed(secret resource.VaultSecret) error {
	switch {
	case v.suffix == "":
		return &VaultError{notAllowed: true, message: "the worker's config names no key vaults of its custom cloud; set vault-suffix beside the cloud's endpoint"}
	case !secret.Within(v.suffix):
		return &VaultError{notAllowed: true, message: fmt.Sprintf("the host is no key vault of the credential's cloud, whose are called VAULT.%s; correct the reference", v.suffix)}
	case v.credential == nil:
		return &VaultError{notAllowed: true, message: "the credential none gets no tokens, so it reads no key vault; configure another one"}
	}
	return nil
}

// get asks the vault. Its client has none of azcore's retries: the workflow
// decides about those.
func (v *vaults) get(ctx context.Context, secret resource.VaultSecret) (value string, err error) {
	// The library takes the vault's challenge apart without looking at its form.
	defer func() {
		if recover() != nil {
			value, err = "", &VaultError{message: "the answer of " + secret.Host + " is none of a key vault; look at what stands between"}
		}
	}()
	client, err := v.client(secret.Host)
	if err != nil {
		return "", &VaultError{message: "the vault cannot be asked: " + err.Error()}
	}
	ctx, cancel := context.WithTimeout(ctx, vaultBudget)
	defer cancel()
	x := &exchange{call: CallSecret, typ: "Microsoft.KeyVault/vaults/secrets"}
	answer, err := client.GetSecret(withExchange(ctx, x), secret.Name, secret.Version, nil)
	switch {
	case x.tooLarge:
		return "", &VaultError{message: "the answer of the vault is too large"}
	case err != nil:
		return "", v.refused(secret, err)
	}
	return v.valid(secret, answer.Secret)
}

func (v *vaults) client(host string) (*azsecrets.Client, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if client, known := v.clients[host]; known {
		return client, nil
	}
	options := v.options
	options.Transport = &wire{next: v.transport, endpoint: &url.URL{Scheme: "https", Host: host}, now: v.now, observe: v.observe}
	client, err := azsecrets.NewClient("https://"+host, v.credential, &options)
	if err != nil {
		return nil, err
	}
	if len(v.clients) >= secretsMost {
		clear(v.clients)
	}
	v.clients[host] = client
	return client, nil
}

// newVaults makes the readers of a connection; it sends nothing.
func newVaults(options Options, now clock) (*vaults, error) {
	v := &vaults{
		suffix: options.VaultSuffix, transport: options.Transport, now: now, observe: options.Observer,
		clients: map[string]*azsecrets.Client{}, known: map[resource.VaultSecret]vaultReading{},
	}
	if options.Credential != nil {
		v.credential = guard(options.Credential)
	}
	if v.transport == nil {
		var err error
		if v.transport, err = NewTransport(TransportOptions{}); err != nil {
			return nil, err
		}
	}
	if client, ok := v.transport.(*http.Client); ok {
		v.transport = withoutRedirects(client)
	}
	v.options.Retry = policy.RetryOptions{MaxRetries: -1}
	v.options.Telemetry = policy.TelemetryOptions{ApplicationID: options.ApplicationID}
	return v, nil
}

// valid is the value of a secret that holds now.
func (v *vaults) valid(secret resource.VaultSecret, answer azsecrets.Secret) (string, error) {
	if at := answer.Attributes; at != nil {
		switch now := v.now(); {
		case at.Enabled != nil && !*at.Enabled:
			return "", disabled(secret)
		case at.Expires != nil && !at.Expires.After(now):
			return "", &VaultError{message: fmt.Sprintf("it expired at %s; give it a new version in the vault, or a later end", at.Expires.UTC().Format(time.RFC3339))}
		case at.NotBefore != nil && at.NotBefore.After(now):
			return "", &VaultError{message: fmt.Sprintf("it is not valid before %s; wait, or name another version", at.NotBefore.UTC().Format(time.RFC3339))}
		}
	}
	if answer.Value == nil {
		return "", &VaultError{message: "the vault answers without a value"}
	}
	return *answer.Value, nil
}
