// Package config owns the worker's configuration: one file, ARMATURE_*
// variables and flags, flags over variables over file over defaults. It is the
// only package that knows viper. It must not know how a value is used: it
// checks form and safety, service builds from it. The Temporal connection is
// not here: it is configured as every Temporal tool is, by TEMPORAL_* variables
// and profiles.
package config

import (
	"time"
)

// Config is the worker's whole configuration. The zero value is not valid;
// start from [Default] or [Load].
type Config struct {
	// TaskQueue is the Temporal task queue that the worker serves.
	TaskQueue string `mapstructure:"task-queue"`
	Log       Log    `mapstructure:"log"`
	HTTP      HTTP   `mapstructure:"http"`
	Azure     Azure  `mapstructure:"azure"`
	// Credentials are further credentials by name; they come from the file only.
	Credentials map[string]Credential `mapstructure:"credentials"`
	Secrets     Secrets
	Rules       Rules
	// RereadWindow is how long a repeated PUT activity reads before it believes
	// a 404. Tests shorten it.
	RereadWindow time.Duration `mapstructure:"reread-window"`
	// StopTimeout is how long activities in flight may go on at a stop.
	StopTimeout time.Duration `mapstructure:"stop-timeout"`
	// PutBudget bounds the PUTs of one worker and hour that correct drift; 0 = no
	// bound.
	PutBudget int `mapstructure:"put-budget"`
	// WorkflowCache is how many sleeping workflows the process keeps in memory. A
	// pass of another one begins with a replay of its history.
	WorkflowCache int `mapstructure:"workflow-cache"`
	// OverdueAfter is how long a resource may be blocked or not ready before its
	// condition is an error, a metric and a log event; 0 = never.
	OverdueAfter time.Duration `mapstructure:"overdue-after"`
	// OverdueExempt are words of ARM's states, with commas: what rests in one is
	// never overdue.
	OverdueExempt string `mapstructure:"overdue-exempt"`
	// MaskKey keys the hashes that stand for secret values in histories. Workers
	// of one task queue need the same one. Zero: see service.
	MaskKey Reference `mapstructure:"mask-key"`
}

// Log says what the worker writes to standard error.
type Log struct {
	// Level is debug, info, warn or error.
	Level string
	// Format is json or text.
	Format string
}

// HTTP says where health and metrics are served.
type HTTP struct {
	// Listen is host:port of /healthz, /readyz and /metrics; "" serves none.
	Listen string
}

// Azure says which cloud the worker talks to, and as whom.
type Azure struct {
	CloudSettings `mapstructure:",squash"`
	// RegisterProviders registers a provider in a subscription that lacks it; off,
	// the resource says what to run.
	RegisterProviders bool `mapstructure:"register-providers"`
	// Credential is one of the Credential constants.
	Credential string
	Identity   `mapstructure:",squash"`
}

// Credential is one that manifests may name. The map's key is its name.
type Credential struct {
	// Kind is one of the Credential constants.
	Kind     string
	Identity `mapstructure:",squash"`
	// CloudSettings is the worker's own where Cloud is empty.
	CloudSettings `mapstructure:",squash"`
	// Subscriptions are the GUIDs that it is tied to: it serves no other, and these
	// where a manifest names no credential. None ties it to nothing.
	Subscriptions []string
}

// CloudSettings says where ARM and its tokens are.
type CloudSettings struct {
	// Cloud is one of the Cloud constants.
	Cloud string
	// Endpoint, Audience and AuthorityHost are those of [CloudCustom] and empty
	// for every other cloud.
	Endpoint      string
	Audience      string
	AuthorityHost string `mapstructure:"authority-host"`
	// CAFile is a PEM file of additional authorities; "" for the system's alone.
	CAFile string `mapstructure:"ca-file"`
	// DisableInstanceDiscovery keeps the authority from being checked against
	// Microsoft's list. It is on by itself for [CloudCustom].
	DisableInstanceDiscovery bool `mapstructure:"disable-instance-discovery"`
	// VaultSuffix is what the hosts of a custom cloud's key vaults end with; "" is
	// the cloud's own, which a custom one has none of.
	VaultSuffix string `mapstructure:"vault-suffix"`
}

// Identity says who the worker is. The secrets themselves are never part of a
// Config.
type Identity struct {
	TenantID string `mapstructure:"tenant-id"`
	// ClientID is an application's ID; for managed-identity the client ID or the
	// resource ID of a user-assigned one, "" for the system-assigned.
	ClientID     string    `mapstructure:"client-id"`
	ClientSecret Reference `mapstructure:"client-secret"`
	// Certificate is a PEM or PKCS#12 file with its key.
	Certificate         string
	CertificatePassword Reference `mapstructure:"certificate-password"`
	// SendChain sends the certificate with each token request.
	SendChain bool `mapstructure:"send-certificate-chain"`
	// TokenFile is the federated token of workload-identity.
	TokenFile string `mapstructure:"token-file"`
	// AuxiliaryTenants are those whose tokens go with each request, at most three.
	AuxiliaryTenants []string `mapstructure:"auxiliary-tenants"`
}

// Secrets is the allow-list of $secret in manifests.
type Secrets struct {
	// EnvPrefix begins the names of the variables that manifests may name; ""
	// allows none.
	EnvPrefix string `mapstructure:"env-prefix"`
	// Dir is the one folder whose files manifests may name; "" allows none.
	Dir string
}

// Rules says where the worker's rule files are.
type Rules struct {
	// Path is a rule file or a folder of them; "" is no rules.
	Path string
	// Reload is how often they are looked at again; 0 never does.
	Reload time.Duration
}

// Clouds that azure.cloud may name.
const (
	CloudPublic     = "public"
	CloudGovernment = "government"
	CloudChina      = "china"
	CloudCustom     = "custom"
)

// Credentials that azure.credential and credentials.NAME.kind may name.
const (
	CredentialDefault           = "default"
	CredentialWorkloadIdentity  = "workload-identity"
	CredentialManagedIdentity   = "managed-identity"
	CredentialClientSecret      = "client-secret"
	CredentialClientCertificate = "client-certificate"
	CredentialAzureCLI          = "azure-cli"
	CredentialNone              = "none"
)

// Default is the configuration that holds when nothing is said.
func Default() Config {
	loaded, _ := decode(newViper())
	return loaded
}
