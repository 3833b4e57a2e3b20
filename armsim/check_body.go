package armsim

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/armature-io/armature/armsim/published"
)

// findingKind says what is wrong with a value.
type findingKind int

const (
	unknownMember findingKind = iota
	wrongKind
	wrongValue
	missingMember
)

// finding is one difference between a body and the published type.
type finding struct {
	spot
	kind         findingKind
	value        any // as sent
	want         *published.Node
	line, column int
}

// checkBody refuses a body that differs from the published type.
func (s *Simulator) checkBody(q *request, r *resource, sent object) *response {
	if found := s.findings(q, r, sent); len(found) > 0 {
		return refuseBody(q, found)
	}
	return nil
}

// findings returns the differences of a body from the published type in their order, if the
// simulator is to validate. Recorded bodies are not checked, because Azure accepted them.
func (s *Simulator) findings(q *request, r *resource, sent object) []finding {
	if !s.options.Validate || q.shape == nil || s.recordings[key(q.target.id)] != nil {
		return nil
	}
	c := bodyCheck{
		creation:   r == nil && q.r.Method == http.MethodPut,
		noLocation: q.target.needsLocation() && !s.ruleFor(q.resourceType).noLocation,
	}
	if c.value(q.shape, sent, spot{}); len(c.findings) == 0 {
		return nil
	}
	// Once more, with the places: only a refusal needs them.
	c.findings, c.places = nil, readPlaces(q.body)
	c.value(q.shape, sent, spot{})
	slices.SortFunc(c.findings, func(a, b finding) int { return cmp.Or(a.line-b.line, a.column-b.column) })
	return c.findings
}

// bodyCheck collects findings.
type bodyCheck struct {
	places     places
	creation   bool
	noLocation bool // checkLocation refuses a body without location
	findings   []finding
}

func (c *bodyCheck) add(f finding, offset int) {
	f.line, f.column = c.places.position(offset)
	c.findings = append(c.findings, f)
}

// spot is where a value is: its path as Json.NET writes it (properties.subnets[0].name),
// the last name in it, and the published name of the object that has the property, or
// lacks it.
type spot struct{ path, name, object string }

func (at spot) below(name, object string) spot { return spot{joinPath(at.path, name), name, object} }

// value checks a value. Null is the same as an absent property.
func (c *bodyCheck) value(n *published.Node, sent any, at spot) {
	if sent == nil {
		return
	}
	wrong := func(kind findingKind) {
		c.add(finding{kind: kind, spot: at, value: sent, want: n}, c.places.values[at.path])
	}
	if !hasKind(n, sent) {
		wrong(wrongKind)
		return
	}
	switch v := sent.(type) {
	case object:
		c.object(n, v, at)
	case []any:
		for i := range v {
			if n.Kind == published.List {
				c.value(n.Item, v[i], spot{at.path + "[" + strconv.Itoa(i) + "]", at.name, at.object})
			}
		}
	case string:
		// Json.NET reads the values of an enumeration in any letter case.
		if n.Kind == published.Choice && !containsFold(n.Values, v) {
			wrong(wrongValue)
		}
	}
}

// hasKind reports whether the kind of a value is the published one. A number may be
// written as a text, which most deserializers read; a boolean may not.
func hasKind(n *published.Node, value any) bool {
	switch v := value.(type) {
	case object:
		return n.Kind == published.Object || n.Kind == published.Variants || n.Kind == published.Any
	case []any:
		return n.Kind == published.List || n.Kind == published.Any
	case bool:
		return n.Kind == published.Boolean || n.Kind == published.Any
	case json.Number:
		return n.Kind == published.Integer || n.Kind == published.Any
	case string:
		if n.Kind == published.Integer {
			_, err := strconv.ParseFloat(v, 64)
			return err == nil
		}
		return slices.Contains([]published.Kind{published.Text, published.Choice, published.OpenChoice, published.Any}, n.Kind)
	}
	return true
}

func (c *bodyCheck) object(n *published.Node, sent object, at spot) {
	fields, known := fieldsOf(n, sent)
	if !known {
		c.variant(n, sent, at)
		return
	}
	given := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(sent)) {
		field, below := fields.find(name), at.below(name, fields.name)
		switch {
		case field != nil:
			given[field.Name] = given[field.Name] || sent[name] != nil
			if field.Flags&published.ReadOnly == 0 { // providers ignore the others
				c.value(field.Type, sent[name], below)
			}
		case fields.additional != nil:
			c.value(fields.additional, sent[name], below)
		case at.path != "" || !isEnvelopeMember(name):
			c.add(finding{kind: unknownMember, spot: below}, c.places.names[below.path])
		}
	}
	if !c.creation {
		return
	}
	for _, node := range fields.nodes {
		for _, field := range node.Fields {
			refusedBefore := c.noLocation && at.path == "" && field.Name == "location"
			if isRequired(field) && !given[field.Name] && !refusedBefore {
				c.add(finding{kind: missingMember, spot: at.below(field.Name, fields.name)}, c.places.ends[at.path])
			}
		}
	}
}

// variant checks an object that selects no published variant.
func (c *bodyCheck) variant(n *published.Node, sent object, at spot) {
	if n.Kind != published.Variants {
		return
	}
	below := at.below(n.Discriminator, n.Name)
	if selected := discriminatorOf(n, sent); selected != "" {
		want := &published.Node{Kind: published.Choice, Values: slices.Sorted(maps.Keys(n.Variants))}
		c.add(finding{kind: wrongValue, spot: below, value: selected, want: want}, c.places.values[below.path])
	} else if c.creation {
		c.add(finding{kind: missingMember, spot: below}, c.places.ends[at.path])
	}
}

// isRequired reports whether a client must send a property. The URL contains the members of
// the deployment.
func isRequired(field *published.Property) bool {
	return field.Flags&published.Required != 0 && field.Flags&(published.ReadOnly|published.DeployTime) == 0
}

// isEnvelopeMember reports whether ARM accepts a top-level member of any type: the members of
// GenericResource in the reference of "Resources - Create Or Update By Id", and those
// that ARM's own responses contain.
func isEnvelopeMember(name string) bool {
	return containsFold([]string{"id", "name", "type", "apiVersion", "location", "extendedLocation", "tags", "kind", "sku", "plan",
		"identity", "managedBy", "zones", "properties", "etag", "systemData"}, name)
}

// joinPath appends a name to a path in Json.NET's form.
func joinPath(path, name string) string {
	if strings.ContainsAny(name, ".[]()'\"/ \t\r\n") || name == "" {
		return path + "['" + strings.ReplaceAll(name, "'", `\'`) + "']"
	}
	if path == "" {
		return name
	}
	return path + "." + name
}
