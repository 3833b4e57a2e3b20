package drift

import (
	"github.com/armature-io/armature/resource"
)

// RemoveFormerValues removes from a merged payload the values that the last applied body had
// and desired no longer has: merged from observed, they would stay forever. Values
// of other writers and ignored paths remain.
func RemoveFormerValues(payload, desired map[string]any, opts Options) {
	r := remover{
		applied: opts.Baseline.Applied.decode(), ignore: resource.ParsePaths(opts.Ignore), subject: opts.sender(payload),
	}
	if len(r.applied) > 0 {
		r.members(payload, sides{value: payload, desired: desired})
	}
}

type remover struct {
	applied decodedSet
	ignore  []resource.Path
	subject *subject
}

func (r remover) members(payload map[string]any, of sides) {
	for at := range r.subject.inside(of) {
		if isIgnored(at.path, r.ignore) || at.desired == nil && !r.applied.has(at.path) {
			continue
		}
		rest := r.value(at)
		if at.desired == nil && isEmpty(rest) {
			delete(payload, at.name())
			continue
		}
		payload[at.name()] = rest
	}
}

// value returns the rest of a value; nil if desired has none and no other tool has a part
// in it.
func (r remover) value(of sides) any {
	switch value := of.value.(type) {
	case map[string]any:
		if _, isMap := of.desired.(map[string]any); isMap || of.desired == nil {
			r.members(value, of)
		}
		return value
	case []any:
		if _, isList := of.desired.([]any); isList || of.desired == nil {
			return r.items(value, of)
		}
	}
	if of.desired == nil {
		return nil
	}
	return of.value
}

// items filters a list with items identified by a key; any other list is taken from
// desired.
func (r remover) items(payload []any, of sides) []any {
	rest := make([]any, 0, len(payload))
	for item := range r.subject.inside(of) {
		switch {
		case !item.keyed && of.desired == nil:
			return nil
		case !item.keyed:
			return payload
		case item.isStated:
			rest = append(rest, r.value(item))
		case item.path[len(item.path)-1].IsIndex || !r.applied.has(item.path):
			rest = append(rest, item.value)
		}
	}
	return rest
}
