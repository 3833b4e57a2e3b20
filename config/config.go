// Package config owns the worker's configuration: one file, ARMATURE_* variables and
// flags, flags over variables over file over defaults. It is the only package that
// imports viper. It must not know how a value is used: it checks form and safety, and
// service builds from it. The Temporal connection is configured as for every Temporal
// tool, by TEMPORAL_* variables and profiles, and is not part of it.
//
// The worker uses this package. It promises no stability to other programs.
package config

import "time"

// Config is the worker's whole configuration. The zero value is not valid;
// start from [Default] or [Load].
type Config struct {
	// TaskQueue is the Temporal task queue that the worker serves.
	TaskQueue string `mapstructure:"task-queue"`
	Log       Log    `mapstructure:"log"`
	HTTP      HTTP   `mapstructure:"http"`
	Metrics   Metrics
	Azure     Azure `mapstructure:"azure"`
	// Credentials are additional credentials by name; they come from the file only.
	Credentials map[string]Credential `mapstructure:"credentials"`
	// Secrets are for the resources of the worker's own credential, and for all where no
	// credential is tied or has its own: see [Config.SecretsOf].
	Secrets Secrets
	// Export is for the resources of the worker's own credential: see [Config.ExportOf].
	Export Export
	Rules  Rules
	Feed   Feed
	// ReadOnly is a worker that sends nothing that could change Azure.
	ReadOnly bool `mapstructure:"read-only"`
	// Observe selects the resources that are only observed: ObserveAll, selectors k=v,k=v
	// separated by semicolons, or "" for none.
	Observe Observe
	// StartFrozen names the start after which nothing is written until a user lifts the
	// freeze: once for each name, or at every start for StartAlways. "" is none.
	StartFrozen Start `mapstructure:"start-frozen"`
	// GenerationFence is FenceOff or FenceBlob; FenceContainer is the URL of the blob
	// container.
	GenerationFence string `mapstructure:"generation-fence"`
	FenceContainer  string `mapstructure:"generation-fence-container"`
	// RereadWindow is how long a read that contradicts an accepted write, or shows a known
	// resource as absent, is repeated before it counts. Tests shorten it.
	RereadWindow time.Duration `mapstructure:"reread-window"`
	// SettleTime is how long after an accepted PUT an absent resource is no disappearance.
	SettleTime time.Duration `mapstructure:"settle-time"`
	// StopTimeout is the time for running activities to finish at shutdown.
	StopTimeout time.Duration `mapstructure:"stop-timeout"`
	// PutBudget is the maximum of PUTs per hour with which the workers of the task queue
	// correct drift, DisappearanceBudget with which they recreate what was deleted
	// outside Armature; 0 is unlimited.
	PutBudget           int `mapstructure:"put-budget"`
	DisappearanceBudget int `mapstructure:"disappearance-budget"`
	// WorkflowCache is the number of idle workflows that the process keeps in memory. A
	// pass of any other begins with a replay of its history.
	WorkflowCache int `mapstructure:"workflow-cache"`
	Worker        Worker
	// OverdueAfter is how long a resource may be blocked or not ready before that is
	// reported as an error; 0 is never.
	OverdueAfter time.Duration `mapstructure:"overdue-after"`
	// OverdueExempt lists ARM states, separated by commas: a resource in one of them is
	// never overdue.
	OverdueExempt string `mapstructure:"overdue-exempt"`
	Signing       Signing
	Encryption    Encryption
	Audit         Audit
	Callers       Callers
	// MaskKey is the key of the hashes that replace secret values in histories. All
	// workers of a task queue need the same one. "" and MaskKeyNone: see CheckMaskKey.
	MaskKey Reference `mapstructure:"mask-key"`
}

// Values of generation-fence.
const (
	FenceOff  = "off"
	FenceBlob = "blob"
)

// Observe selects resources by labels.
type Observe string

// ObserveAll is the Observe of every resource.
const ObserveAll Observe = "true"

// Start is the name of a start after a restore.
type Start string

// StartAlways is the Start that freezes at every start of a worker.
const StartAlways Start = "true"

// Log configures the output on standard error.
type Log struct {
	// Level is debug, info, warn or error.
	Level string
	// Format is json or text.
	Format string
}

