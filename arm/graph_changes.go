package arm

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/armature-io/armature/resource"
)

// changesQuery lists the changes of resources and resource groups in a window of time. It asks
// for the paths of a change without the values, which may be secret.
// Source: https://learn.microsoft.com/azure/governance/resource-graph/changes/get-resource-changes
const changesQuery = `resourcechanges
| union resourcecontainerchanges
| extend at = todatetime(properties.changeAttributes.timestamp)
| where at >= datetime(%s) and at < datetime(%s)
| project id, at, target = tostring(properties.targetResourceId), change = tostring(properties.changeType), correlation = tostring(properties.changeAttributes.correlationId), author = tostring(properties.changeAttributes.changedBy), kind = tostring(properties.changeAttributes.changedByType), client = tostring(properties.changeAttributes.clientType), operation = tostring(properties.changeAttributes.operation), paths = bag_keys(properties.changes)
| order by at asc, id asc`

// graphTime is the form of a time in a query.
const graphTime = "2006-01-02T15:04:05.000Z"

// RecordedChange is a change in Resource Graph.
type RecordedChange struct {
	// Record identifies the change.
	Record string
	// ID is the resource that changed.
	ID resource.ID
	resource.ReportedChange
}

// changeRow is a row of changesQuery.
type changeRow struct {
	ID          string    `json:"id"`
	At          time.Time `json:"at"`
	Target      string    `json:"target"`
	Change      string    `json:"change"`
	Correlation string    `json:"correlation"`
	Author      string    `json:"author"`
	Kind        string    `json:"kind"`
	Client      string    `json:"client"`
	Operation   string    `json:"operation"`
	Paths       []string  `json:"paths"`
}

// Changes returns the changes of resources from one time until before another one, oldest first,
// as the credential of the context reads them: of all its subscriptions, or of those that it is
// restricted to. Rows about what is no resource are left out. It reads all pages.
func (c *Client) Changes(ctx context.Context, from, before time.Time) ([]RecordedChange, error) {
	q := GraphQuery{Query: fmt.Sprintf(changesQuery, from.UTC().Format(graphTime), before.UTC().Format(graphTime))}
	if c.connections != nil {
		q.Subscriptions = c.connections.subscriptions[CredentialName(ctx)]
	}
	if len(q.Subscriptions) > 0 {
		scope, err := resource.ParseID("/subscriptions/" + q.Subscriptions[0])
		if err != nil {
			return nil, fmt.Errorf("subscriptions of the credential: %w", err)
		}
		q.Scope, ctx = scope, WithSubject(ctx, scope)
	}
	var found []RecordedChange
	for {
		rows, next, err := graphRows[changeRow](ctx, c, q)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			if change, ok := row.recorded(); ok {
				found = append(found, change)
			}
		}
		if next == "" {
			return found, nil
		}
		q.Page = next
	}
}

// recorded returns the change of a row, false for a row about no resource.
func (r changeRow) recorded() (RecordedChange, bool) {
	id, err := resource.ParseID(r.Target)
	if err != nil || r.At.IsZero() {
		return RecordedChange{}, false
	}
	change := RecordedChange{Record: r.ID, ID: id, ReportedChange: resource.ReportedChange{
		At: r.At.UTC(), Kind: resource.ChangeKind(r.Change), Operation: strings.ToLower(r.Operation), Correlation: strings.ToLower(r.Correlation),
		ReportedAuthor: resource.NewReportedAuthor(specified(r.Author), specified(r.Kind), specified(r.Client)),
	}}
	change.AddPaths(r.Paths)
	return change, true
}

// specified returns a word about an author, "" for the one with which Azure says that it knows none.
func specified(word string) string {
	if strings.EqualFold(word, "Unspecified") {
		return ""
	}
	return word
}
