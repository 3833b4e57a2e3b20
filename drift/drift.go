package drift

import (
	"github.com/armature-io/armature/resource"
)

// Options of Compare and Remember; the zero value works.
type Options struct {
	// Type and ID are those of the resource.
	Type string
	ID   resource.ID
	// APIVersion is the one that both bodies belong to.
	APIVersion string
	// Ignore are paths that are not compared, in resource.Path syntax.
	Ignore []string
	// Memory of earlier PUTs.
	Memory Memory
	// Reasons are the paths that were the reason for the PUT that Remember
	// looks back on.
	Reasons []string
	// Key makes the hashes of Memory keyed ones.
	Key []byte
}

// Result is the answer of Compare.
type Result struct {
	// Differences in the order of their paths, at most
	// resource.MaxDifferences, values masked and cut.
	Differences []resource.Difference
	// More counts the differences beyond the bound.
	More int
	// InSync means that there is no difference.
	InSync bool
	// Remembered are the paths that differ as they did after the last good PUT.
	Remembered []string
	// NotTaken are those of Remembered that were the reason for a PUT: a change
	// that Azure did not take.
	NotTaken []string
}