// HTTP configures the address of health and metrics.
type HTTP struct {
	// Listen is host:port of /healthz, /readyz and /metrics; "" disables them.
	Listen string
}

// Metrics configures the metrics of the state of resources.
type Metrics struct {
	// Interval is the time between two counts of the resources; 0 is none.
	Interval time.Duration
	// Label is the label of manifests by whose values they are counted too; "" is none.
	Label string
}

// Azure is the worker's cloud and identity.
type Azure struct {
	CloudSettings `mapstructure:",squash"`
	// RegisterProviders registers missing resource providers in subscriptions; when off,
	// the resource's status has the command to run.
	RegisterProviders bool `mapstructure:"register-providers"`
	// BudgetShare is the part of each subscription's request budget that may be used.
	BudgetShare float64 `mapstructure:"budget-share"`
	// UserAgentSuffix ends the User-Agent of requests to ARM.
	UserAgentSuffix string `mapstructure:"user-agent-suffix"`
	// Credential is one of the Credential constants.
	Credential string
	Identity   `mapstructure:",squash"`
}

// Credential is a credential that manifests may name. The map's key is its name.
type Credential struct {
	// Kind is one of the Credential constants.
	Kind     string
	Identity `mapstructure:",squash"`
	// CloudSettings are the worker's own where Cloud is empty.
	CloudSettings `mapstructure:",squash"`
	// Subscriptions are the GUIDs that it is restricted to: it serves no other, and
	// these where a manifest names no credential. Empty is unrestricted.
	Subscriptions []string
	// MayRead are further GUIDs from which it may read, for references.
	MayRead []string `mapstructure:"may-read"`
	// Tied is TiedStrict where no other credential serves Subscriptions, else "".
	Tied string
	// Secrets are its own; see [Config.SecretsOf].
	Secrets Secrets
	// Export is its own; see [Config.ExportOf].
	Export Export
	// FeedQueue is the URL of its storage queue of changes; "" is none.
	FeedQueue string `mapstructure:"feed-queue"`
}

// TiedStrict is the value of Credential.Tied that refuses every other credential.
const TiedStrict = "strict"

// CloudSettings are the addresses of ARM and its tokens.
type CloudSettings struct {
	// Cloud is one of the Cloud constants.
	Cloud string
	// Endpoint, Audience and AuthorityHost are for [CloudCustom], and empty for every
	// other cloud.
	Endpoint      string
	Audience      string
	AuthorityHost string `mapstructure:"authority-host"`
	// CAFile is a PEM file of additional certificate authorities; "" is none.
	CAFile string `mapstructure:"ca-file"`
	// DisableInstanceDiscovery skips the check of the authority against Microsoft's
	// list. It is always on for [CloudCustom].
	DisableInstanceDiscovery bool `mapstructure:"disable-instance-discovery"`
	// VaultSuffix is the suffix of the hosts of a custom cloud's key vaults; "" is the
	// cloud's own, which a custom cloud does not have.
	VaultSuffix string `mapstructure:"vault-suffix"`
}

// Identity identifies the worker. Secrets are never part of a Config, only references
// to them.
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
	// AuxiliaryTenants are additional tenants for the tokens of each request, at most
	// three.
	AuxiliaryTenants []string `mapstructure:"auxiliary-tenants"`
}

// Signing configures the signatures that specs and deletions need.
type Signing struct {
	// PublicKeys are Ed25519 keys in base64; none checks no signatures.
	PublicKeys []string `mapstructure:"public-keys"`
	// Mode is SigningRequire or SigningWarn.
	Mode string
	// MaxAge is how long a signed spec counts, 0 for ever.
	MaxAge time.Duration `mapstructure:"max-age"`
}

// Modes of Signing.
const (
	SigningRequire = "require"
	SigningWarn    = "warn"
)

// Rules configures the worker's rule files.
type Rules struct {
	// Path is a rule file or a folder of them; "" is no rules.
	Path string
	// Reload is the interval at which changed files are loaded; 0 disables it.
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

// Default returns the configuration without file, variables and flags.
func Default() Config {
	loaded, _ := decode(newViper())
	return loaded
}
