// Package keyref parses the references to encryption keys that the configuration of worker
// and CLI share. It must not read keys.
package keyref

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// Kind is where a key is.
type Kind string

// The kinds, in the form in which a reference begins with them.
const (
	// Env is an environment variable with the key in hex or base64.
	Env Kind = "env"
	// File is a file with the key in hex or base64.
	File Kind = "file"
	// Vault is a secret of a key vault with the key in hex or base64.
	Vault Kind = "keyvault"
	// Wrapped is a file with the key as a key of a key vault has wrapped it.
	Wrapped Kind = "wrapped"
)

// Ref is a key's ID and place.
type Ref struct {
	ID   string
	Kind Kind
	// At is the name of the variable, the path of the file or the URL of the secret.
	At string
}

// String returns the reference without the ID. It contains no key.
func (r Ref) String() string { return string(r.Kind) + ":" + r.At }

var (
	idPattern     = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)
	envPattern    = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	secretPattern = regexp.MustCompile(`^/secrets/[0-9A-Za-z-]{1,127}(/[0-9A-Fa-f]{32})?$`)
)

// errForm never repeats the text, which may be the key itself.
var errForm = errors.New("write each key as ID=env:NAME, ID=file:PATH, ID=keyvault:https://VAULT.vault.azure.net/secrets/NAME or ID=wrapped:PATH, never as the key itself; an ID has 1 to 64 letters, digits and the characters . _ -")

// Parse parses references of the form ID=KIND:PLACE. The error names the position of each
// that is not valid.
func Parse(entries []string) ([]Ref, error) {
	var refs []Ref
	var problems []error
	seen := map[string]bool{}
	for i, entry := range entries {
		ref, err := parse(strings.TrimSpace(entry))
		switch {
		case err != nil:
			problems = append(problems, fmt.Errorf("key %d of %d: %w", i+1, len(entries), err))
		case seen[ref.ID]:
			problems = append(problems, fmt.Errorf("the ID %s is used twice; another key needs another ID", ref.ID))
		}
		seen[ref.ID] = true
		refs = append(refs, ref)
	}
	return refs, errors.Join(problems...)
}

func parse(entry string) (Ref, error) {
	id, place, found := strings.Cut(entry, "=")
	kind, at, separated := strings.Cut(place, ":")
	if !found || !separated || !idPattern.MatchString(id) || at == "" {
		return Ref{}, errForm
	}
	ref := Ref{ID: id, Kind: Kind(kind), At: at}
	switch ref.Kind {
	case File, Wrapped:
		return ref, nil
	case Env:
		if envPattern.MatchString(at) {
			return ref, nil
		}
	case Vault:
		parsed, err := url.Parse(at)
		if err == nil && parsed.Scheme == "https" && parsed.Host != "" && parsed.User == nil && parsed.RawQuery == "" && parsed.Fragment == "" && secretPattern.MatchString(parsed.Path) {
			return ref, nil
		}
	}
	return Ref{}, errForm
}

// CheckWriteKey returns an error if the key for writing is not one of the keys.
func CheckWriteKey(refs []Ref, id string) error {
	if id == "" {
		return nil
	}
	for _, ref := range refs {
		if ref.ID == id {
			return nil
		}
	}
	return fmt.Errorf("%q is the ID of no key in encryption.keys; add the key, or choose one of them", id)
}

// ParseRequire returns the time from which on runs have no clear payloads, the zero time for "".
// Without a key for writing, others would refuse every message of this program.
func ParseRequire(text, writeKey string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	since, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, fmt.Errorf("%q is no time in RFC 3339, for example 2026-12-01T00:00:00Z", text)
	}
	if writeKey == "" {
		return time.Time{}, errors.New("encryption.require needs encryption.write-key")
	}
	return since, nil
}
