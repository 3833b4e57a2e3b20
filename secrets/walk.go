package secrets

import (
	"maps"
	"slices"
	"strings"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// position is the state of the walk at a value: what its path implies.
type position struct {
	// place: what the names on the way say.
	place resource.Place
	// underTags: an enclosing property is tags.
	underTags bool
	// matched: a pattern matches here or above.
	matched bool
	// rest are the remaining steps of the patterns that may match below.
	rest []resource.Path
	// public: a public path leads here; publicRest are the remaining steps of such paths.
	public     bool
	publicRest []resource.Path
	// published: the value is published as a secret, or one around it is.
	published bool
	// publishedRest are the remaining steps of the published secrets.
	publishedRest *types.Paths
}

// walk masks the texts that isSecret selects. Objects and lists without one are not
// copied.
type walk struct {
	masker   *Masker
	isSecret func(text string, at position) bool
}

// apply returns observed with masks for the selected texts.
func (m *Masker) apply(observed map[string]any, isSecret func(string, position) bool, start position) map[string]any {
	if observed == nil {
		return nil
	}
	w := &walk{masker: m, isSecret: isSecret}
	masked, _ := w.object(observed, start)
	return masked
}

// value returns a value with its masks, and whether it has any.
func (w *walk) value(value any, at position) (any, bool) {
	switch value := value.(type) {
	case map[string]any:
		return w.object(value, at)
	case []any:
		return w.list(value, at)
	case string:
		if w.isSecret(value, at) {
			return w.masker.Value(value), true
		}
	}
	return value, false
}

func (w *walk) list(list []any, at position) ([]any, bool) {
	masked, changed := list, false
	for i, item := range list {
		next := at.follow(resource.Step{}, func(step resource.Step) bool { return step.MatchesElement(i, item) })
		hidden, found := w.value(item, next)
		if !found {
			continue
		}
		if !changed {
			masked, changed = slices.Clone(list), true
		}
		masked[i] = hidden
	}
	return masked, changed
}

func (w *walk) object(object map[string]any, at position) (map[string]any, bool) {
	masked, changed := object, false
	label, has := resource.LabelOf(object), resource.HasMember(object)
	for name, value := range object {
		next := at.follow(resource.Step{Name: name}, func(step resource.Step) bool {
			return !step.Any && !step.IsIndex && step.Key == "" && strings.EqualFold(step.Name, name)
		})
		next.place = at.place.Member(name, label, has)
		next.underTags = at.underTags || strings.EqualFold(name, "tags")
		hidden, found := w.value(value, next)
		if !found {
			continue
		}
		if !changed {
			masked, changed = maps.Clone(object), true
		}
		masked[name] = hidden
	}
	return masked, changed
}

// follow returns the position one step further, with the patterns that match the step.
func (p position) follow(step resource.Step, matches func(resource.Step) bool) position {
	rest, matched := resource.Advance(p.rest, matches)
	p.rest, p.matched = rest, p.matched || matched
	p.publicRest, p.public = resource.Advance(p.publicRest, matches)
	p.publishedRest = p.publishedRest.Below(step)
	p.published = p.published || p.publishedRest.Ends()
	return p
}
