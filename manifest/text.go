package manifest

import (
	"slices"
	"strings"

	"cel.dev/cel-go/cel"

	"github.com/armature-io/armature/internal/expression"
	"github.com/armature-io/armature/resource"
)

// text returns the marker of a text that reads observed values: the worker fills it in.
// Each resource that it reads is a reference.
func (b *bodyReader) text(n *node, at cursor) any {
	text := n.get(resource.TextMarker)
	if len(n.fields) > 1 || text.kind != kindText {
		b.report(n.position, at, "$text is a text and the only property; write it like {$text: \"https://${ref.NAME.properties.x}\"}")
		return nil
	}
	switch {
	case at.place.Secret() && !at.tags:
		b.report(n.position, at, "$text is no secret, but the property has the name of one; write {$plain: {$text: ...}} if it is none")
		return nil
	case resource.ContainsCredential(text.text):
		b.plain(at)
	}
	return b.textMarker(text, at)
}

// textMarker returns the marker for the body.
func (b *bodyReader) textMarker(text *node, at cursor) any {
	env, err := expression.NewEnv(cel.Variable(refVariable, cel.DynType))
	if err != nil {
		b.report(text.position, at, "$text: %v", err)
		return nil
	}
	template, problems := expression.NewTemplate(env, text.text)
	for _, p := range problems {
		b.report(text.position, at, "$text: line %d, column %d of the text: %s", p.Line, p.Column, p.Message)
		return nil
	}
	references := map[string]any{}
	for _, part := range template.Expressions() {
		names, err := part.Fields(refVariable)
		if err != nil {
			b.report(text.position, at, "$text: ${%s}: %v", part.Text(), err)
			return nil
		}
		for _, name := range names {
			target := &node{position: text.position, kind: kindText, text: name}
			reference, ok := b.loader.resolve(b.draft, target, at.path.String(), "$text: ")
			if !ok {
				return nil
			}
			b.note(reference)
			for _, r := range part.Reads(refVariable) {
				if r.Field == name {
					b.draft.reads = append(b.draft.reads, read{from: reference, path: pathOf(r.Steps), at: text.position, place: at.path.String()})
				}
			}
			references[name] = map[string]any{resource.RefMarker: reference.ID.String(), "apiVersion": reference.APIVersion}
		}
	}
	return map[string]any{resource.TextMarker: text.text, "refs": references}
}

// pathOf returns the steps of an expression as a path.
func pathOf(steps []string) resource.Path {
	path := make(resource.Path, len(steps))
	for i, step := range steps {
		path[i] = resource.Step{Name: step, Any: step == ""}
	}
	return path
}

// guid returns the GUID of texts and of the IDs of other manifests.
func (b *bodyReader) guid(n *node, at cursor) any {
	parts, ok := b.loader.guidParts(b.draft, n.get(resource.GUIDMarker), at.path.String())
	if !ok {
		return nil
	}
	return guidOf(parts)
}

// nameByGUID sets the name of a draft whose name is a $guid of the IDs of others.
func (l *loader) nameByGUID(d *draft) {
	l.locating = append(l.locating, d)
	parts, ok := l.guidParts(d, d.guid, "name")
	l.locating = l.locating[:len(l.locating)-1]
	d.guid = nil
	if !ok {
		return
	}
	d.name = guidOf(parts)
	d.segments = []string{d.name}
	l.byName[lastName(d.name)] = append(l.byName[lastName(d.name)], d)
}

// guidParts returns the texts of a $guid, a reference as its resource ID.
func (l *loader) guidParts(d *draft, list *node, path string) ([]string, bool) {
	var parts []string
	for _, item := range list.items {
		target := item.get(resource.RefMarker)
		switch {
		case target == nil:
			parts = append(parts, item.text)
			continue
		case target.kind != kindText || target.text == "":
			l.at(d, item.position, path, "$ref: %s; write the name of a manifest or a resource ID", target.found())
			return nil, false
		case strings.HasPrefix(target.text, "/"):
			id, _, ok := l.parseStatedID(d, target.position, path, target.text)
			if !ok {
				return nil, false
			}
			parts = append(parts, id.String())
			continue
		}
		named := l.named(target.text)
		switch {
		case len(named) == 0:
			m, ok := l.elsewhere(use{draft: d, name: target.text, at: target.position, path: path, what: "$guid: "})
			if !ok {
				return nil, false
			}
			parts = append(parts, m.ID.String())
			continue
		case len(named) > 1:
			l.at(d, target.position, path, "$guid: %q %s; write group/name, owner/name or the resource ID", target.text, ambiguous(named))
			return nil, false
		case slices.Contains(l.locating, named[0]):
			l.at(d, target.position, path, "$guid: the name of %s follows from this one; name another resource", target.text)
			return nil, false
		}
		l.locate(named[0])
		if named[0].desired.ID.IsZero() {
			return nil, false
		}
		parts = append(parts, named[0].desired.ID.String())
	}
	return parts, true
}
