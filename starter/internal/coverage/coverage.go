package coverage

import (
	"math"
	"slices"
	"strings"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/importer"
)

// Resource is a resource of a scope, or a collection of one.
type Resource struct {
	// ID is the resource, or the parent of the collection.
	ID   resource.ID `json:"id"`
	Name string      `json:"name"`
	Type string      `json:"type"`
	// Why is the pattern that ignores it, why it needs no manifest, or why it is not known.
	Why string `json:"why,omitempty"`
}

// Summary counts resources, and lists that are not known. Its JSON names do not change.
type Summary struct {
	Managed   int `json:"managed"`
	Unmanaged int `json:"unmanaged"`
	Ignored   int `json:"ignored"`
	// Skipped need no manifest. NotRead and NotListed are not known.
	Skipped   int `json:"skipped"`
	NotRead   int `json:"notRead"`
	NotListed int `json:"notListed"`
}

// Report is the coverage of scopes. Its JSON names do not change.
type Report struct {
	Scopes  []resource.ID `json:"scopes"`
	Summary Summary       `json:"summary"`
	// Coverage is the percentage of the managed resources among those that should be managed,
	// rounded down to a tenth; nil if there is none.
	Coverage  *float64   `json:"coverage"`
	Unmanaged []Resource `json:"unmanaged"`
	Ignored   []Resource `json:"ignored"`
	Skipped   []Resource `json:"skipped"`
	NotRead   []Resource `json:"notRead"`
	NotListed []Resource `json:"notListed"`
	// Unused are the patterns that match no unmanaged resource.
	Unused []Pattern `json:"unusedPatterns"`

	ignore Ignore
	found  []activities.ImportResourceResult
}

// withParent is why a child of a managed resource needs no manifest.
const withParent = "it comes and goes with its parent, which is managed"

// New returns the coverage of scopes. found is everything in them, as an import by manifest
// finds it, and hasWorkflow reports whether Temporal listed a workflow of a resource before.
func New(scopes []resource.ID, found importer.Result, hasWorkflow func(resource.ID) bool, ignore Ignore) Report {
	r := Report{
		Scopes: scopes, Unmanaged: []Resource{}, Ignored: []Resource{}, Skipped: []Resource{}, NotRead: []Resource{}, NotListed: []Resource{}, Unused: []Pattern{},
		ignore: ignore,
	}
	b := builder{Report: &r, withParent: found.WithParent, hasWorkflow: hasWorkflow, read: map[string]bool{}, counted: map[string]bool{}}
	for _, result := range found.Found {
		b.read[result.ID.Key()] = result.Managed
	}
	for _, result := range found.Found {
		b.addFound(result)
	}
	for _, outcome := range found.Outcomes {
		b.addOutcome(outcome)
	}
	r.Unused = append(r.Unused, ignore.Unused()...)
	r.Summary.Unmanaged, r.Summary.Ignored, r.Summary.Skipped = len(r.Unmanaged), len(r.Ignored), len(r.Skipped)
	r.Summary.NotRead, r.Summary.NotListed = len(r.NotRead), len(r.NotListed)
	if all := r.Summary.Managed + r.Summary.Unmanaged; all > 0 {
		r.Coverage = new(math.Floor(1000*float64(r.Summary.Managed)/float64(all)) / 10)
	}
	return r
}

// Found returns what was read of the unmanaged resources.
func (r Report) Found() []activities.ImportResourceResult { return r.found }

// builder collects a report.
type builder struct {
	*Report
	withParent  map[string]bool
	hasWorkflow func(resource.ID) bool
	// read has the keys of the resources that a worker found managed when it read them.
	read map[string]bool
	// counted has the keys of the resources that are counted as managed.
	counted map[string]bool
}

// addFound adds a resource that needs a manifest, if its parent is not managed.
func (b *builder) addFound(result activities.ImportResourceResult) {
	shown := resourceOf(result.ID, result.ID.Type(), "")
	if b.isManaged(result.ID) {
		b.countManaged(result.ID)
		return
	}
	if b.comesWithManaged(result.ID) {
		shown.Why = withParent
		b.Skipped = append(b.Skipped, shown)
		return
	}
	if by := b.ignore.Of(result.ID, shown.Type); by != nil {
		shown.Why = by.Text
		b.Ignored = append(b.Ignored, shown)
		return
	}
	b.Unmanaged = append(b.Unmanaged, shown)
	b.found = append(b.found, result)
}

// addOutcome adds a resource or collection that was not read or needs no manifest.
func (b *builder) addOutcome(o importer.Outcome) {
	shown := resourceOf(o.ID, o.Type, o.Why)
	isResource := strings.EqualFold(o.Type, o.ID.Type())
	managed := b.isManaged(o.ID)
	if managed && isResource {
		b.countManaged(o.ID)
	}
	switch {
	case o.Status == importer.Skipped && !managed:
		b.Skipped = append(b.Skipped, shown)
	case o.Derived:
	case o.Status == importer.NotRead || o.Status == importer.NotListed:
		if by := b.ignore.Of(o.ID, o.Type); by != nil {
			if isResource && !managed {
				shown.Why = by.Text
				b.Ignored = append(b.Ignored, shown)
			}
			return
		}
		if o.Status == importer.NotRead {
			b.NotRead = append(b.NotRead, shown)
		} else {
			b.NotListed = append(b.NotListed, shown)
		}
	}
}

// isManaged reports whether a resource has a workflow.
func (b *builder) isManaged(id resource.ID) bool { return b.read[id.Key()] || b.hasWorkflow(id) }

// countManaged counts a managed resource once.
func (b *builder) countManaged(id resource.ID) {
	if !b.counted[id.Key()] {
		b.counted[id.Key()] = true
		b.Summary.Managed++
	}
}

// comesWithManaged reports whether a child comes and goes with a managed resource: its parent,
// or that of a parent that comes and goes too.
func (b *builder) comesWithManaged(id resource.ID) bool {
	for b.withParent[id.Key()] {
		if id = id.Owner(); b.isManaged(id) {
			return true
		}
	}
	return false
}

func resourceOf(id resource.ID, resourceType, why string) Resource {
	return Resource{ID: id, Name: id.Short(), Type: resourceType, Why: why}
}

// classes returns the rows of the wide table: the classes in the order of what a user does first.
func (r Report) classes() []class {
	return slices.DeleteFunc([]class{
		{"unmanaged", r.Unmanaged}, {"ignored", r.Ignored}, {"skipped", r.Skipped}, {"not listed", r.NotListed}, {"not read", r.NotRead},
	}, func(c class) bool { return len(c.resources) == 0 })
}

// class are the resources of one status.
type class struct {
	status    string
	resources []Resource
}
