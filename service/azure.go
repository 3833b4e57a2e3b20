package service

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
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

// azure is the ARM client and what it is made of.
type azure struct {
	client     *arm.Client
	transport  policy.Transporter
	credential azcore.TokenCredential
	endpoint   string
	audience   string
}

// newAzure builds the ARM client without a request.
func newAzure(settings config.Azure, version string, observe func(arm.Request)) (*azure, error) {
	configuration, err := arm.CloudConfiguration(arm.CloudOptions{
		Name: settings.Cloud, Endpoint: settings.Endpoint,
		Audience: settings.Audience, AuthorityHost: settings.AuthorityHost,
	})
	if err != nil {
		return nil, err
	}
	transport, transportErr := arm.NewTransport(arm.TransportOptions{CAFile: settings.CAFile, Cloud: configuration})
	if transportErr != nil {
		transportErr = fmt.Errorf("azure.ca-file: %w", transportErr)
	}
	secret, secretErr := clientSecret(settings)
	if err := errors.Join(transportErr, secretErr); err != nil {
		return nil, err
	}
	credential, err := arm.NewCredential(arm.CredentialOptions{
		Kind: settings.Credential, TenantID: settings.Tenant(), ClientID: settings.Client(), ClientSecret: secret,
		Cloud: configuration, CustomCloud: settings.Cloud == config.CloudCustom,
		DisableInstanceDiscovery: settings.DisableInstanceDiscovery, Transport: transport,
	})
	if err != nil {
		return nil, err
	}
	client, err := arm.NewClient(arm.Options{
		Cloud: configuration, Credential: credential, Transport: transport, Version: version, Observer: observe,
		Throttle: arm.NewThrottle(arm.ThrottleOptions{}),
	})
	if err != nil {
		return nil, err
	}
	service := configuration.Services[cloud.ResourceManager]
	return &azure{
		client: client, transport: transport, credential: credential,
		endpoint: service.Endpoint, audience: service.Audience,
	}, nil
}

func clientSecret(settings config.Azure) (string, error) {
	if settings.Credential != config.CredentialClientSecret {
		return "", nil
	}
	secret, err := settings.Secret().Read()
	if err != nil {
		return "", fmt.Errorf("azure.client-secret: %w", err)
	}
	return secret, nil
}

// verify tells a wrong CA and a refused credential, which time does not mend,
// from an endpoint that is out of reach, which is nil here.
func (a *azure) verify(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, verifyTimeout)
	defer cancel()
	var faults []error
	if err := a.reach(ctx); untrusted(err) {
		faults = append(faults, fmt.Errorf("azure.ca-file: no authority that is trusted signed the certificate of %s: %w", a.endpoint, err))
	}
	if a.credential != nil {
		_, err := a.credential.GetToken(ctx, policy.TokenRequestOptions{Scopes: []string{a.audience + "/.default"}})
		refused := (*arm.Error)(nil)
		switch {
		case untrusted(err):
			faults = append(faults, fmt.Errorf("azure.ca-file: no authority that is trusted signed the certificate of the token authority: %w", err))
		case errors.As(err, &refused):
			faults = append(faults, fmt.Errorf("azure.credential: %w", err))
		}
	}
	return errors.Join(faults...)
}

// untrusted tells a certificate that does not verify from a network fault.
func untrusted(err error) bool {
	var verification *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var hostname x509.HostnameError
	return errors.As(err, &verification) || errors.As(err, &authority) || errors.As(err, &hostname)
}

// reach asks for any answer of the endpoint: HEAD of its root, without a token,
// so that it costs nothing of a subscription's budget.
func (a *azure) reach(ctx context.Context) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodHead, a.endpoint+"/", http.NoBody)
	if err != nil {
		return fmt.Errorf("reach ARM: %w", err)
	}
	response, err := a.transport.Do(request)
	if err != nil {
		if inner := (*url.Error)(nil); errors.As(err, &inner) {
			err = inner.Err
		}
		return fmt.Errorf("reach ARM at %s: %w", a.endpoint, err)
	}
	return response.Body.Close()
}
