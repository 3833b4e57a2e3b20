package resource

import (
	"maps"
	"slices"
	"strings"
)

// WithSecrets returns the desired state with Plain, Secret and SecretRefs as its body
// states them, whatever the client sent: what is masked must not depend on the version or
// the intent of the client. A body that is no JSON object has none. The result depends on
// nothing but the body.
func (d Desired) WithSecrets() Desired {
	d.Plain, d.Secret, d.SecretRefs = nil, nil, nil
	body, err := DecodeBody(d.Body)
	if err != nil {
		return d
	}
	walk := &stated{desired: &d}
	walk.object(body, Place{})
	return d
}

// PublicProperty reports whether the value of a property, and everything below, is shown
// by Azure to every reader: no secret may stand there.
func PublicProperty(name string) bool {
	return strings.EqualFold(name, "tags") || strings.EqualFold(name, "name") || strings.EqualFold(name, "location")
}

// stated collects what a body states about secrets. It walks as the reader of manifests
// does, by the names and surroundings that SecretProperty knows.
type stated struct {
	desired *Desired
	// path leads to the current value.
	path Path
}

func (s *stated) value(value any, at Place) {
	switch value := value.(type) {
	case map[string]any:
		s.object(value, at)
	case []any:
		for i, item := range value {
			step := Step{Index: i, IsIndex: true}
			if object, _ := item.(map[string]any); object != nil {
				// Servers reorder lists, so that a name identifies an element better.
				if name, _ := object["name"].(string); name != "" && !strings.ContainsAny(name, "[]=") {
					step = Step{Key: "name", Value: name}
				}
			}
			s.below(step, item, at)
		}
	case string:
		if value == "" || !at.Secret() && !ContainsCredential(value) {
			return
		}
		if text := s.path.String(); expressible(s.path) == text {
			s.desired.Plain = append(s.desired.Plain, text)
		}
	}
}

// below walks a value one step further.
func (s *stated) below(step Step, value any, at Place) {
	s.path = append(s.path, step)
	s.value(value, at)
	s.path = s.path[:len(s.path)-1]
}

func (s *stated) object(object map[string]any, at Place) {
	if marker, found := object[SecretMarker]; found {
		s.secret(marker)
		return
	}
	if _, found := object[RefMarker]; found {
		return
	}
	if text, found := object[TextMarker]; found {
		s.value(text, at)
		return
	}
	label, has := LabelOf(object), HasMember(object)
	for _, name := range slices.Sorted(maps.Keys(object)) {
		value := object[name]
		switch value.(type) {
		case map[string]any, []any, string:
			s.below(Step{Name: name}, value, at.Member(name, label, has))
		}
	}
}

// secret records a $secret. A marker of another form is no reference: it may be a
// misplaced secret.
func (s *stated) secret(marker any) {
	if path := expressible(s.path); path != "" {
		s.desired.Secret = append(s.desired.Secret, path)
	}
	reference, _ := marker.(string)
	source, _, _ := strings.Cut(reference, ":")
	if slices.Contains([]string{"env", "file", "keyvault"}, source) && !slices.Contains(s.desired.SecretRefs, reference) {
		s.desired.SecretRefs = append(s.desired.SecretRefs, reference)
	}
}

// expressible returns the text of a path, or of the longest beginning of it that the text
// form can express: more is masked then.
func expressible(path Path) string {
	for ; len(path) > 0; path = path[:len(path)-1] {
		text := path.String()
		if parsed, err := ParsePath(text); err == nil && slices.Equal(parsed, path) {
			return text
		}
	}
	return ""
}

// LabelOf returns the text with which an object labels its "value", "" without one.
func LabelOf(object map[string]any) string {
	for _, name := range SecretLabels() {
		value, _ := Step{Name: name}.Get(object)
		if text, _ := value.(string); text != "" {
			return text
		}
	}
	return ""
}
