package plan

import (
	"maps"
	"slices"

	"github.com/armature-io/armature/internal/jsontree"
	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/resource"
)

// maskedText stands for a value that is not shown.
const maskedText = "(masked)"

// bodyDetails returns a line for each value of a body, sorted by path. $secret, $ref and
// $text are shown as the manifest states them. A manifest has no literal secret; what looks
// like one and is not stated to be plain is masked.
func bodyDetails(desired resource.Desired) []detail {
	body, err := resource.DecodeBody(desired.Body)
	if err != nil {
		return []detail{{remark: "the body is not shown: " + text.OneLine(err.Error())}}
	}
	w := bodyWriter{plain: desired.Plain}
	w.object(nil, body, resource.Surroundings{})
	return w.lines
}

type bodyWriter struct {
	plain []string
	lines []detail
}

func (w *bodyWriter) object(path resource.Path, object map[string]any, around resource.Surroundings) {
	inside := resource.Surroundings{Under: around.Under, Parent: around.Parent, Has: func(name string) bool {
		_, _, has := jsontree.Member(object, name)
		return has
	}}
	for _, name := range resource.SecretLabels() {
		if label, isText := object[name].(string); isText {
			inside.Label = label
			break
		}
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		secret := around.Under || resource.SecretProperty(name, inside)
		if resource.RightsName(name) {
			secret = false
		}
		w.value(path.With(resource.Step{Name: name}), object[name], resource.Surroundings{Under: secret, Parent: name})
	}
}

func (w *bodyWriter) value(path resource.Path, value any, around resource.Surroundings) {
	switch v := value.(type) {
	case map[string]any:
		if len(v) > 0 && !isMarker(v) {
			w.object(path, v, around)
			return
		}
	case []any:
		for i, item := range v {
			w.value(path.With(resource.Step{Index: i, IsIndex: true}), item, around)
		}
		if len(v) > 0 {
			return
		}
	case string:
		if (around.Under || resource.ContainsCredential(v)) && !slices.Contains(w.plain, path.String()) {
			value = maskedText
		}
	}
	w.lines = append(w.lines, detail{path: text.Name(path.String()), after: text.Visible(valueText(value)), added: true})
}

// isMarker reports whether an object stands for a value that is known later.
func isMarker(object map[string]any) bool {
	return slices.ContainsFunc(resource.Markers(), func(marker string) bool {
		_, marked := object[marker]
		return marked
	})
}

// valueText returns a value as compact JSON.
func valueText(value any) string {
	if value == maskedText {
		return maskedText
	}
	encoded, err := text.JSON(value)
	if err != nil {
		return "(not shown)"
	}
	return encoded
}
