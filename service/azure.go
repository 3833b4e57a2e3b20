package service

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/armature-io/armature/activities/writing"
	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/config"
)

// verifyTimeout bounds the check of credential and CA at the start. A timeout means
// unreachable, which does not prevent the start.
const verifyTimeout = 10 * time.Second

// azure is the ARM client and the options of its default connection.
type azure struct {
	client  *arm.Client
	options arm.Options
	// throttle has ARM's request budgets.
	throttle *arm.Throttle
}

// newAzure builds the ARM client with all its connections, without a request.
func newAzure(settings config.Config, version string, observe func(arm.Request), own arm.WriteCheck, journal arm.Journal) (*azure, error) {
	credentials := map[string]azcore.TokenCredential{}
	throttle := arm.NewThrottle(arm.ThrottleOptions{Share: settings.Azure.BudgetShare})
	options, err := connection(credentials, throttle, "azure.", settings.Azure.Credential, settings.Azure.EffectiveIdentity(), settings.Azure.CloudSettings)
	problems := []error{err}
	options.Connections = map[string]arm.Connection{}
	for _, name := range slices.Sorted(maps.Keys(settings.Credentials)) {
		credential := settings.Credentials[name]
		named, err := connection(credentials, throttle, "credentials."+name+".", credential.Kind, credential.Identity, credential.EffectiveCloud(settings.Azure))
		problems = append(problems, err)
		options.Connections[name] = arm.Connection{
			Options: named, Subscriptions: credential.Subscriptions, MayRead: credential.MayRead, Strict: credential.Tied == config.TiedStrict,
		}
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	options.ReadOnly = settings.ReadOnly
	options.Version, options.Observer, options.UserAgentSuffix = version, observe, settings.Azure.UserAgentSuffix
	options.MayWrite, options.Journal = withOwnCheck(own), journal
	client, err := arm.NewClient(options)
	if err != nil {
		return nil, err
	}
	return &azure{client: client, options: options, throttle: throttle}, nil
}

// newRecords returns the blob container of the generation fence, nil without one.
func newRecords(settings config.Config, azure *azure, observe func(arm.Request)) (writing.Records, error) {
	if settings.GenerationFence != config.FenceBlob || azure == nil {
		return nil, nil //nolint:nilnil // the fence is off by default
	}
	blobs, err := arm.NewBlobs(arm.BlobOptions{
		Container: settings.FenceContainer, Credential: azure.options.Credential, Transport: azure.options.Transport, Observer: observe, Journal: azure.options.Journal,
	})
	if err != nil {
		return nil, fmt.Errorf("generation-fence-container: %w", err)
	}
	return blobs, nil
}

// withOwnCheck returns the check of writes with one of the embedding program before it: the
// answer of Temporal ages, so it is asked last.
func withOwnCheck(own arm.WriteCheck) arm.WriteCheck {
	if own == nil {
		return writing.MayWrite
	}
	return func(ctx context.Context, write arm.Write) error {
		if err := own(ctx, write); err != nil {
			return err
		}
		return writing.MayWrite(ctx, write)
	}
}

// connection returns the cloud, transport and credential of one connection. Equal
// identities share one credential, and with it its tokens and budgets. The prefix is the
// configuration key of the connection, for errors.
func connection(
	credentials map[string]azcore.TokenCredential, throttle *arm.Throttle, prefix, kind string, identity config.Identity, settings config.CloudSettings,
) (arm.Options, error) {
	cloudOptions := arm.CloudOptions{
		Name: settings.Cloud, Endpoint: settings.Endpoint, Audience: settings.Audience,
		AuthorityHost: settings.AuthorityHost, VaultSuffix: settings.VaultSuffix,
	}
	configuration, err := arm.CloudConfiguration(cloudOptions)
	if err != nil {
		return arm.Options{}, fmt.Errorf("%scloud: %w", prefix, err)
	}
	transport, transportErr := arm.NewTransport(arm.TransportOptions{CAFile: settings.CAFile, Cloud: configuration})
	if transportErr != nil {
		transportErr = fmt.Errorf("%sca-file: %w", prefix, transportErr)
	}
	options := arm.CredentialOptions{
		Kind: kind, TenantID: identity.TenantID, ClientID: identity.ClientID, TokenFile: identity.TokenFile,
		SendChain: identity.SendChain, AuxiliaryTenants: identity.AuxiliaryTenants,
		Cloud: configuration, CustomCloud: settings.Cloud == config.CloudCustom,
		DisableInstanceDiscovery: settings.DisableInstanceDiscovery, Transport: transport,
	}
	if err := errors.Join(transportErr, readSecrets(prefix, kind, identity, &options)); err != nil {
		return arm.Options{}, err
	}
	key := fmt.Sprintf("%q", []any{kind, identity, settings})
	credential, shared := credentials[key]
	if !shared {
		if credential, err = arm.NewCredential(options); err != nil {
			return arm.Options{}, fmt.Errorf("%s %w", strings.TrimSuffix(prefix, "."), err)
		}
		credentials[key] = credential
	}
	return arm.Options{
		Cloud: configuration, Credential: credential, Transport: transport, AuxiliaryTenants: identity.AuxiliaryTenants,
		VaultSuffix: arm.VaultSuffix(cloudOptions), Description: describeCredential(kind, identity), Throttle: throttle.For(key),
	}, nil
}

// describeCredential returns a credential as text without secrets.
func describeCredential(kind string, identity config.Identity) string {
	text := kind
	if identity.ClientID != "" {
		text += " " + identity.ClientID
	}
	if identity.TenantID != "" {
		text += " of tenant " + identity.TenantID
	}
	return text
}

// readSecrets reads the secrets that this kind of credential needs.
func readSecrets(prefix, kind string, identity config.Identity, into *arm.CredentialOptions) error {
	var err error
	switch kind {
	case config.CredentialClientSecret:
		if into.ClientSecret, err = identity.ClientSecret.Read(); err != nil {
			return fmt.Errorf("%sclient-secret: %w", prefix, err)
		}
	case config.CredentialClientCertificate:
		if into.CertificatePassword, err = identity.CertificatePassword.Read(); err != nil {
			return fmt.Errorf("%scertificate-password: %w", prefix, err)
		}
		if into.Certificate, err = os.ReadFile(identity.Certificate); err != nil {
			return fmt.Errorf("%scertificate: %w", prefix, err)
		}
	}
	return nil
}

// endpoint returns the address of ARM for the default connection.
func (a *azure) endpoint() string { return a.options.Cloud.Services[cloud.ResourceManager].Endpoint }

// audience returns the audience of the tokens of the default connection.
func (a *azure) audience() string { return a.options.Cloud.Services[cloud.ResourceManager].Audience }

// verify reports an untrusted CA and a refused credential, which retries do not fix.
// An unreachable endpoint is no error here.
func (a *azure) verify(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, verifyTimeout)
	defer cancel()
	var problems []error
	if err := a.reach(ctx); arm.IsUntrustedCertificate(err) {
		problems = append(problems, fmt.Errorf("azure.ca-file: no trusted authority signed the certificate of %s: %w", a.endpoint(), err))
	}
	if a.options.Credential != nil {
		_, err := a.options.Credential.GetToken(ctx, policy.TokenRequestOptions{Scopes: []string{a.audience() + "/.default"}})
		_, refused := errors.AsType[*arm.Error](err)
		switch {
		case arm.IsUntrustedCertificate(err):
			problems = append(problems, fmt.Errorf("azure.ca-file: no trusted authority signed the certificate of the token authority: %w", err))
		case refused:
			problems = append(problems, fmt.Errorf("azure.credential: %w", err))
		}
	}
	return errors.Join(problems...)
}

// reach reports whether the endpoint responds at all: it sends HEAD of the root
// without a token, which costs nothing of a subscription's budget.
func (a *azure) reach(ctx context.Context) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodHead, a.endpoint()+"/", http.NoBody)
	if err != nil {
		return fmt.Errorf("reach ARM: %w", err)
	}
	response, err := a.options.Transport.Do(request)
	if err != nil {
		if inner, ok := errors.AsType[*url.Error](err); ok {
			err = inner.Err
		}
		return fmt.Errorf("reach ARM at %s: %w", a.endpoint(), err)
	}
	return response.Body.Close()
}
