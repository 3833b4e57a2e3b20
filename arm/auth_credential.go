package arm

import (
	"errors"
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
)

// The kinds of credentials.
const (
	CredentialDefault           = "default"
	CredentialWorkloadIdentity  = "workload-identity"
	CredentialManagedIdentity   = "managed-identity"
	CredentialClientSecret      = "client-secret"
	CredentialClientCertificate = "client-certificate"
	CredentialAzureCLI          = "azure-cli"
	CredentialNone              = "none"
)

// CredentialKinds returns all kinds.
func CredentialKinds() []string {
	return []string{
		CredentialDefault, CredentialWorkloadIdentity, CredentialManagedIdentity, CredentialClientSecret,
		CredentialClientCertificate, CredentialAzureCLI, CredentialNone,
	}
}

// CredentialOptions configures a source of tokens.
type CredentialOptions struct {
	// Kind is one of CredentialKinds; "" is default: azidentity's chain, which
	// AZURE_TOKEN_CREDENTIALS narrows.
	Kind string
	// TenantID is for every kind but managed-identity and none. ClientID is for
	// client-secret, client-certificate and workload-identity, and names a
	// user-assigned managed identity by its client ID or resource ID. "" leaves
	// both to the environment where azidentity reads it.
	TenantID, ClientID, ClientSecret string
	// Certificate is PEM or PKCS#12 with its key, CertificatePassword its password.
	// SendChain sends the certificate with each request, for subject name and issuer
	// authentication.
	Certificate         []byte
	CertificatePassword string
	SendChain           bool
	// TokenFile is the file with the federated token of workload-identity; "" is
	// AZURE_FEDERATED_TOKEN_FILE.
	TokenFile string
	// AuxiliaryTenants are tenants besides TenantID that may issue tokens.
	AuxiliaryTenants []string
	// Cloud is the ARM client's; its authority host issues the tokens.
	Cloud cloud.Configuration
	// CustomCloud is set where Cloud is none of Azure's own: it disables instance
	// discovery, which queries Azure's public login.
	CustomCloud              bool
	DisableInstanceDiscovery bool
	// Transport reaches the authority host (see NewTransport); nil is one with the
	// system's authorities.
	Transport policy.Transporter
}

// NewCredential returns a credential, or all errors of the options; it sends
// nothing. The kind none gives nil, which NewClient accepts to loopback only.
func NewCredential(options CredentialOptions) (azcore.TokenCredential, error) {
	if options.Kind == "" {
		options.Kind = CredentialDefault
	}
	if options.Kind == CredentialNone {
		return nil, nil
	}
	transport, err := tokenTransport(options.Transport, options.Kind == CredentialManagedIdentity)
	if err != nil {
		return nil, err
	}
	if err := options.check(); err != nil {
		return nil, err
	}
	credential, err := options.build(policy.ClientOptions{
		Cloud:     options.Cloud,
		Retry:     policy.RetryOptions{MaxRetries: -1},
		Transport: transport,
	}, options.DisableInstanceDiscovery || options.CustomCloud)
	if err != nil {
		return nil, fmt.Errorf("configure credential %s: %s", options.Kind, maskAll(err.Error(), options.secrets()))
	}
	return &guardedCredential{inner: credential, secrets: options.secrets()}, nil
}

// build returns azidentity's credential of the kind.
func (o CredentialOptions) build(client policy.ClientOptions, disableDiscovery bool) (azcore.TokenCredential, error) {
	switch o.Kind {
	case CredentialDefault:
		return azidentity.NewDefaultAzureCredential(&azidentity.DefaultAzureCredentialOptions{
			ClientOptions: client, DisableInstanceDiscovery: disableDiscovery, TenantID: o.TenantID, AdditionallyAllowedTenants: o.AuxiliaryTenants,
		})
	case CredentialWorkloadIdentity:
		return azidentity.NewWorkloadIdentityCredential(&azidentity.WorkloadIdentityCredentialOptions{
			ClientOptions: client, DisableInstanceDiscovery: disableDiscovery, AdditionallyAllowedTenants: o.AuxiliaryTenants,
			TenantID: o.TenantID, ClientID: o.ClientID, TokenFilePath: o.TokenFile,
		})
	case CredentialManagedIdentity:
		return azidentity.NewManagedIdentityCredential(&azidentity.ManagedIdentityCredentialOptions{ClientOptions: client, ID: managedID(o.ClientID)})
	case CredentialClientSecret:
		return azidentity.NewClientSecretCredential(o.TenantID, o.ClientID, o.ClientSecret, &azidentity.ClientSecretCredentialOptions{
			ClientOptions: client, DisableInstanceDiscovery: disableDiscovery, AdditionallyAllowedTenants: o.AuxiliaryTenants,
		})
	case CredentialClientCertificate:
		certificates, key, err := azidentity.ParseCertificates(o.Certificate, []byte(o.CertificatePassword))
		if err != nil {
			return nil, errors.New("cannot read the certificate: it must be PEM with an unencrypted key, or PKCS#12 with its password")
		}
		return azidentity.NewClientCertificateCredential(o.TenantID, o.ClientID, certificates, key, &azidentity.ClientCertificateCredentialOptions{
			ClientOptions: client, DisableInstanceDiscovery: disableDiscovery, AdditionallyAllowedTenants: o.AuxiliaryTenants,
			SendCertificateChain: o.SendChain,
		})
	case CredentialAzureCLI:
		return azidentity.NewAzureCLICredential(&azidentity.AzureCLICredentialOptions{TenantID: o.TenantID, AdditionallyAllowedTenants: o.AuxiliaryTenants})
	}
	return nil, fmt.Errorf("unknown kind; use one of %s", strings.Join(CredentialKinds(), ", "))
}

// managedID returns a user-assigned identity, nil for the system-assigned one.
func managedID(id string) azidentity.ManagedIDKind {
	switch {
	case id == "":
		return nil
	case strings.HasPrefix(id, "/"):
		return azidentity.ResourceID(id)
	}
	return azidentity.ClientID(id)
}

// secrets returns the values that no error may contain.
func (o CredentialOptions) secrets() []string { return []string{o.ClientSecret, o.CertificatePassword} }

// check returns one error for each missing option.
func (o CredentialOptions) check() error {
	type option struct{ name, value string }
	var required []option
	switch o.Kind {
	case CredentialClientSecret:
		required = []option{{"tenant ID", o.TenantID}, {"client ID", o.ClientID}, {"client secret", o.ClientSecret}}
	case CredentialClientCertificate:
		required = []option{{"tenant ID", o.TenantID}, {"client ID", o.ClientID}, {"certificate", string(o.Certificate)}}
	}
	var missing []error
	for _, option := range required {
		if option.value == "" {
			missing = append(missing, fmt.Errorf("configure credential %s: %s required", o.Kind, option.name))
		}
	}
	// Without this, azidentity would send the credential of a private cloud to the
	// public login.
	authority := o.Kind == CredentialClientSecret || o.Kind == CredentialClientCertificate || o.Kind == CredentialWorkloadIdentity
	if authority && o.CustomCloud && o.Cloud.ActiveDirectoryAuthorityHost == "" {
		missing = append(missing, fmt.Errorf("configure credential %s: a custom cloud requires an authority host", o.Kind))
	}
	return errors.Join(missing...)
}
