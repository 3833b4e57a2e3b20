package convert

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/cli"
)

// Observed is a resource as a worker read it: what a manifest may state of it.
type Observed struct {
	ID         resource.ID
	APIVersion string
	// OwnerAPIVersion is the version to read the owner with, "" where a loader knows it.
	OwnerAPIVersion string
	// Body is one JSON object.
	Body json.RawMessage
	// Comments are lines above the manifest; they may contain anything.
	Comments []string
}

// Manifest is the manifest of an observed resource, or why there is none.
type Manifest struct {
	ID   resource.ID
	Text string
	Err  error
}

// FromObserved returns the manifests of resources, sorted by ID. Those of one resource group
// name each other as owner and by $ref, and an item of a body that is one of the resources is
// left out of it, as in every conversion. Each manifest is read back: it loads as its
// resource, or has an error. The error of FromObserved is why the manifests have IDs in
// place of names; nil where they have names.
func FromObserved(options Options, all []Observed) ([]Manifest, error) {
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b Observed) int { return strings.Compare(a.ID.Key(), b.ID.Key()) })
	alone := make([]Manifest, len(all))
	for i, o := range all {
		alone[i] = manifestOf(options, o)
	}
	together, err := writeObserved(options, all, alone, true)
	if err == nil {
		return together, nil
	}
	if together, again := writeObserved(options, all, alone, false); again == nil {
		return together, err
	}
	return alone, err
}

// manifestOf returns the manifest of a resource by itself, with IDs.
func manifestOf(options Options, o Observed) Manifest {
	made := Manifest{ID: o.ID}
	c := newConversion(options)
	r, err := c.observed(o)
	if err == nil {
		made.Text, err = c.plannable(r)
	}
	if err == nil {
		err = loadsAs(made.Text, o.ID)
	}
	if err != nil {
		made.Text, made.Err = "", fmt.Errorf("write the manifest of %s: %w; nothing was written", o.ID, err)
	}
	return made
}

// writeObserved returns the manifests as they load together, with or without names for each
// other. Those with an error stay as they are.
func writeObserved(options Options, all []Observed, alone []Manifest, named bool) ([]Manifest, error) {
	c := newConversion(options)
	made := slices.Clone(alone)
	var at []int
	for i, o := range all {
		if alone[i].Err != nil {
			continue
		}
		r, err := c.observed(o)
		if err != nil {
			return nil, err
		}
		c.byKey[r.id.Key()] = r
		c.resources = append(c.resources, r)
		at = append(at, i)
	}
	c.dropInline()
	if named {
		c.linkAll()
		c.countNames()
		c.lastNamesOnly = true
	}
	var whole strings.Builder
	for n, r := range c.resources {
		text, err := c.plannable(r)
		if err != nil {
			return nil, err
		}
		made[at[n]].Text = text
		whole.WriteString(text + separator)
	}
	if len(c.resources) == 0 {
		return made, nil
	}
	set, err := manifest.Load(manifest.Options{Facts: cli.TypeFacts, Stdin: strings.NewReader(whole.String())}, stdinName)
	if err != nil {
		return nil, err
	}
	if len(set.Resources) != len(c.resources) || slices.ContainsFunc(set.Resources, func(d resource.Desired) bool { return c.byKey[d.ID.Key()] == nil }) {
		return nil, errors.New("together they load as other resources")
	}
	return made, nil
}

// maxViolations bounds the findings that the comment above a manifest names.
const maxViolations = 3

// plannable returns the document of an observed resource, so that a plan takes it. Azure itself
// shows values that the published types refuse: then the manifest lowers its validation, and a
// comment names them.
func (c *conversion) plannable(r *Resource) (string, error) {
	text, err := c.document(r)
	if err != nil || r.validation != "" {
		return text, err
	}
	report := manifest.Validate(manifest.Options{Facts: cli.TypeFacts, Open: true, Stdin: strings.NewReader(text)}, stdinName)
	faults := slices.DeleteFunc(report.Issues.Of(manifest.SeverityFault), func(i manifest.Issue) bool { return i.Rule == manifest.InvalidManifest })
	if len(faults) == 0 {
		return text, nil
	}
	r.validation = string(manifest.ValidationWarn)
	for i, fault := range faults {
		if i == maxViolations {
			r.comments = append(r.comments, fmt.Sprintf("... and %d more.", len(faults)-i))
			break
		}
		r.comments = append(r.comments, printable("Azure shows it, the published types refuse it: "+fault.Path+": "+fault.Message+"."))
	}
	return c.document(r)
}

// printable returns a line of a comment: names in Azure are data, and a line break would end
// the comment.
func printable(comment string) string { return strings.Trim(strconv.QuoteToASCII(comment), `"`) }

func newConversion(options Options) *conversion {
	return &conversion{options: options, byKey: map[string]*Resource{}, variables: map[string]bool{}}
}

// observed returns a resource that was read. A member that a manifest would resolve as a
// marker is left out, with a comment.
func (c *conversion) observed(o Observed) (*Resource, error) {
	body, err := resource.DecodeBody(o.Body)
	if err != nil {
		return nil, fmt.Errorf("read its body: %w", err)
	}
	comments := slices.Clone(o.Comments)
	dropped := dropMarkers(body, "")
	slices.Sort(dropped)
	for _, path := range dropped {
		comments = append(comments, "Omitted: "+path+"; a manifest would resolve it as a marker.")
	}
	if body == nil {
		body = map[string]any{}
	}
	sorted, err := json.Marshal(body) // members in the order of their names
	if err != nil {
		return nil, fmt.Errorf("encode its body: %w", err)
	}
	tree, err := readJSON(sorted)
	if err != nil {
		return nil, fmt.Errorf("read its body: %w", err)
	}
	r := &Resource{id: o.ID, version: o.APIVersion, ownerVersion: o.OwnerAPIVersion, body: tree, comments: []string{}}
	for _, comment := range comments {
		r.comments = append(r.comments, printable(comment))
	}
	return r, nil
}

// loadsAs checks that a manifest loads, alone, as the resource with an ID.
func loadsAs(text string, id resource.ID) error {
	set, err := manifest.Load(manifest.Options{Facts: cli.TypeFacts, Stdin: strings.NewReader(text)}, stdinName)
	if err != nil {
		return fmt.Errorf("it does not load: %w", err)
	}
	if len(set.Resources) != 1 || !set.Resources[0].ID.Equal(id) {
		return errors.New("it loads as another resource")
	}
	return nil
}

// dropMarkers removes the members of a body that are, or list, objects that a manifest
// would read as markers, and returns their paths: a value in Azure must not make a worker
// resolve one of its secrets.
func dropMarkers(value any, path string) (dropped []string) {
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			at := strings.TrimPrefix(path+"."+name, ".")
			if hasMarker(member) {
				delete(value, name)
				dropped = append(dropped, at)
				continue
			}
			dropped = append(dropped, dropMarkers(member, at)...)
		}
	case []any:
		for i, item := range value {
			dropped = append(dropped, dropMarkers(item, fmt.Sprintf("%s[%d]", path, i))...)
		}
	}
	return dropped
}

// hasMarker reports whether a value is a marker, or a list with one.
func hasMarker(value any) bool {
	switch value := value.(type) {
	case map[string]any:
		for _, marker := range resource.Markers() {
			if _, found := value[marker]; found {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(value, hasMarker)
	}
	return false
}
