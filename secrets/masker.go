package secrets

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/armature-io/armature/resource"
)

// Masker replaces secret values by masks.
type Masker struct {
	key []byte
}

// NewMasker makes a masker. The key is secret, random, at least 16 bytes long
// and the same on all workers; it comes from the worker's config.
func NewMasker(key []byte) *Masker { return &Masker{key: append([]byte(nil), key...)} }

// Value is the mask of a value; an empty value and a mask stay as they are.
func (m *Masker) Value(value string) string {
	if value == "" || isMask(value) {
		return value
	}
	sum := hmac.New(sha256.New, m.key)
	sum.Write([]byte(value))
	return resource.MaskPrefix + hex.EncodeToString(sum.Sum(nil)[:8])
}

// isMask reports whether a text has the exact form of a mask, so that masking
// twice changes nothing.
func isMask(value string) bool {
	digits, found := strings.CutPrefix(value, resource.MaskPrefix)
	if !found || len(digits) != 16 {
		return false
	}
	_, err := hex.DecodeString(digits)
	return err == nil
}

// Mask is what was observed with a mask for every text whose property's name says
// that it is secret (resource.SecretProperty), under tags too, and every text
// that looks like a connection string, a signature or a private key
// (resource.HoldsCredential). References to vaults stay: they are no secrets.
//
// plain are the paths of Desired.Plain, nil for a resource that is only read: a
// tag, or a text that only looks like a credential, stays at such a path; a
// property whose name says secret keeps a resource ID ($ref) and nothing else.
func (m *Masker) Mask(observed map[string]any, plain []string) map[string]any {
	secret := func(text string, at position) bool {
		switch {
		case resource.VaultReference(text):
			return false
		case !at.secret:
			return resource.HoldsCredential(text) && !at.hit
		}
		return !at.hit || !at.tags && !isResourceID(text)
	}
	return m.apply(observed, secret, resource.ParsePaths(plain))
}

// MaskPaths is what was observed with a mask for every text at and below the
// paths, whatever it is called: those of Desired.Secret, where the manifest has
// a $secret. A list index stands for every element, because servers reorder
// lists.
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
	return m.apply(observed, func(_ string, at position) bool { return at.hit }, patterns)
}

// MaskValues is what was observed with a mask for every text that is or holds one
// of the values: the secrets that Resolver.Resolve answered, in what ARM sends
// back.
func (m *Masker) MaskValues(observed map[string]any, values []string) map[string]any {
	return m.apply(observed, func(text string, _ position) bool { return holds(text, values) }, nil)
}

// isResourceID reports whether a text is what a $ref without a path becomes.
func isResourceID(text string) bool {
	_, err := resource.ParseID(text)
	return err == nil
}
