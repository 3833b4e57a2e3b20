package importer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/activities/importing"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/cli"
)

// Status is what became of a resource, or of a collection, that an import came across.
type Status string

// The statuses. A collection that is not listed may have items that are not known.
const (
	Imported  Status = "imported"
	Unchanged Status = "unchanged"
	Differs   Status = "differs"
	Skipped   Status = "skipped"
	NotListed Status = "not listed"
	NotRead   Status = "not read"
)

// statuses are all of them, in the order of the closing table.
var statuses = []Status{Imported, Unchanged, Differs, Skipped, NotListed, NotRead}

// Outcome is what became of one resource, or of one collection.
type Outcome struct {
	// ID is the resource, or the parent of the collection.
	ID     resource.ID `json:"id"`
	Type   string      `json:"type"`
	Status Status      `json:"status"`
	Why    string      `json:"why,omitempty"`
	// File is the file of the manifest, "" for none.
	File string `json:"file,omitempty"`
	// Derived is set for a collection of views or parts, which come and go with other resources.
	Derived bool `json:"-"`
}

// Result is what an import found.
type Result struct {
	// Found are the resources to write, by ID.
	Found []activities.ImportResourceResult
	// Outcomes are what became of everything else, by ID.
	Outcomes []Outcome
	// WithParent has the keys of children that come and go with their parent: the service makes
	// them, or the manifest of the parent states them.
	WithParent map[string]bool
	// Defaults is the number of values that were left out because the services set them.
	Defaults int
	// Owned is the number of values that were left out because another owner moves them.
	Owned int
	// Unread is the number of parts of resources that could not be read.
	Unread int
}

func (e *Result) sort() {
	slices.SortStableFunc(e.Found, func(a, b activities.ImportResourceResult) int { return strings.Compare(a.ID.Key(), b.ID.Key()) })
	SortOutcomes(e.Outcomes)
}

// SortOutcomes sorts by ID, then by type.
func SortOutcomes(all []Outcome) {
	slices.SortStableFunc(all, func(a, b Outcome) int {
		return strings.Compare(a.ID.Key()+"\n"+a.Type+"\n"+a.Why, b.ID.Key()+"\n"+b.Type+"\n"+b.Why)
	})
}

// unlisted records a collection of a resource that was not listed.
func (e *Result) unlisted(parent resource.ID, u importing.Unlisted) {
	outcome := Outcome{ID: parent, Type: u.Type, Status: NotListed, Why: cli.OneLine(u.Why), Derived: u.Derived}
	if u.Refused {
		outcome.Status = NotRead
	}
	if outcome.Type == "" {
		outcome.Type = "resources"
	}
	e.Outcomes = append(e.Outcomes, outcome)
}

// maxNamed is the number of resources that a row of the closing table names.
const maxNamed = 3

// row is a row of the closing table: the outcomes with the same status, type and reason.
type row struct {
	Outcome
	count int
	names []string
}

// Table returns the closing table: a line for each status and type, with the reason and the
// first names where a resource was not imported. Every outcome is counted in one line.
func Table(outcomes []Outcome) []string {
	rows := map[string]*row{}
	var keys []string
	for _, o := range outcomes {
		why := o.Why
		if o.Status == Imported || o.Status == Unchanged {
			why = ""
		}
		key := fmt.Sprintf("%d\n%s\n%s", slices.Index(statuses, o.Status), strings.ToLower(o.Type), why)
		if rows[key] == nil {
			rows[key] = &row{Outcome: o}
			rows[key].Why = why
			keys = append(keys, key)
		}
		rows[key].count++
		if o.Status != Imported && o.Status != Unchanged && len(rows[key].names) < maxNamed {
			rows[key].names = append(rows[key].names, o.ID.Short())
		}
	}
	slices.Sort(keys)
	var lines []string
	for _, key := range keys {
		lines = append(lines, rows[key].text())
	}
	return lines
}

func (r *row) text() string {
	text := fmt.Sprintf("%-10s  %5d  %s", r.Status, r.count, cli.OneLine(r.Type))
	if len(r.names) == 0 {
		return text
	}
	names := strings.Join(r.names, ", ")
	if more := r.count - len(r.names); more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	if r.Status == NotListed || r.Status == NotRead && r.Type != r.ID.Type() {
		names = "in " + names
	}
	return text + "  " + cli.OneLine(names) + ": " + r.Why
}

// Summary returns the number of outcomes of each status, for one line.
func Summary(outcomes []Outcome) string {
	counts := map[Status]int{}
	for _, o := range outcomes {
		counts[o.Status]++
	}
	var parts []string
	for _, status := range statuses {
		if n := counts[status]; n > 0 || status == Imported && counts[Unchanged] == 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, status))
		}
	}
	return strings.Join(parts, ", ")
}
