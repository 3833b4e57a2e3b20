package manifest

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/armature-io/armature/resource"
)

// environmentName is the form of an environment variable's name.
var environmentName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// markerOf returns the marker that an object is, "" for a plain object.
func markerOf(n *node) string {
	for _, marker := range resource.Markers() {
		if n.get(marker) != nil {
			return marker
		}
	}
	return ""
}

// secret checks the form of a $secret; the worker resolves it. No issue repeats the
// value, which may be the secret itself.
func (b *bodyReader) secret(n *node, at cursor) any {
	if at.public != "" {
		b.report(n.position, at, "$secret is not allowed under %s, which is public; move it elsewhere", at.public)
		return nil
	}
	if len(n.fields) > 1 {
		b.report(n.position, at, "$secret must be the only property; remove the others")
		return nil
	}
	value := n.get(resource.SecretMarker)
	source, name, _ := strings.Cut(value.text, ":")
	switch {
	case value.kind != kindText:
		b.report(n.position, at, "$secret: %s; write env:NAME, file:NAME or keyvault:https://VAULT/secrets/NAME", value.found())
	case source == "keyvault":
		if _, err := resource.ParseVaultSecret(name); err != nil {
			b.report(n.position, at, "$secret: keyvault: needs the identifier of a secret; %v", err)
			return nil
		}
		return b.secretMarker(value, at)
	case source == "env" && environmentName.MatchString(name):
		return b.secretMarker(value, at)
	case source == "env":
		b.report(n.position, at, "$secret: env: needs the name of an environment variable: letters, digits and _; write it like env:ARMATURE_SECRET_X")
	case source == "file" && filepath.IsLocal(name) && name != "." && !strings.ContainsAny(name, "\\\x00"):
		return b.secretMarker(value, at)
	case source == "file":
		b.report(n.position, at, "$secret: file: needs a path inside the worker's folder of secrets: relative and without ..; write it like file:db/password")
	default:
		b.report(n.position, at, "$secret names no source; write env:NAME, file:NAME or keyvault:https://VAULT/secrets/NAME")
	}
	return nil
}

// plainText returns the value of a $plain: a text, or a list of texts, that its author
// states to be no secret. It is shown like any other value.
func (b *bodyReader) plainText(n *node, at cursor) any {
	if len(n.fields) > 1 {
		b.report(n.position, at, "$plain must be the only property; remove the others")
		return nil
	}
	value := n.get(resource.PlainMarker)
	if markerOf(value) == resource.TextMarker && len(value.fields) == 1 && value.fields[0].value.kind == kindText {
		b.plain(at)
		return b.textMarker(value.fields[0].value, at)
	}
	texts := value.kind == kindText || value.kind == kindNumber
	if value.kind == kindList {
		texts = !slices.ContainsFunc(value.items, func(item *node) bool { return item.kind != kindText && item.kind != kindNumber })
	}
	if !texts {
		b.report(value.position, at, "$plain: %s; write a text, or a list of texts", value.found())
		return nil
	}
	b.plain(at)
	if value.kind != kindList {
		return value.scalar()
	}
	list := make([]any, len(value.items))
	for i, item := range value.items {
		list[i] = item.scalar()
	}
	return list
}

// secretMarker returns the marker for the body.
func (b *bodyReader) secretMarker(value *node, at cursor) any {
	desired := &b.draft.desired
	desired.Secret = append(desired.Secret, b.address(at))
	if !slices.Contains(desired.SecretRefs, value.text) {
		desired.SecretRefs = append(desired.SecretRefs, value.text)
	}
	return map[string]any{resource.SecretMarker: value.text}
}

// reference resolves a $ref: to the resource ID, or with a path to the marker that
// the worker replaces with the observed value.
func (b *bodyReader) reference(n *node, at cursor) any {
	for _, f := range n.fields {
		if f.name != resource.RefMarker && f.name != "path" {
			b.report(f.position, at, "$ref allows only path beside it; remove %q", f.name)
			return nil
		}
	}
	target := n.get(resource.RefMarker)
	if target.kind != kindText || target.text == "" {
		b.report(n.position, at, "$ref: %s; write the name of a manifest or a resource ID", target.found())
		return nil
	}
	reference, ok := b.loader.resolve(b.draft, target, at.path.String(), "$ref: ")
	if !ok {
		return nil
	}
	path := n.get("path")
	if path == nil {
		b.note(reference)
		if at.place.Secret() {
			b.plain(at)
		}
		return reference.ID.String()
	}
	if path.kind != kindText {
		b.report(path.position, at, "path: %s; write a text like properties.x", path.found())
		return nil
	}
	steps, err := resource.ParsePath(path.text)
	if err != nil {
		b.report(path.position, at, "%v; write it like a.b, list[*].c, list[name=x].c or tags['a.b/c']", err)
		return nil
	}
	b.note(reference)
	b.draft.reads = append(b.draft.reads, read{from: reference, path: steps, at: path.position, place: at.path.String() + ".path"})
	return map[string]any{resource.RefMarker: reference.ID.String(), "path": path.text, "apiVersion": reference.APIVersion}
}

// note adds a reference once.
func (b *bodyReader) note(reference resource.Reference) {
	references := &b.draft.desired.References
	for _, known := range *references {
		if known.ID.Equal(reference.ID) {
			return
		}
	}
	*references = append(*references, reference)
}
