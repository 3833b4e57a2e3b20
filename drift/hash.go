package drift

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/armature-io/armature/internal/jsontree"
	"github.com/armature-io/armature/resource"
)

// hashBytes is the length of a truncated hash.
const hashBytes = 16

// hasher computes the hashes of a Baseline.
type hasher struct{ key []byte }

// sum returns the truncated keyed hash of a value, in hex. Maps are encoded with
// sorted keys, so equal values have equal hashes.
func (h hasher) sum(value any) string {
	raw, err := json.Marshal(value)
	if err != nil {
		return "unknown"
	}
	return h.bytes(raw)
}

func (h hasher) bytes(raw []byte) string {
	mac := hmac.New(sha256.New, h.key)
	mac.Write(raw)
	return hex.EncodeToString(mac.Sum(nil)[:hashBytes])
}

// isShownMasked reports whether a GET may show a value in several masks, so that only its
// presence counts.
func isShownMasked(value any, path resource.Path) bool {
	return resource.Masked(value) || resource.SecretName(path[len(path)-1].Name)
}

// leaf returns the hash of a path with its value.
func (h hasher) leaf(value any, path resource.Path) pathHash {
	if isShownMasked(value, path) {
		return placeholderHash(path)
	}
	return hashValue(path, h.sum(value))
}

// secrets returns the keyed hash of the values behind the $secret references of a
// value; "" if there are none, if one could not be read, or without a key.
func (h hasher) secrets(value any, opts Options) string {
	if len(h.key) == 0 || len(opts.Secrets) == 0 {
		return ""
	}
	var values []string // in the order of their properties
	for at := range jsontree.All(value) {
		if !isMarker(at) {
			continue
		}
		secret, known := opts.Secrets[jsontree.Text(at.(map[string]any), resource.SecretMarker)]
		if !known {
			return ""
		}
		values = append(values, secret)
	}
	if len(values) == 0 {
		return ""
	}
	return h.sum(values)
}
