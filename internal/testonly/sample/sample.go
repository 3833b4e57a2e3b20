// Package sample chooses the part of a long suite that one commit runs.
package sample

import (
	"crypto/sha256"
	"encoding/binary"
	"os"
)

// SeedVariable is the environment variable with the seed. The Makefile sets it to the commit, so
// that the next commit has another sample.
const SeedVariable = "SAMPLE_SEED"

// Chosen reports whether a name is in the sample that has one name of so many, by the hash of the
// seed and the name. The Makefile has the same rule, for names that only it knows.
func Chosen(oneOf uint32, name string) bool { return chosen(os.Getenv(SeedVariable), oneOf, name) }

func chosen(seed string, oneOf uint32, name string) bool {
	sum := sha256.Sum256([]byte(seed + name))
	return binary.BigEndian.Uint32(sum[:])%oneOf == 0
}
