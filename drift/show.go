package drift

import (
	"slices"

	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/resource"
)

// maxShown is the maximum length of a displayed value, in characters.
const maxShown = 120

const (
	absentText = "absent"
	maskedText = "(masked)"
)

// difference is a resource.Difference with its values.
type difference struct {
	path     resource.Path
	desired  any
	observed any
	present  bool
	rule     string
	// text is the displayed path.
	text string
	// hidden is set if a GET does not show the value; the rule has the reason. masked
	// is set if it shows a mask instead.
	hidden, masked bool
	// settled is set on a value that only a creation uses if observed shows it.
	settled bool
	// uncertain is set if the difference counts only beside a baseline.
	uncertain bool
}

func (w *walker) add(p cursor, rule string) {
	w.found = append(w.found, difference{path: slices.Clone(p.path), desired: p.desired, observed: p.observed, present: p.present, rule: rule})
}

// show returns the difference with values masked and cut for display.
func (d difference) show() resource.Difference {
	shown := resource.Difference{Path: d.path.String(), Rule: d.rule, Observed: absentText}
	secret := resource.SecretName(lastName(d.path)) && !cursorAt(d.path, nil).rights || resource.Masked(d.observed)
	if desired, observed, ok := d.documents(); ok && !secret {
		var differing parts
		differing.compare(nil, desired, observed)
		shown.Parts, shown.MoreParts = differing.found, differing.more
		shown.Desired, shown.Observed = text.CutPair(desired.text(), observed.text(), maxShown)
		return shown
	}
	shown.Desired = compactJSON(mask(d.desired, secret))
	if d.present {
		shown.Observed = compactJSON(mask(d.observed, secret))
		shown.Desired, shown.Observed = text.CutPair(shown.Desired, shown.Observed, maxShown)
		return shown
	}
	shown.Desired = text.Cut(shown.Desired, maxShown)
	return shown
}

// mask replaces strings that are secret, by their own form or by the name of their
// property.
func mask(value any, secret bool) any {
	switch v := value.(type) {
	case string:
		if secret || resource.Masked(v) {
			return maskedText
		}
	case []any:
		masked := make([]any, len(v))
		for i, item := range v {
			masked[i] = mask(item, secret)
		}
		return masked
	case map[string]any:
		if isMarker(v) {
			return v
		}
		masked := make(map[string]any, len(v))
		for name, member := range v {
			masked[name] = mask(member, secret || resource.SecretName(name))
		}
		return masked
	}
	return value
}

// compactJSON returns a value as compact JSON.
func compactJSON(value any) string {
	if masked, ok := value.(string); ok && masked == maskedText {
		return maskedText
	}
	encoded, err := text.JSON(value)
	if err != nil {
		return "(not shown)"
	}
	return encoded
}
