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
	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/config"
)

// verifyTimeout bounds the look at credential and CA before anything runs. Who
// does not answer in time is out of reach, which is no fault.
const verifyTimeout = 10 * time.Second

// azure is the ARM client and what its own connection is made of.
type azure struct {
	client *arm.Client
	own    arm.Options
}

// newAzure builds the ARM client with all its connections, without a request.
func newAzure(settings config.Config, version string, observe func(arm.Request)) (*azure, error) {
	known := map[string]azcore.TokenCredential{}
	own, err := connection(known, "azure.", settings.Azure.Credential, settings.Azure.EffectiveIdentity(), settings.Azure.CloudSettings)
	faults := []error{err}
	own.Connections = map[string]arm.Connection{}
	for _, name := range slices.Sorted(maps.Keys(settings.Credentials)) {
		credential := settings.Credentials[name]
		options, err := connection(known, "credentials."+name+".", credential.Kind, credential.Identity, credential.EffectiveCloud(settings.Azure))
		faults = append(faults, err)
		own.Connections[name] = arm.Connection{Options: options, Subscriptions: credential.Subscriptions}
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	own.Version, own.Observer, own.Throttle = version, observe, arm.NewThrottle(arm.ThrottleOptions{})
	client, err := arm.NewClient(own)
	if err != nil {
		return nil, err
	}
	return &azure{client: client, own: own}, nil
}

// connection is where and as whom requests go. Equal identities share one
// credential, and with it its tokens.
func connection(known map[string]azcore.TokenCredential, prefix, kind string, who config.Identity, at config.CloudSettings) (arm.Options, error) {
	where := arm.CloudOptions{
		Name: at.Cloud, Endpoint: at.Endpoint, Audience: at.Audience, AuthorityHost: at.AuthorityHost, VaultSuffix: at.VaultSuffix,
	}
	configuration, err := arm.CloudConfiguration(where)
	if err != nil {
		return arm.Options{}, fmt.Errorf("%scloud: %w", prefix, err)
	}
	transport, transportErr := arm.NewTransport(arm.TransportOptions{CAFile: at.CAFile, Cloud: configuration})
	if transportErr != nil {
		transportErr = fmt.Errorf("%sca-file: %w", prefix, transportErr)
	}
	options := arm.CredentialOptions{
		Kind: kind, TenantID: who.TenantID, ClientID: who.ClientID, TokenFile: who.TokenFile,
		SendChain: who.SendChain, AuxiliaryTenants: who.AuxiliaryTenants,
		Cloud: configuration, CustomCloud: at.Cloud == config.CloudCustom,
		DisableInstanceDiscovery: at.DisableInstanceDiscovery, Transport: transport,
	}
	if err := errors.Join(transportErr, readSecrets(prefix, kind, who, &options)); err != nil {
		return arm.Options{}, err
	}
	key := fmt.Sprintf("%q", []any{kind, who, at})
	credential, shared := known[key]
	if !shared {
		if credential, err = arm.NewCredential(options); err != nil {
			return arm.Options{}, fmt.Errorf("%s %w", strings.TrimSuffix(prefix, "."), err)
		}
		known[key] = credential
	}
	return arm.Options{
		Cloud: configuration, Credential: credential, Transport: transport, AuxiliaryTenants: who.AuxiliaryTenants,
		VaultSuffix: arm.VaultSuffix(where), Description: about(kind, who),
	}, nil
}

// about is a credential in words, without anything secret.
func about(kind string, who config.Identity) string {
	text := kind
	if who.ClientID != "" {
		text += " " + who.ClientID
	}
	if who.TenantID != "" {
		text += " of tenant " + who.TenantID
	}
	return text
}

// readSecrets reads what only the kind needs.
func readSecrets(prefix, kind string, who config.Identity, into *arm.CredentialOptions) error {
	var err error
	switch kind {
	case config.CredentialClientSecret:
		if into.ClientSecret, err = who.ClientSecret.Read(); err != nil {
			return fmt.Errorf("%sclient-secret: %w", prefix, err)
		}
	case config.CredentialClientCertificate:
		if into.CertificatePassword, err = who.CertificatePassword.Read(); err != nil {
			return fmt.Errorf("%scertificate-password: %w", prefix, err)
		}
		if into.Certificate, err = os.ReadFile(who.Certificate); err != nil {
			return fmt.Errorf("%scertificate: %w", prefix, err)
		}
	}
	return nil
}

// endpoint is where the client's own connection finds ARM, audience what its
// tokens are for.
func (a *azure) endpoint() string { return a.own.Cloud.Services[cloud.ResourceManager].Endpoint }
func (a *azure) audience() string { return a.own.Cloud.Services[cloud.ResourceManager].Audience }

// verify tells a wrong CA and a refused credential, which time does not mend,
// from an endpoint that is out of reach, which is nil here.
func (a *azure) verify(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, verifyTimeout)
	defer cancel()
	var faults []error
	if err := a.reach(ctx); arm.IsUntrustedCertificate(err) {
		faults = append(faults, fmt.Errorf("azure.ca-file: no authority that is trusted signed the certificate of %s: %w", a.endpoint(), err))
	}
	if a.own.Credential != nil {
		_, err := a.own.Credential.GetToken(ctx, policy.TokenRequestOptions{Scopes: []string{a.audience() + "/.default"}})
		refused := (*arm.Error)(nil)
		switch {
		case arm.IsUntrustedCertificate(err):
			faults = append(faults, fmt.Errorf("azure.ca-file: no authority that is trusted signed the certificate of the token authority: %w", err))
		case errors.As(err, &refused):
			faults = append(faults, fmt.Errorf("azure.credential: %w", err))
		}
	}
	return errors.Join(faults...)
}

// reach asks for any answer of the endpoint: HEAD of its root, without a token,
// so that it costs nothing of a subscription's budget.
func (a *azure) reach(ctx context.Context) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodHead, a.endpoint()+"/", http.NoBody)
	if err != nil {
		return fmt.Errorf("reach ARM: %w", err)
	}
	response, err := a.own.Transport.Do(request)
	if err != nil {
		if inner := (*url.Error)(nil); errors.As(err, &inner) {
			err = inner.Err
		}
		return fmt.Errorf("reach ARM at %s: %w", a.endpoint(), err)
	}
	return response.Body.Close()
}
