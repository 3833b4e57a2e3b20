package armsim

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// VaultSecret is a secret of a key vault with its versions, oldest first.
type VaultSecret struct {
	Vault    string         `json:"vault"`
	Name     string         `json:"name"`
	Deleted  bool           `json:"deleted,omitempty"`
	Versions []VaultVersion `json:"versions"`
}

// VaultDenial refuses requests to key vaults. Code is the inner code of the 403:
// ForbiddenByRbac (the default), AccessDenied for an access policy, ForbiddenByFirewall.
type VaultDenial struct {
	Vault  string `json:"vault,omitempty"`  // glob
	Method string `json:"method,omitempty"` // "" for all
	Code   string `json:"code,omitempty"`
}

// VaultChange changes a secret out of band: it adds a version, disables or enables the
// newest one, or deletes the secret.
type VaultChange struct {
	Vault   string            `json:"vault"`
	Name    string            `json:"name"`
	Value   string            `json:"value,omitempty"`
	Tags    map[string]string `json:"tags,omitempty"`
	Enabled *bool             `json:"enabled,omitempty"`
	Deleted bool              `json:"deleted,omitempty"`
}

// VaultSecrets returns the secrets of all key vaults, by vault and name.
func (s *Simulator) VaultSecrets() []VaultSecret {
	s.mu.Lock()
	defer s.mu.Unlock()
	shown := []VaultSecret{}
	for _, key := range slices.Sorted(maps.Keys(s.vaultSecrets)) {
		secret := s.vaultSecrets[key]
		one := VaultSecret{Vault: secret.vault, Name: secret.name, Deleted: secret.deleted}
		for _, version := range secret.versions {
			one.Versions = append(one.Versions, *version)
		}
		shown = append(shown, one)
	}
	return shown
}

// ChangeVault changes a secret out of band.
func (s *Simulator) ChangeVault(change VaultChange) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if change.Value != "" {
		s.log.addSecrets([]string{change.Value})
		s.addVaultVersion(strings.ToLower(change.Vault), change.Name, change.Value, change.Tags)
	}
	secret := s.vaultSecrets[vaultKey(change.Vault, change.Name)]
	if secret == nil {
		return
	}
	if change.Enabled != nil {
		secret.newest().Enabled = *change.Enabled
	}
	secret.deleted = change.Deleted
}

// DenyVault adds a denial.
func (s *Simulator) DenyVault(denial VaultDenial) {
	s.locked(func() { s.vaultDenials = append(s.vaultDenials, denial) })
}

// AllowVaults removes all denials of key vaults.
func (s *Simulator) AllowVaults() { s.locked(func() { s.vaultDenials = nil }) }

// KeyChange regenerates a key of a resource out of band: primary, secondary, key1, ...
type KeyChange struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// RegenerateKey changes a key, as the service's own action does.
func (s *Simulator) RegenerateKey(change KeyChange) error {
	defer s.As(Author{}).lock()()
	r := s.find(change.ID)
	if r == nil {
		return fmt.Errorf("there is no resource %s", change.ID)
	}
	s.keyRounds[r.guid+"/"+change.Name]++
	s.recordAction(r, "regenerateKey")
	return nil
}
