package drift

import (
	"github.com/armature-io/armature/internal/jsontree"
	"github.com/armature-io/armature/resource"
)

// RemoveFormerValues removes from a merged payload the values that the last applied body had
// and desired no longer has: merged from observed, they would stay forever. Values
// of other writers and ignored paths remain.
func RemoveFormerValues(payload, desired map[string]any, opts Options) {
	t := remover{
		applied: opts.Baseline.Applied.decoded(), ignore: resource.ParsePaths(opts.Ignore), subject: opts.sender(payload),
	}
	if len(t.applied) > 0 {
		t.members(payload, desired, nil)
	}
}

type remover struct {
	applied decodedSet
	ignore  []resource.Path
	subject *subject
}

func (t remover) members(payload, desired map[string]any, path resource.Path) {
	for name := range jsontree.Names(payload) {
		below := path.With(resource.Step{Name: name})
		_, stated, _ := jsontree.Member(desired, name)
		if isIgnored(below, t.ignore) || stated == nil && !t.applied.has(below) {
			continue
		}
		remaining := t.value(payload[name], stated, below)
		if stated == nil && isEmpty(remaining) {
			delete(payload, name)
			continue
		}
		payload[name] = remaining
	}
}

// value returns what remains of a value; nil if desired states nothing and no other
// writer has a part in it.
func (t remover) value(payload, stated any, path resource.Path) any {
	switch value := payload.(type) {
	case map[string]any:
		own, isMap := stated.(map[string]any)
		if isMap || stated == nil {
			t.members(value, own, path)
		}
		return value
	case []any:
		own, isList := stated.([]any)
		if isList || stated == nil {
			return t.items(value, own, path)
		}
	}
	if stated == nil {
		return nil
	}
	return payload
}

// items filters a list with items identified by a key; any other list is taken
// from desired.
func (t remover) items(payload, desired []any, path resource.Path) []any {
	pairs := t.subject.pair(path, desired, payload)
	if pairs.Key == "" {
		if desired == nil {
			return nil
		}
		return payload
	}
	kept := make([]any, 0, len(payload))
	for at, i := range pairs.Of() {
		item, step := payload[at], pairs.Step(at, payload[at])
		below := path.With(step)
		switch {
		case i >= 0:
			item = t.value(item, desired[i], below)
		case !step.IsIndex && t.applied.has(below):
			continue
		}
		kept = append(kept, item)
	}
	return kept
}
