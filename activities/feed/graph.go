package feed

import (
	"context"
	"time"

	"github.com/armature-io/armature/arm"
)

// graphSource reads the tables of changes of Azure Resource Graph.
type graphSource struct {
	client *arm.Client
	now    func() time.Time
}

// SourceGraph is the name of Resource Graph in the configuration.
const SourceGraph = "resource-graph"

// NewGraph returns the source that reads Resource Graph with the credential of the context.
func NewGraph(client *arm.Client, now func() time.Time) Source { return &graphSource{client, now} }

// Name returns SourceGraph.
func (g *graphSource) Name() string { return SourceGraph }

// Read reads the time since the progress, and again what came just before it.
func (g *graphSource) Read(ctx context.Context, progress Progress) (Batch, error) {
	now := g.now().UTC()
	batch := Batch{Gap: !progress.Through.IsZero() && now.Sub(progress.Through) > Retention-Overlap}
	from := progress.Through
	if from.IsZero() || batch.Gap {
		from, progress.Seen = now, nil
	}
	recorded, err := g.client.Changes(ctx, from.Add(-Overlap), now.Add(Overlap))
	if err != nil {
		return Batch{}, err
	}
	seen := map[string]bool{}
	for _, known := range progress.Seen {
		seen[known] = true
	}
	var kept []string
	for _, change := range recorded {
		key := digest(change.Record)
		if change.At.After(now.Add(-Overlap)) {
			kept = append(kept, key)
		}
		if !seen[key] {
			seen[key] = true
			batch.Changes = append(batch.Changes, Change{change.ID, change.ReportedChange})
		}
	}
	batch.Next = Progress{Through: now, Seen: keepSeen(kept)}
	return batch, nil
}
