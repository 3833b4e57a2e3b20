package resource

import (
	"strings"
	"time"
)

// Export is a value of a resource that is written to a secret of a key vault.
type Export struct {
	// To is VaultScheme followed by the identifier of the secret, without a version.
	To   string       `json:"to"`
	From ExportSource `json:"from"`
	// Policy "" replaces the secret.
	Policy ExportPolicy `json:"policy,omitempty"`
	// Tags are tags of the secret beside the one of Armature (ExportTag).
	Tags map[string]string `json:"tags,omitempty"`
	// Interval is the time between two comparisons; 0 is every pass.
	Interval time.Duration `json:"interval,omitempty"`
}

// ExportSource states where the value comes from: a path or a text with expressions, in
// the observed body, or in the answer of an action.
type ExportSource struct {
	// Action is the name of an action that lists values, "" for none.
	Action string `json:"action,omitempty"`
	// Path leads into the answer of the action, or without one into the observed body.
	Path string `json:"path,omitempty"`
	// Text has expressions in ${}, which read the observed body (properties.x) and the
	// answer of the action (action.x).
	Text string `json:"text,omitempty"`
}

// ExportPolicy defines what happens to a secret that exists.
type ExportPolicy string

// The policies. Replace writes a new version when the value differs. IfAbsent writes a
// secret once, and leaves any that exists.
const (
	ExportReplace  ExportPolicy = "replace"
	ExportIfAbsent ExportPolicy = "if-absent"
)

// ExportTag is the tag by which Armature knows the secrets that it wrote. Its value names
// the resource.
const ExportTag = "armature-export"

// Limits of Key Vault (https://learn.microsoft.com/azure/key-vault/secrets/about-secrets
// and .../general/about-keys-secrets-certificates).
const (
	// MaxSecretBytes is the maximum size of a secret.
	MaxSecretBytes = 25_000
	// MaxSecretTags is the maximum of tags of a secret, MaxSecretTagRunes the maximum
	// length of the name and of the value of each.
	MaxSecretTags     = 15
	MaxSecretTagRunes = 256
)

// Target returns the secret to write.
func (e Export) Target() (VaultSecret, error) {
	identifier, found := strings.CutPrefix(e.To, VaultScheme)
	if !found {
		return VaultSecret{}, errExportTarget
	}
	secret, err := ParseVaultSecret(identifier)
	if err != nil || secret.Version != "" {
		return VaultSecret{}, errExportTarget
	}
	return secret, nil
}

// Exporting returns the exports of a spec that may be written: none where the policy
// forbids every write.
func (d Desired) Exporting() []Export {
	if d.Policy == PolicyObserve {
		return nil
	}
	return d.Exports
}

// VaultPattern allows secrets of one key vault: one name, or all that begin with a prefix.
type VaultPattern struct {
	host, name string
	isPrefix   bool
}

// ParseVaultPattern parses https://VAULT.SUFFIX/secrets/NAME, where NAME may end with *.
func ParseVaultPattern(text string) (VaultPattern, error) {
	trimmed, isPrefix := strings.CutSuffix(text, "*")
	identifier := trimmed
	if isPrefix {
		identifier += "0" // any character of a name, so that a prefix may be empty
	}
	secret, err := ParseVaultSecret(identifier)
	if err != nil || secret.Version != "" {
		return VaultPattern{}, errVaultPattern
	}
	name := secret.Name
	if isPrefix {
		name = strings.TrimSuffix(name, "0")
	}
	return VaultPattern{host: secret.Host, name: strings.ToLower(name), isPrefix: isPrefix}, nil
}

// Allows reports whether the pattern matches a secret. Key Vault ignores the case of names.
func (p VaultPattern) Allows(secret VaultSecret) bool {
	name := strings.ToLower(secret.Name)
	return secret.Host == p.host && (name == p.name || p.isPrefix && strings.HasPrefix(name, p.name))
}
