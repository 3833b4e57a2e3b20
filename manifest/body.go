package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/armature-io/armature/resource"
)

// place is where in a body a value stands.
type place struct {
	// path starts with the step "body".
	path resource.Path
	// secret: a text here is a secret by its name; under: so is one that an
	// object below holds as "value".
	secret, under bool
	// rights: it is under a property that says what somebody may do.
	rights bool
	// tags: it is under tags, at any depth.
	tags bool
	// public is the property (tags, name, location) whose value everybody sees,
	// so that no secret may stand here.
	public string
}

// field is the place of a property of an object at p.
func (p place) field(object *node, name string) place {
	next := place{
		path:   append(p.path, resource.Step{Name: name}),
		secret: !p.rights && resource.SecretProperty(name, p.under, label(object)),
		rights: p.rights || resource.RightsName(name),
		under:  p.under || resource.SecretName(name),
		public: p.public,
		tags:   p.tags || strings.EqualFold(name, "tags"),
	}
	switch lower := strings.ToLower(name); lower {
	case "tags", "name", "location":
		if next.public == "" {
			next.public = lower
		}
	}
	return next
}

// item is the place of an element of a list at p. Elements are named by their
// name where they have one, because servers reorder lists.
func (p place) item(i int, item *node) place {
	p.path = append(p.path, resource.Step{Index: i, IsIndex: true})
	if name := item.textOf("name"); name != "" && !strings.ContainsAny(name, "[]=") {
		p.path[len(p.path)-1] = resource.Step{Key: "name", Value: name}
	}
	return p
}

// label is the text with which an object says what its "value" is.
func label(object *node) string {
	for _, name := range resource.SecretLabels() {
		if text := object.textOf(name); text != "" {
			return text
		}
	}
	return ""
}

// bodyReader turns the body of one draft into JSON and notes references and
// plain paths on the way.
type bodyReader struct {
	loader *loader
	draft  *draft
}

// readBody fills Desired.Body, References and Plain.
func (l *loader) readBody(d *draft) {
	body := d.root.get("body")
	if body == nil || body.kind != kindObject {
		return
	}
	if marker := markerOf(body); marker != "" {
		l.at(d, body.line, "body", "a body is a mapping of properties; found a %s", marker)
		return
	}
	l.checkIdentity(d, body)
	reader := &bodyReader{loader: l, draft: d}
	value := reader.object(body, place{path: append(newPath(), resource.Step{Name: "body"})})
	if !d.desired.ID.IsZero() {
		for _, name := range identityFields() {
			delete(value, name)
		}
	}
	raw, err := compact(value)
	switch {
	case err != nil:
		l.at(d, body.line, "body", "cannot be written as JSON: %v", err)
	case len(raw) > resource.MaxBodyBytes:
		l.at(d, body.line, "body", "takes %d bytes as JSON; allowed are %d", len(raw), resource.MaxBodyBytes)
	}
	d.desired.Body = raw
}

// compact is deterministic JSON: keys sorted, no white space, < and & as they
// are.
func compact(value any) (json.RawMessage, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

// identityFields are the top-level properties of a body that say which resource
// it is. ARM takes them from the URL.
func identityFields() []string { return []string{"id", "name", "type"} }

// checkIdentity refuses a body that speaks of another resource than the
// manifest: it was copied and not changed.
func (l *loader) checkIdentity(d *draft, body *node) {
	id := d.desired.ID
	if id.IsZero() {
		return
	}
	want := map[string]string{"id": id.String(), "name": id.Name(), "type": id.Type()}
	for _, name := range identityFields() {
		value := body.get(name)
		if value == nil {
			continue
		}
		same := value.kind == kindText && (strings.EqualFold(value.text, want[name]) || name == "name" && strings.EqualFold(value.text, id.Short()))
		if !same && markerOf(value) == "" {
			l.at(d, value.line, "body."+name, "does not agree with the manifest, which says %s; remove it", want[name])
		}
	}
}

// value is a node with its markers resolved. A marker with a fault becomes nil.
func (b *bodyReader) value(n *node, at place) any {
	switch n.kind {
	case kindObject:
		switch markerOf(n) {
		case resource.SecretMarker:
			return b.secret(n, at)
		case resource.RefMarker:
			return b.reference(n, at)
		}
		return b.object(n, at)
	case kindList:
		list := make([]any, 0, len(n.items))
		for i, item := range n.items {
			list = append(list, b.value(item, at.item(i, item)))
		}
		return list
	case kindText, kindNumber:
		b.checkLiteral(n, at)
	}
	return n.scalar()
}

func (b *bodyReader) object(n *node, at place) map[string]any {
	object := make(map[string]any, len(n.fields))
	for _, f := range n.fields {
		object[f.name] = b.value(f.value, at.field(n, f.name))
	}
	return object
}

// checkLiteral refuses a literal secret. Tags are public anyway, a reference to
// a vault is no secret, and a text that only looks like a credential may be a
// script: they go to Desired.Plain, for observed values are masked by the same
// rules.
func (b *bodyReader) checkLiteral(n *node, at place) {
	isText := n.kind == kindText
	switch {
	case n.text == "":
	case isText && at.secret && (at.tags || resource.VaultReference(n.text)),
		isText && !at.secret && resource.ContainsCredential(n.text):
		b.plain(at)
	case at.secret && !at.tags:
		b.refuseLiteral(n, at)
	}
}

func (b *bodyReader) refuseLiteral(n *node, at place) {
	b.fault(n.line, at, "is a literal under a name that says that it is secret; write {$secret: env:NAME} or {$secret: file:NAME}")
}

func (b *bodyReader) plain(at place) {
	b.draft.desired.Plain = append(b.draft.desired.Plain, b.address(at))
}

// address is the text of a path inside the body; a name that the text form
// cannot hold is a fault, because the worker would miss the place.
func (b *bodyReader) address(at place) string {
	text := at.path[1:].String()
	parsed, err := resource.ParsePath(text)
	if err != nil || !slices.Equal(parsed, at.path[1:]) {
		b.fault(b.draft.line("body"), at, "a property's name holds '], which a path cannot hold")
	}
	return text
}

func (b *bodyReader) fault(line int, at place, format string, args ...any) {
	b.loader.at(b.draft, line, at.path.String(), "%s", fmt.Sprintf(format, args...))
}
