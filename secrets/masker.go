package secrets

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// Masker replaces secret values by masks.
type Masker struct {
	key []byte // empty for masks without a hash
	// public returns the paths of values of a type that are no secrets whatever their names.
	public func(resourceType string) []string
}

// NewMasker returns a masker. The key is secret, random, at least 16 bytes long
// and the same on all workers; it comes from the worker's config. Without a key all masks
// are resource.MaskWithoutKey.
func NewMasker(key []byte) *Masker {
	return &Masker{key: slices.Clone(key), public: func(string) []string { return nil }}
}

// WithPublic returns a masker that shows the values of a type at some paths, whatever their
// names and their form.
func (m *Masker) WithPublic(paths func(resourceType string) []string) *Masker {
	return &Masker{key: m.key, public: paths}
}

// Value returns the mask of a value; an empty value and a mask are returned unchanged.
func (m *Masker) Value(value string) string {
	if value == "" || isMask(value) {
		return value
	}
	if len(m.key) == 0 {
		return resource.MaskWithoutKey
	}
	sum := hmac.New(sha256.New, m.key)
	sum.Write([]byte(value))
	return resource.MaskPrefix + hex.EncodeToString(sum.Sum(nil)[:8])
}

// isMask reports whether a text has the exact form of a mask, so that masking
// twice changes nothing.
func isMask(value string) bool {
	digits, found := strings.CutPrefix(value, resource.MaskPrefix)
	if value == resource.MaskWithoutKey {
		return true
	}
	if !found || len(digits) != 16 {
		return false
	}
	_, err := hex.DecodeString(digits)
	return err == nil
}

// Mask returns observed with masks for all texts with a secret property name
// (resource.SecretProperty), under tags too, for all texts that look like a connection
// string, a signature or a private key (resource.ContainsCredential), and for all texts
// that the type publishes as secrets (types.Marks), unless they are resource IDs.
// References to vaults, and values at public paths (WithPublic), are no secrets and stay.
//
// plain are the paths of Desired.Plain, nil for a resource that is only read: at such
// a path a tag, and a text that only looks like a credential, stays; a property with
// a secret name keeps a resource ID ($ref) and nothing else.
func (m *Masker) Mask(resourceType string, observed map[string]any, plain []string) map[string]any {
	return m.apply(observed, isSecret, m.start(resourceType, plain))
}

// Secrets returns the texts that Mask hides in a body that is only read.
func (m *Masker) Secrets(resourceType string, observed map[string]any) []string {
	var found []string
	m.apply(observed, func(text string, at position) bool {
		if text != "" && !isMask(text) && isSecret(text, at) {
			found = append(found, text)
		}
		return false
	}, m.start(resourceType, nil))
	return found
}

// start returns the position of a body of a type.
func (m *Masker) start(resourceType string, plain []string) position {
	return position{
		rest: resource.ParsePaths(plain), publicRest: resource.ParsePaths(m.public(resourceType)), publishedRest: types.MarksOf(resourceType).Sensitive,
	}
}

// isSecret reports whether Mask hides a text.
func isSecret(text string, at position) bool {
	switch {
	case at.public, resource.VaultReference(text):
		return false
	case at.published && !isResourceID(text):
		return true
	case !at.place.Secret():
		return resource.ContainsCredential(text) && !at.matched
	}
	return !at.matched || !at.underTags && !isResourceID(text)
}

// MaskPaths returns observed with masks for all texts at and below the paths,
// whatever their name: the paths of Desired.Secret, where the manifest has a $secret.
// A list index matches every element, because servers reorder lists.
func (m *Masker) MaskPaths(observed map[string]any, paths []string) map[string]any {
	if len(paths) == 0 {
		return observed
	}
	patterns := resource.ParsePaths(paths)
	for _, pattern := range patterns {
		for i := range pattern {
			if pattern[i].IsIndex {
				pattern[i] = resource.Step{Any: true}
			}
		}
	}
	return m.apply(observed, func(_ string, at position) bool { return at.matched }, position{rest: patterns})
}

// MaskValues returns observed with masks for all texts that equal or contain one of
// the values: the secrets of Resolver.Resolve, in ARM's responses.
func (m *Masker) MaskValues(observed map[string]any, values []string) map[string]any {
	contains := containsValue(values)
	return m.apply(observed, func(text string, _ position) bool { return contains(text) }, position{})
}

// isResourceID reports whether a text is a resource ID, the result of a $ref without
// a path.
func isResourceID(text string) bool {
	_, err := resource.ParseID(text)
	return err == nil
}
