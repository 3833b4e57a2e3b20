// Package feed reads what Azure reports about changes of resources: which resource changed when,
// and who changed it. It knows how far it has come and what it has returned, so that a report
// that comes late, twice or in another order is returned once. It wakes nothing and decides
// nothing.
package feed

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"time"

	"github.com/armature-io/armature/resource"
)

// Change is a reported change of a resource.
type Change struct {
	ID resource.ID
	resource.ReportedChange
}

// Progress is how far a feed has come. It is kept in the history of the workflow of the feed.
type Progress struct {
	// Through is a time before which every change that the source has was returned; zero for a
	// feed that begins.
	Through time.Time `json:"through,omitzero"`
	// Seen are digests of the reports from after Through minus Overlap that were returned.
	Seen []string `json:"seen,omitempty"`
}

// Batch is the result of one reading of a source.
type Batch struct {
	Changes []Change
	// Next is the progress once the changes were delivered.
	Next Progress
	// Gap is set if the source no longer has all changes since Progress: any resource may have
	// changed without a report.
	Gap bool
	// Poisoned counts reports that could not be read and were dropped.
	Poisoned int
	// Done, unless nil, notifies the source that the changes were delivered.
	Done func(ctx context.Context) error
}

// Source is a source of reports. Its errors are those of package arm.
type Source interface {
	// Read returns the changes since a progress. It waits for none.
	Read(ctx context.Context, progress Progress) (Batch, error)
	// Name is the source in the configuration.
	Name() string
}

const (
	// Overlap is how much of the past each reading repeats: a source has most reports within
	// five minutes, and some much later.
	// Source: https://learn.microsoft.com/azure/governance/resource-graph/changes/resource-graph-changes
	Overlap = 15 * time.Minute
	// Retention is how long Resource Graph certainly keeps changes: 14 days, which were reduced to
	// seven for a time.
	// Source: https://learn.microsoft.com/azure/governance/resource-graph/how-to/get-resource-changes
	Retention = 7 * 24 * time.Hour
	// maxSeen bounds the digests: beyond it, reports return once more.
	maxSeen = 2000
)

// digest returns a short hash of the identity of a report.
func digest(report string) string {
	sum := sha256.Sum256([]byte(report))
	return base64.RawURLEncoding.EncodeToString(sum[:9])
}

// keepSeen returns the last digests.
func keepSeen(seen []string) []string { return slices.Clone(seen[max(0, len(seen)-maxSeen):]) }
