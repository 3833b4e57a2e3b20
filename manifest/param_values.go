package manifest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/armature-io/armature/internal/nearest"
	"github.com/armature-io/armature/resource"
)

// parse returns the value that a command line states: a text as it is, and anything
// else as JSON.
func (d *param) parse(text string) (*node, string) {
	switch d.kind {
	case ParamText:
		return &node{kind: kindText, text: text}, ""
	case ParamSecret:
		return &node{kind: kindObject, fields: []field{{name: resource.SecretMarker, value: &node{kind: kindText, text: text}}}}, ""
	}
	tree := &jsonTree{loader: &loader{keepForeign: true}, data: []byte(text), decoder: json.NewDecoder(strings.NewReader(text))}
	tree.decoder.UseNumber()
	value, err := tree.node(newPath(), 0)
	if err != nil || tree.decoder.More() || len(tree.loader.issues) > 0 {
		return nil, fmt.Sprintf("%q is not %s in JSON", text, article(d.kind))
	}
	value.clearPositions()
	return value, ""
}

// clearPositions removes the positions of a value from a command line.
func (n *node) clearPositions() {
	n.position = position{}
	for i := range n.fields {
		n.fields[i].position = position{}
		n.fields[i].value.clearPositions()
	}
	for _, item := range n.items {
		item.clearPositions()
	}
}

// mismatch returns how a value is of another kind, "" if it is of the parameter's.
func (d *param) mismatch(value *node) string {
	kinds := map[ParamKind]kind{ParamText: kindText, ParamNumber: kindNumber, ParamBoolean: kindBoolean, ParamList: kindList, ParamMapping: kindObject, ParamSecret: kindObject}
	isSecret := value.kind == kindObject && markerOf(value) == resource.SecretMarker
	switch {
	case d.kind == ParamSecret && !isSecret:
		return fmt.Sprintf("the parameter %s is a secret; write {$secret: env:NAME}, {$secret: file:NAME} or {$secret: keyvault:https://VAULT/secrets/NAME}", d.name)
	case d.kind != ParamSecret && isSecret:
		return fmt.Sprintf("the parameter %s is %s, and a $secret is a secret; declare it as kind: secret", d.name, article(d.kind))
	case value.kind != kinds[d.kind]:
		hint := ""
		if d.kind == ParamText {
			hint = "; put it in quotes"
		}
		return fmt.Sprintf("the parameter %s is %s; found %s%s", d.name, article(d.kind), value.kind, hint)
	}
	return ""
}

// refusal returns why a value is not allowed, "" if it is.
func (d *param) refusal(value *node) string {
	if message := d.mismatch(value); message != "" {
		return message
	}
	if marker := value.markerInside(); marker != "" {
		return fmt.Sprintf("the value contains %s, which is written in a manifest", marker)
	}
	if d.oneOf == nil || slices.ContainsFunc(d.oneOf, func(allowed *node) bool { return allowed.compact() == value.compact() }) {
		return ""
	}
	var words []string
	for _, allowed := range d.oneOf {
		words = append(words, allowed.compact())
	}
	found := "the value"
	if !resource.SecretName(d.name) {
		found = value.compact()
	}
	return fmt.Sprintf("%s is not allowed%s; allowed: %s", found, nearest.Suggest(found, words), strings.Join(words, ", "))
}

// article returns a kind with its article.
func article(kind ParamKind) string { return "a " + string(kind) }

// markerInside returns $param, $text or $guid if a value contains one.
func (n *node) markerInside() string {
	for _, f := range n.fields {
		if slices.Contains([]string{resource.ParamMarker, resource.TextMarker, resource.GUIDMarker}, f.name) {
			return f.name
		}
		if found := f.value.markerInside(); found != "" {
			return found
		}
	}
	for _, item := range n.items {
		if found := item.markerInside(); found != "" {
			return found
		}
	}
	return ""
}
