package drift

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/armature-io/armature/internal/jsontree"
	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/resource"
)

// isSameJSON reports whether both texts are the same JSON document. Azure changes
// the white space and the order of members in JSON strings.
func isSameJSON(p cursor) bool {
	a, b, ok := texts(p)
	if !ok || !opensJSON(a) || !opensJSON(b) {
		return false
	}
	documentA, okA := document(a)
	documentB, okB := document(b)
	return okA && okB && reflect.DeepEqual(documentA, documentB)
}

func opensJSON(text string) bool {
	text = strings.TrimSpace(text)
	return strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[")
}

// document returns the object or list that a text contains, numbers as they are spelled. A
// text with a repeated member is none: readers take the first value or the last one, so
// another spelling of it is another document.
func document(text string) (value any, ok bool) {
	if !opensJSON(text) {
		return nil, false
	}
	raw := []byte(text)
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if decoder.Decode(&value) != nil {
		return nil, false
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, false
	}
	return value, !repeatsMember(raw)
}

// repeatsMember reports whether an object in a valid JSON text has a member twice.
func repeatsMember(raw []byte) bool {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	type level struct {
		names map[string]bool // nil for a list
		value bool            // a member's value follows
	}
	var levels []level
	for {
		token, err := decoder.Token()
		if err != nil {
			return false
		}
		inside := len(levels) - 1
		if name, isName := token.(string); isName && inside >= 0 && levels[inside].names != nil && !levels[inside].value {
			if levels[inside].names[name] {
				return true
			}
			levels[inside].names[name], levels[inside].value = true, true
			continue
		}
		if inside >= 0 {
			levels[inside].value = false
		}
		switch token {
		case json.Delim('{'):
			levels = append(levels, level{names: map[string]bool{}})
		case json.Delim('['):
			levels = append(levels, level{})
		case json.Delim('}'), json.Delim(']'):
			levels = levels[:inside]
		}
	}
}

// documents returns the two sides of a difference of two texts that contain different JSON
// documents. Where only the spelling differs, the texts are shown.
func (d difference) documents() (desired, observed side, ok bool) {
	a, isText := d.desired.(string)
	b, wasText := d.observed.(string)
	if !isText || !wasText {
		return side{}, side{}, false
	}
	documentA, okA := document(a)
	documentB, okB := document(b)
	if !okA || !okB || reflect.DeepEqual(documentA, documentB) {
		return side{}, side{}, false
	}
	return newSide(documentA), newSide(documentB), true
}

// side is one of two compared values in documents. Masked values that differ look the same,
// so that the values are compared and the masked ones shown.
type side struct {
	value, masked any
	present       bool
}

func newSide(document any) side {
	return side{value: document, masked: maskDocument(document, resource.Surroundings{}), present: true}
}

// member returns the member of an object.
func (s side) member(name string) side {
	object, _ := s.value.(map[string]any)
	masked, _ := s.masked.(map[string]any)
	value, present := object[name]
	return side{value: value, masked: masked[name], present: present}
}

// item returns the item of a list.
func (s side) item(i int) side {
	list, _ := s.value.([]any)
	masked, _ := s.masked.([]any)
	if i >= len(list) {
		return side{}
	}
	return side{value: list[i], masked: masked[i], present: true}
}

// text returns the value for display.
func (s side) text() string {
	if !s.present {
		return absentText
	}
	return compactJSON(s.masked)
}

// maskDocument is mask for a document in a text, which no other package masks.
func maskDocument(value any, around resource.Surroundings) any {
	switch v := value.(type) {
	case string:
		if around.Under || resource.Masked(v) || resource.ContainsCredential(v) {
			return maskedText
		}
	case []any:
		masked := make([]any, len(v))
		for i, item := range v {
			masked[i] = maskDocument(item, around)
		}
		return masked
	case map[string]any:
		inside := resource.Surroundings{Under: around.Under, Parent: around.Parent, Has: func(name string) bool {
			_, _, has := jsontree.Member(v, name)
			return has
		}}
		for _, name := range resource.SecretLabels() {
			if _, label, has := jsontree.Member(v, name); has {
				inside.Label, _ = label.(string)
				break
			}
		}
		masked := make(map[string]any, len(v))
		for name, member := range v {
			secret := around.Under || resource.SecretProperty(name, inside)
			masked[name] = maskDocument(member, resource.Surroundings{Under: secret, Parent: name})
		}
		return masked
	}
	return value
}

// parts collects where two documents differ.
type parts struct {
	found []resource.DifferencePart
	more  int
}

// compare adds the members that differ, at most resource.MaxParts. Items of lists are
// compared by position.
func (p *parts) compare(path resource.Path, desired, observed side) {
	if desired.present && observed.present && reflect.DeepEqual(desired.value, observed.value) {
		return
	}
	objectA, isA := desired.value.(map[string]any)
	objectB, isB := observed.value.(map[string]any)
	listA, isListA := desired.value.([]any)
	listB, isListB := observed.value.([]any)
	switch {
	case isA && isB:
		names := slices.AppendSeq(slices.Collect(maps.Keys(objectA)), maps.Keys(objectB))
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			p.compare(path.With(resource.Step{Name: name}), desired.member(name), observed.member(name))
		}
	case isListA && isListB:
		for i := range max(len(listA), len(listB)) {
			p.compare(path.With(resource.Step{Index: i, IsIndex: true}), desired.item(i), observed.item(i))
		}
	case len(p.found) == resource.MaxParts:
		p.more++
	default:
		part := resource.DifferencePart{Path: text.Cut(path.String(), maxShown)}
		part.Desired, part.Observed = text.CutPair(desired.text(), observed.text(), maxShown)
		p.found = append(p.found, part)
	}
}
