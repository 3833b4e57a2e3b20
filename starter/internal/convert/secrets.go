package convert

import (
	"fmt"
	"slices"
	"strings"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/types"
)

// secretPrefix is the beginning of the variables that placeholders name: the default
// allow-list of a worker.
const secretPrefix = "ARMATURE_SECRET_"

// placeSecrets replaces the literal secrets of a body by placeholders, by the rules with
// which package manifest refuses them, and by the published types.
func (c *conversion) placeSecrets(r *Resource) {
	p := &secretPlacer{conversion: c, resource: r, shape: types.Lookup(r.id.Type(), r.version)}
	r.body = p.value(r.body, position{})
}

// checkMarkers refuses members of a body that a manifest would read as markers: a value of a
// source must not make a worker resolve one of its secrets.
func (c *conversion) checkMarkers(r *Resource) {
	r.body.walk(nil, func(path resource.Path, v *value) *value {
		for _, f := range v.fields {
			if slices.Contains(resource.Markers(), f.name) {
				c.faultOf(r, f.line, "%s: the member %s has a meaning of its own in a manifest, so that the body cannot be written", path, f.name)
			}
		}
		return v
	})
}

// secretPlacer replaces the secrets of one resource.
type secretPlacer struct {
	conversion *conversion
	resource   *Resource
	shape      *types.Shape
}

// position is a place in a body, as package manifest follows it.
type position struct {
	path resource.Path
	// place: what the names on the way say about secrets.
	place resource.Place
	// public: it is below tags, name or location, where no placeholder is allowed.
	public bool
}

func (at position) field(v *value, name string) position {
	next := at
	next.path = at.path.With(resource.Step{Name: name})
	next.place = at.place.Member(name, labelOf(v), v.has)
	switch strings.ToLower(name) {
	case "tags", "name", "location":
		next.public = true
	}
	return next
}

func labelOf(v *value) string {
	for _, name := range resource.SecretLabels() {
		if text := v.textOf(name); text != "" {
			return text
		}
	}
	return ""
}

func (p *secretPlacer) value(v *value, at position) *value {
	switch v.kind {
	case object:
		for i, f := range v.fields {
			v.fields[i].value = p.value(f.value, at.field(v, f.name))
		}
	case list:
		for i, item := range v.items {
			next := at
			next.path = at.path.With(resource.Step{Index: i, IsIndex: true})
			v.items[i] = p.value(item, next)
		}
	case secret:
		return p.placeholder(v, at)
	case text, number:
		return p.literal(v, at)
	}
	return v
}

// literal returns what takes the place of a text or number.
func (p *secretPlacer) literal(v *value, at position) *value {
	switch {
	case v.text == "" || v.kind == text && resource.VaultReference(v.text), p.public(at):
		return v
	case at.public:
		if v.kind == text && resource.ContainsCredential(v.text) {
			p.conversion.faultOf(p.resource, v.line, "%s has the form of a credential, and everybody who may read the resource sees it; remove it from the source", at.path)
		}
		return v
	case at.place.Secret() && p.shape != nil && p.shape.IsValue(at.path, v.text):
		return &value{kind: text, line: v.line, text: v.text, plain: true}
	case at.place.Secret(), p.shape.IsSecret(at.path, v.text), v.kind == text && resource.ContainsCredential(v.text):
		return p.placeholder(v, at)
	}
	return v
}

// public reports whether a fact of the type says that a value is no secret, whatever its name.
func (p *secretPlacer) public(at position) bool {
	public := func(path string) bool { return strings.EqualFold(path, at.path.String()) }
	return slices.ContainsFunc(cli.TypeFacts(p.resource.id.Type()).Public, public)
}

// placeholder returns a $secret with a variable of its own. The value is dropped.
func (p *secretPlacer) placeholder(v *value, at position) *value {
	c := p.conversion
	if at.public {
		c.faultOf(p.resource, v.line, "%s is a secret of the source, and a manifest allows none there; write the value by hand", at.path)
		return v
	}
	base := secretPrefix + variableName(p.resource.id.Name()+"_"+lastNames(at.path))
	name := base
	for n := 2; c.variables[name]; n++ {
		name = fmt.Sprintf("%s_%d", base, n)
	}
	c.variables[name] = true
	c.secrets = append(c.secrets, Secret{Variable: name, Resource: p.resource.id.String(), Path: at.path.String()})
	return &value{kind: secret, line: v.line, text: "env:" + name}
}

// lastNames returns the name of a property; of the "value" of an item also the name of the
// list.
func lastNames(path resource.Path) string {
	var names []string
	for _, step := range path {
		if step.Name != "" {
			names = append(names, step.Name)
		}
	}
	if len(names) == 0 {
		return "value"
	}
	if last := names[len(names)-1]; len(names) == 1 || !strings.EqualFold(last, "value") {
		return last
	}
	return strings.Join(names[len(names)-2:], "_")
}

// variableName returns a text in the characters of an environment variable.
func variableName(text string) string {
	var b strings.Builder
	lower := false
	for _, r := range text {
		switch {
		case r >= 'A' && r <= 'Z' && lower:
			b.WriteRune('_')
			b.WriteRune(r)
		case r >= 'a' && r <= 'z':
			b.WriteRune(r - 'a' + 'A')
		case r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			b.WriteRune(r)
		default:
			b.WriteRune('_')
		}
		lower = r >= 'a' && r <= 'z'
	}
	return b.String()
}

// faultOf records a fault of a resource that was read before.
func (c *conversion) faultOf(r *Resource, line int, format string, args ...any) {
	c.file = r.file
	c.fault(line, format, args...)
}

// noteOf records a note about a resource that was read before.
func (c *conversion) noteOf(r *Resource, line int, format string, args ...any) {
	c.file = r.file
	c.note(line, format, args...)
}
