package drift

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"iter"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/armature-io/armature/resource"
)

// pathHash is the hash of a path in a PathSet.
type pathHash [6]byte

// hashPath returns the hash of a path, which is equal for all spellings of it.
func hashPath(path resource.Path) pathHash {
	sum := sha256.Sum256(appendPath(make([]byte, 0, 256), path, false))
	return pathHash(sum[:6])
}

// appendPath appends the normal form of a path to a text, with or without the positions of items
// that have no key.
func appendPath(text []byte, path resource.Path, placeless bool) []byte {
	for _, step := range path {
		switch {
		case step.Key != "":
			text = append(append(append(text, '['), strings.ToLower(step.Key)...), '=')
			text = append(text, resource.NormalKey(step.Key, step.Value)...)
		case step.IsIndex && placeless:
			text = append(text, '.')
		case step.IsIndex:
			text = strconv.AppendInt(append(text, '['), int64(step.Index), 10)
		default:
			text = append(append(text, '.'), strings.ToLower(step.Name)...)
		}
		text = append(text, 0)
	}
	return text
}

// placeholderHash is the hash of a secret at a path, whose value a GET does not show.
func placeholderHash(path resource.Path) pathHash { return hashValue(path, " secret") }

// hashValue returns the hash of a path with a value. An item without a key has no place of
// its own: the same value in another item of its list has the same hash.
func hashValue(path resource.Path, value string) pathHash {
	text := appendPath(make([]byte, 0, 256), path, true)
	text = append(append(append(text, ".="...), strings.ToLower(value)...), 0)
	sum := sha256.Sum256(text)
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

// decode returns the set in searchable form; an invalid text is an empty set.
func (s PathSet) decode() decodedSet {
	raw, err := base64.RawStdEncoding.DecodeString(string(s))
	if err != nil || len(raw)%len(pathHash{}) != 0 {
		return nil
	}
	return raw
}

// hasPart reports whether the set has a path or a part of the body around it.
func (s decodedSet) hasPart(path resource.Path) bool {
	for n := range path {
		if s.has(path[:n+1]) {
			return true
		}
	}
	return false
}

// With returns the set with more paths.
func (s PathSet) With(paths ...resource.Path) PathSet {
	if len(paths) == 0 {
		return s
	}
	depths := map[pathHash]int{}
	for hash := range s.decode().all() {
		depths[hash] = 0
	}
	for _, path := range paths {
		depths[hashPath(path)] = len(path)
	}
	return newPathSet(depths, maxServiceValues)
}

// without returns the set without the leaves of values.
func (s PathSet) without(values []Leaf) PathSet {
	if len(values) == 0 {
		return s
	}
	gone := map[pathHash]bool{}
	for _, v := range values {
		leaves(v.Value, v.Path, func(path resource.Path) { gone[hashPath(path)] = true })
	}
	rest := map[pathHash]int{}
	for hash := range s.decode().all() {
		if !gone[hash] {
			rest[hash] = 0
		}
	}
	return newPathSet(rest, len(rest))
}

type decodedSet []byte

// all returns the hashes of the set.
func (s decodedSet) all() iter.Seq[pathHash] {
	return func(yield func(pathHash) bool) {
		for hash := range slices.Chunk(s, len(pathHash{})) {
			if !yield(pathHash(hash)) {
				return
			}
		}
	}
}

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
