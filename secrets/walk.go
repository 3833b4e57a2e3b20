package secrets

import (
	"maps"
	"slices"
	"strings"

	"github.com/armature-io/armature/resource"
)

// position is what the way to a value says about it.
type position struct {
	// secret: a text here is one by its property's name.
	secret bool
	// under: an enclosing property's name says secret.
	under bool
	// rights: an enclosing property says what somebody may do.
	rights bool
	// tags: it stands under tags.
	tags bool
	// hit: a pattern leads here or to something above.
	hit bool
	// ahead are the rests of the patterns that may still lead below.
	ahead []resource.Path
}

// walk masks the texts that secret picks. What holds none of them is not copied.
type walk struct {
	masker *Masker
	secret func(text string, at position) bool
}

func (m *Masker) apply(observed map[string]any, secret func(string, position) bool, patterns []resource.Path) map[string]any {
	if observed == nil {
		return nil
	}
	w := &walk{masker: m, secret: secret}
	masked, _ := w.object(observed, position{ahead: patterns})
	return masked
}

// value is a value with its masks, and whether it has any.
func (w *walk) value(value any, at position) (any, bool) {
	switch value := value.(type) {
	case map[string]any:
		return w.object(value, at)
	case []any:
		return w.list(value, at)
	case string:
		if w.secret(value, at) {
			return w.masker.Value(value), true
		}
	}
	return value, false
}

func (w *walk) list(list []any, at position) ([]any, bool) {
	masked, changed := list, false
	for i, item := range list {
		next, hit := w.value(item, at.follow(func(step resource.Step) bool { return step.MatchesElement(i, item) }))
		if hit && !changed {
			masked, changed = slices.Clone(list), true
		}
		if hit {
			masked[i] = next
		}
	}
	return masked, changed
}

func (w *walk) object(object map[string]any, at position) (map[string]any, bool) {
	masked, changed := object, false
	label := labelOf(object)
	for name, value := range object {
		next := at.follow(func(step resource.Step) bool {
			return !step.Any && !step.IsIndex && step.Key == "" && strings.EqualFold(step.Name, name)
		})
		next.secret = !at.rights && resource.SecretProperty(name, at.under, label)
		next.rights = at.rights || resource.RightsName(name)
		next.under = at.under || resource.SecretName(name)
		next.tags = at.tags || strings.EqualFold(name, "tags")
		hidden, hit := w.value(value, next)
		if hit && !changed {
			masked, changed = maps.Clone(object), true
		}
		if hit {
			masked[name] = hidden
		}
	}
	return masked, changed
}

// follow returns the position one step further, with the patterns that match.
func (p position) follow(matches func(resource.Step) bool) position {
	ahead, ends := resource.Advance(p.ahead, matches)
	p.ahead, p.hit = ahead, p.hit || ends
	return p
}

// labelOf is the text with which an object says what its "value" is.
func labelOf(object map[string]any) string {
	for _, name := range resource.SecretLabels() {
		value, _ := resource.Step{Name: name}.Get(object)
		if text, _ := value.(string); text != "" {
			return text
		}
	}
	return ""
}
