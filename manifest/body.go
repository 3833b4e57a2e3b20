package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/armature-io/armature/resource"
)

// cursor is a position in a body.
type cursor struct {
	// path starts with the step "body".
	path resource.Path
	// place: what the names on the way say about secrets.
	place resource.Place
	// tags: it is below tags, at any depth.
	tags bool
	// public is the property (tags, name, location) with a public value, so that
	// no secret is allowed here.
	public string
}

// field returns the cursor of a property of an object at p.
func (p cursor) field(object *node, name string) cursor {
	next := cursor{
		path:   append(p.path, resource.Step{Name: name}),
		place:  p.place.Member(name, label(object), object.has),
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

// item returns the cursor of a list element at p. Elements are identified by their
// name if they have one, because servers reorder lists.
func (p cursor) item(i int, item *node) cursor {
	p.path = append(p.path, resource.Step{Index: i, IsIndex: true})
	if name := item.textOf("name"); name != "" && !strings.ContainsAny(name, "[]=") {
		p.path[len(p.path)-1] = resource.Step{Key: "name", Value: name}
	}
	return p
}

// label returns the text with which an object labels its "value".
func label(object *node) string {
	for _, name := range resource.SecretLabels() {
		if text := object.textOf(name); text != "" {
			return text
		}
	}
	return ""
}

// bodyReader encodes the body of one draft as JSON and collects its references and
// plain paths.
type bodyReader struct {
	loader *loader
	draft  *draft
}

// readBody sets Desired.Body, References and Plain.
func (l *loader) readBody(d *draft) {
	body := d.root.get("body")
	if body == nil || body.kind != kindObject {
		return
	}
	if marker := markerOf(body); marker != "" {
		l.at(d, body.position, "body", "a body is a mapping of properties; found a %s", marker)
		return
	}
	l.checkIdentity(d, body)
	reader := &bodyReader{loader: l, draft: d}
	value := reader.object(body, cursor{path: append(newPath(), resource.Step{Name: "body"})})
	if !d.desired.ID.IsZero() {
		for _, name := range identityFields() {
			delete(value, name)
		}
	}
	raw, err := compact(value)
	switch {
	case err != nil:
		l.at(d, body.position, "body", "cannot be encoded as JSON: %v", err)
	case len(raw) > resource.MaxBodyBytes:
		l.at(d, body.position, "body", "takes %d bytes as JSON; at most %d are allowed", len(raw), resource.MaxBodyBytes)
	}
	d.desired.Body = raw
	deleting := l.options.facts(d.desired.ID.Type()).DeletingMember
	if deleting == nil || d.desired.Deletion.Unmanaged || d.desired.Policy == resource.PolicyObserve {
		return
	}
	if member := deleting(value); member != "" {
		l.at(d, body.position, "body", "%s makes ARM delete resources that no manifest names; "+
			"state reconcile: {delete: {unmanaged: true}} to allow it", member)
	}
}

// compact returns deterministic JSON: sorted keys, no white space, unescaped < and
// &.
func compact(value any) (json.RawMessage, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

// identityFields returns the top-level properties of a body that identify the
// resource. ARM takes them from the URL.
func identityFields() []string { return []string{"id", "name", "type"} }

// checkIdentity refuses a body that identifies another resource than the manifest,
// typically a copy that was not adapted.
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
			l.at(d, value.position, "body."+name, "conflicts with the manifest, which states %s; remove it", want[name])
		}
	}
}

// value returns a node with its markers resolved. A marker with an issue becomes
// nil.
func (b *bodyReader) value(n *node, at cursor) any {
	switch n.kind {
	case kindObject:
		switch markerOf(n) {
		case resource.SecretMarker:
			return b.secret(n, at)
		case resource.RefMarker:
			return b.reference(n, at)
		case resource.PlainMarker:
			return b.plainText(n, at)
		case resource.TextMarker:
			return b.text(n, at)
		case resource.GUIDMarker:
			return b.guid(n, at)
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

func (b *bodyReader) object(n *node, at cursor) map[string]any {
	object := make(map[string]any, len(n.fields))
	for _, f := range n.fields {
		object[f.name] = b.value(f.value, at.field(n, f.name))
	}
	return object
}

// checkLiteral refuses a literal secret: by the name of its property, or by its form. A tag
// with such a name and a reference to a vault are shown: they become part of Desired.Plain,
// because observed values are masked by the same rules.
func (b *bodyReader) checkLiteral(n *node, at cursor) {
	isText := n.kind == kindText
	switch {
	case n.text == "" || b.public(at):
	case isText && at.tags && resource.ContainsCredential(n.text):
		b.report(n.position, at, "has the form of a credential, and %s are public; remove it, or write {$plain: VALUE} if it is none", at.public)
	case isText && resource.ContainsCredential(n.text):
		b.report(n.position, at, "has the form of a credential; write {$secret: env:NAME} or {$secret: file:NAME}, or {$plain: VALUE} if it is none")
	case at.place.Secret() && (at.tags || isText && resource.VaultReference(n.text)):
		if isText {
			b.plain(at)
		}
	case at.place.Secret():
		b.report(n.position, at, "is a literal secret; write {$secret: env:NAME} or {$secret: file:NAME}, or {$plain: VALUE} if it is none")
	}
}

// public reports whether a fact of the type says that the value is none, whatever its name.
func (b *bodyReader) public(at cursor) bool {
	return b.loader.options.facts(b.draft.desired.ID.Type()).isPublic(at.path[1:])
}

func (b *bodyReader) plain(at cursor) {
	b.draft.desired.Plain = append(b.draft.desired.Plain, b.address(at))
}

// address returns the text of a path inside the body. A name that the text form
// cannot express is an issue, because the worker would miss the path.
func (b *bodyReader) address(at cursor) string {
	text := at.path[1:].String()
	parsed, err := resource.ParsePath(text)
	if err != nil || !slices.Equal(parsed, at.path[1:]) {
		b.report(b.draft.position("body"), at, "the property name contains '], which a path cannot express")
	}
	return text
}

func (b *bodyReader) report(position position, at cursor, format string, args ...any) {
	b.loader.at(b.draft, position, at.path.String(), "%s", fmt.Sprintf(format, args...))
}
