package drift

import (
	"slices"

	"github.com/armature-io/armature/internal/jsontree"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// maxRepairs bounds the repairs of a merged body. A value that is left out may leave an
// object that lacks a required member, so that it is checked after each.
const maxRepairs = 50

// repairBody removes from a merged body the values that the manifest does not state and
// that the published shape of the type does not allow there, and corrects their spelling.
// own is the body without them. It returns what it removed, and the paths of the findings
// that remain although own has no such finding: such a body must not be sent.
//
// refused is set where Azure refused a value beside the same manifest: it is then left out
// although the shape requires it.
func repairBody(body, own map[string]any, refused bool, opts Options) (removed []Leaf, violations []string) {
	shape := types.Lookup(opts.Type, opts.APIVersion)
	if shape == nil {
		return nil, nil
	}
	r := repair{own: own, body: body, subject: opts.sender(body), known: map[string]bool{}}
	for _, f := range shape.Check(own) {
		r.known[findingKey(f)] = true
	}
	var open []types.Finding
	for range maxRepairs {
		open = slices.DeleteFunc(shape.Check(body), func(f types.Finding) bool {
			return r.known[findingKey(f)] || isHint(shape, f) || refused && f.Rule == types.MissingProperty
		})
		if len(open) == 0 {
			return r.removed, nil
		}
		if !slices.ContainsFunc(open, r.finding) {
			break
		}
	}
	for _, f := range open {
		violations = append(violations, f.Path.String())
	}
	return r.removed, violations
}

// isHint reports whether a finding only suggests another spelling of a value: other values
// than the published ones are legal there, and Azure shows this one.
func isHint(shape *types.Shape, f types.Finding) bool {
	if f.Rule != types.ValueNotAllowed {
		return false
	}
	found, free := shape.Find(f.Path)
	return free || slices.ContainsFunc(found, func(p types.Property) bool {
		_, open := p.Type.Values()
		return open
	})
}

// findingKey identifies a finding in two bodies, in which a list may have its items at
// other positions.
func findingKey(f types.Finding) string {
	return string(f.Rule) + " " + pattern(f.Path)
}

type repair struct {
	own, body map[string]any
	subject   *subject
	known     map[string]bool
	removed   []Leaf
}

// finding repairs what a finding is about, and reports whether it could.
func (r *repair) finding(f types.Finding) bool {
	path := f.Path
	if f.Rule == types.MissingProperty {
		path = path[:max(len(path)-1, 0)]
	}
	keyed, isStated := r.counterpart(path)
	value, present := path.Get(r.body)
	if len(path) == 0 || isStated || !present {
		return false
	}
	if f.Rule == types.LetterCase && f.Suggestion != "" {
		return respell(r.body, f)
	}
	r.removed = append(r.removed, Leaf{Path: keyed, Value: value})
	removeAt(r.body, path)
	return true
}

// counterpart returns the path of a value of the body with the keys of list items, and
// whether own states the value.
func (r *repair) counterpart(path resource.Path) (keyed resource.Path, isStated bool) {
	var own, body any = r.own, r.body
	isStated = true
	for _, step := range path {
		next, _ := step.Get(body)
		if !step.IsIndex {
			object, _ := own.(map[string]any)
			_, value, found := jsontree.Member(object, step.Name)
			own, isStated = value, isStated && found
			body, keyed = next, keyed.With(step)
			continue
		}
		items, _ := own.([]any)
		shown, _ := body.([]any)
		pairs, at := r.subject.pair(keyed, items, shown), -1
		if step.Index < len(shown) {
			at, step = pairs.Of()[step.Index], pairs.Step(step.Index, next)
		}
		own = nil
		if isStated = isStated && at >= 0; isStated {
			own = items[at]
		}
		body, keyed = next, keyed.With(step)
	}
	return keyed, isStated
}

// respell writes a name or a value as it is published.
func respell(body map[string]any, f types.Finding) bool {
	last := f.Path[len(f.Path)-1]
	parent := valueAt(f.Path[:len(f.Path)-1], body)
	object, isMap := parent.(map[string]any)
	items, isList := parent.([]any)
	switch {
	case isMap && f.AtName:
		value := object[last.Name]
		delete(object, last.Name)
		object[f.Suggestion] = value
	case isMap:
		object[last.Name] = f.Suggestion
	case isList && last.IsIndex && last.Index < len(items):
		items[last.Index] = f.Suggestion
	default:
		return false
	}
	return true
}

// removeAt removes the value at a path of indexes and names, and returns what is left.
func removeAt(value any, path resource.Path) any {
	step, rest := path[0], path[1:]
	switch at := value.(type) {
	case map[string]any:
		name, inner, _ := jsontree.Member(at, step.Name)
		if len(rest) == 0 {
			delete(at, name)
		} else {
			at[name] = removeAt(inner, rest)
		}
	case []any:
		if step.Index >= len(at) {
			return at
		}
		if len(rest) == 0 {
			return slices.Delete(at, step.Index, step.Index+1)
		}
		at[step.Index] = removeAt(at[step.Index], rest)
	}
	return value
}

// leaves visits the paths of the leaves of a value, and the value's own.
func leaves(value any, path resource.Path, visit func(resource.Path)) {
	visit(path)
	members, _ := value.(map[string]any)
	for name, member := range members {
		leaves(member, path.With(resource.Step{Name: name}), visit)
	}
}
