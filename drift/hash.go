package drift

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"sort"
	"strings"

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
	mac := hmac.New(sha256.New, h.key)
	mac.Write(raw)
	return hex.EncodeToString(mac.Sum(nil)[:hashBytes])
}

// leaf returns the hash of a path with its value. A GET may show a secret in several
// masks, so only its presence counts.
func (h hasher) leaf(value any, path resource.Path) pathHash {
	if resource.Masked(value) || resource.SecretName(path[len(path)-1].Name) {
		return placeholderHash(path)
	}
	return hashValue(path, h.sum(value))
}

// placeholderHash is the hash of a secret at a path, whose value a GET does not show.
func placeholderHash(path resource.Path) pathHash { return hashValue(path, " secret") }

// hashValue returns the hash of a path with a value. An item without a key has no place of
// its own: the same value in another item of its list has the same hash.
func hashValue(path resource.Path, value string) pathHash {
	at := path.With(resource.Step{Name: "=" + value})
	for i, step := range at {
		if step.IsIndex {
			at[i] = resource.Step{Any: true}
		}
	}
	return hashPath(at)
}

// secrets returns the keyed hash of the values behind the $secret references of a
// value; "" if there are none, if one could not be read, or without a key.
func (h hasher) secrets(value any, opts Options) string {
	if len(h.key) == 0 || len(opts.Secrets) == 0 {
		return ""
	}
	var values []string
	if !collectSecrets(value, opts.Secrets, &values) || len(values) == 0 {
		return ""
	}
	return h.sum(values)
}

// collectSecrets appends the values in the order of their properties. It returns
// false if one is unknown.
func collectSecrets(value any, known map[string]string, values *[]string) bool {
	switch v := value.(type) {
	case map[string]any:
		if isMarker(v) {
			reference, _ := v[resource.SecretMarker].(string)
			secret, found := known[reference]
			*values = append(*values, secret)
			return found
		}
		for name := range jsontree.Names(v) {
			if !collectSecrets(v[name], known, values) {
				return false
			}
		}
	case []any:
		for _, item := range v {
			if !collectSecrets(item, known, values) {
				return false
			}
		}
	}
	return true
}

// pathHash is the hash of a path in a PathSet.
type pathHash [6]byte

// hashPath returns the hash of a path, which is equal for all spellings of it.
func hashPath(path resource.Path) pathHash {
	var b strings.Builder
	for _, step := range path {
		switch {
		case step.Key != "":
			b.WriteString("[" + strings.ToLower(step.Key) + "=" + resource.NormalKey(step.Key, step.Value))
		case step.IsIndex:
			fmt.Fprintf(&b, "[%d", step.Index)
		default:
			b.WriteString("." + strings.ToLower(step.Name))
		}
		b.WriteByte(0)
	}
	sum := sha256.Sum256([]byte(b.String()))
	return pathHash(sum[:6])
}

// PathSet is a set of paths: their sorted 6-byte hashes, in base64.
type PathSet string

// newPathSet returns a set of at most limit paths, of the smallest depths first.
// The values of the map are the depths.
func newPathSet(depths map[pathHash]int, limit int) PathSet {
	hashes := make([]pathHash, 0, len(depths))
	for hash := range depths {
		hashes = append(hashes, hash)
	}
	before := func(a, b pathHash) bool { return bytes.Compare(a[:], b[:]) < 0 }
	if len(hashes) > limit {
		sort.Slice(hashes, func(i, j int) bool {
			a, b := depths[hashes[i]], depths[hashes[j]]
			return a < b || a == b && before(hashes[i], hashes[j])
		})
		hashes = hashes[:limit]
	}
	sort.Slice(hashes, func(i, j int) bool { return before(hashes[i], hashes[j]) })
	raw := make([]byte, 0, len(hashes)*len(pathHash{}))
	for _, hash := range hashes {
		raw = append(raw, hash[:]...)
	}
	return PathSet(base64.RawStdEncoding.EncodeToString(raw))
}

// decoded returns the set in searchable form; an invalid text is an empty set.
func (s PathSet) decoded() decodedSet {
	raw, err := base64.RawStdEncoding.DecodeString(string(s))
	if err != nil || len(raw)%len(pathHash{}) != 0 {
		return nil
	}
	return raw
}

type decodedSet []byte

func (s decodedSet) has(path resource.Path) bool {
	if len(s) == 0 {
		return false
	}
	return s.hasHash(hashPath(path))
}

func (s decodedSet) hasHash(hash pathHash) bool {
	const size = len(hash)
	at := sort.Search(len(s)/size, func(i int) bool { return bytes.Compare(s[i*size:(i+1)*size], hash[:]) >= 0 })
	return at < len(s)/size && bytes.Equal(s[at*size:(at+1)*size], hash[:])
}
