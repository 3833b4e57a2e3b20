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

// Body returns the body of a manifest for people. $secret, $ref and $text are as the manifest
// states them. A manifest has no literal secret; what looks like one and is not stated to be
// plain is masked.
func Body(desired resource.Desired) (map[string]any, error) {
	body, err := resource.DecodeBody(desired.Body)
	if err != nil {
		return nil, err
	}
	return bodyMasker{plain: desired.Plain}.object(nil, body, resource.Surroundings{}), nil
}

// bodyDetails returns a line for each value of a body, sorted by path.
func bodyDetails(desired resource.Desired) []detail {
	body, err := Body(desired)
	if err != nil {
		return []detail{{remark: "the body is not shown: " + text.OneLine(err.Error())}}
	}
	var lines []detail
	for _, name := range slices.Sorted(maps.Keys(body)) {
		lines = appendBody(lines, resource.Path{{Name: name}}, body[name])
	}
	return lines
}

// appendBody appends a line for each value in a value.
func appendBody(lines []detail, path resource.Path, value any) []detail {
	switch v := value.(type) {
	case map[string]any:
		if len(v) > 0 && !isMarker(v) {
			for _, name := range slices.Sorted(maps.Keys(v)) {
				lines = appendBody(lines, path.With(resource.Step{Name: name}), v[name])
			}
			return lines
		}
	case []any:
		for i, item := range v {
			lines = appendBody(lines, path.With(resource.Step{Index: i, IsIndex: true}), item)
		}
		if len(v) > 0 {
			return lines
		}
	}
	return append(lines, detail{path: text.Name(path.String()), after: text.Visible(valueText(value)), added: true})
}

// bodyMasker copies a body with masks in place of secrets.
type bodyMasker struct{ plain []string }

func (m bodyMasker) object(path resource.Path, object map[string]any, around resource.Surroundings) map[string]any {
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
	masked := make(map[string]any, len(object))
	for name, value := range object {
		secret := around.Under || resource.SecretProperty(name, inside)
		if resource.RightsName(name) {
			secret = false
		}
		masked[name] = m.value(path.With(resource.Step{Name: name}), value, resource.Surroundings{Under: secret, Parent: name})
	}
	return masked
}

func (m bodyMasker) value(path resource.Path, value any, around resource.Surroundings) any {
	switch v := value.(type) {
	case map[string]any:
		if !isMarker(v) {
			return m.object(path, v, around)
		}
	case []any:
		items := make([]any, len(v))
		for i, item := range v {
			items[i] = m.value(path.With(resource.Step{Index: i, IsIndex: true}), item, around)
		}
		return items
	case string:
		if (around.Under || resource.ContainsCredential(v)) && !slices.Contains(m.plain, path.String()) {
			return maskedText
		}
	}
	return value
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
