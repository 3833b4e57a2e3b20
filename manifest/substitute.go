package manifest

import (
	"fmt"
	"slices"

	"cel.dev/cel-go/cel"

	"github.com/armature-io/armature/internal/expression"
	"github.com/armature-io/armature/resource"
)

// The variables of expressions in a $text.
const (
	paramsVariable = "params"
	refVariable    = expression.Reference
)

// maxRendered bounds the values that parameters and texts add to one document, in
// values and in bytes of text.
const (
	maxRenderedValues = maxNodes
	maxRenderedBytes  = maxFileBytes
)

// document is one document of a file.
type document struct {
	file string
	root *node
}

// renderer replaces parameters, texts and GUIDs in documents by their values.
type renderer struct {
	loader  *loader
	project *project
	env     *cel.Env
	values  map[string]any
	// file and budget are of the current document.
	file                string
	valuesLeft, bytesOf int
}

func newRenderer(l *loader, p *project) *renderer {
	r := &renderer{loader: l, project: p, values: map[string]any{}}
	var err error
	if r.env, err = expression.NewEnv(cel.Variable(paramsVariable, cel.DynType), cel.Variable(refVariable, cel.DynType)); err != nil {
		l.report(Issue{Message: fmt.Sprintf("expressions cannot be used: %v", err)})
	}
	if p != nil {
		for _, declared := range p.params {
			if declared.value != nil && declared.kind != ParamSecret {
				r.values[declared.name] = declared.value.plain()
			}
		}
	}
	return r
}

// document returns a document with its values in place, nil after an issue that
// makes it unusable.
func (r *renderer) document(d document) *node {
	r.file, r.valuesLeft, r.bytesOf = d.file, maxRenderedValues, maxRenderedBytes
	return r.value(d.root, newPath())
}

func (r *renderer) fault(at position, path resource.Path, format string, args ...any) {
	r.loader.report(Issue{File: at.in(r.file), Line: at.line, Column: at.column, Path: path.String(), Message: fmt.Sprintf(format, args...)})
}

// value returns a value with all below in place, the same node if nothing changes, and
// nil for what is left out: an optional parameter, or an issue.
func (r *renderer) value(n *node, path resource.Path) *node {
	switch n.kind {
	case kindList:
		return r.list(n, path)
	case kindObject:
		switch {
		case n.get(resource.ParamMarker) != nil:
			return r.param(n, path)
		case n.get(resource.TextMarker) != nil:
			return r.text(n, path)
		case n.get(resource.GUIDMarker) != nil:
			return r.guid(n, path)
		}
		return r.object(n, path)
	}
	return n
}

func (r *renderer) object(n *node, path resource.Path) *node {
	var changed *node
	for i, f := range n.fields {
		value := r.value(f.value, append(path, resource.Step{Name: f.name}))
		if value != f.value && changed == nil {
			copied := *n
			copied.broken = slices.Clone(n.broken)
			copied.fields = append(make([]field, 0, len(n.fields)), n.fields[:i]...)
			changed = &copied
		}
		switch {
		case changed == nil:
		case value == nil:
			changed.broken = append(changed.broken, f.name)
		default:
			changed.fields = append(changed.fields, field{name: f.name, position: f.position, value: value})
		}
	}
	if changed == nil {
		return n
	}
	return changed
}

func (r *renderer) list(n *node, path resource.Path) *node {
	var changed *node
	for i, item := range n.items {
		value := r.value(item, append(path, resource.Step{Index: i, IsIndex: true}))
		if value != item && changed == nil {
			copied := *n
			copied.items = append(make([]*node, 0, len(n.items)), n.items[:i]...)
			changed = &copied
		}
		if changed != nil && value != nil {
			changed.items = append(changed.items, value)
		}
	}
	if changed == nil {
		return n
	}
	return changed
}

// alone reports whether a marker is the only property of its object.
func (r *renderer) alone(n *node, marker string, path resource.Path) bool {
	if len(n.fields) > 1 {
		r.fault(n.position, path, "%s must be the only property; remove the others", marker)
		return false
	}
	return true
}

// param returns the value of a parameter at the position of its marker.
func (r *renderer) param(n *node, path resource.Path) *node {
	if !r.alone(n, resource.ParamMarker, path) {
		return nil
	}
	name := n.get(resource.ParamMarker)
	if name.kind != kindText {
		r.fault(name.position, path, "$param: %s; write the name of a parameter", name.found())
		return nil
	}
	declared := r.project.param(name.text)
	switch {
	case declared == nil:
		r.fault(n.position, path, "%s", r.project.undeclared(name.text))
		return nil
	case declared.value == nil:
		if !declared.optional {
			r.noValue(n.position, path, declared)
		}
		return nil
	}
	placed := *declared.value
	placed.position = n.position
	if !r.spend(n.position, path, &placed) {
		return nil
	}
	return &placed
}

// noValue reports a parameter without a value, once.
func (r *renderer) noValue(at position, path resource.Path, declared *param) {
	if declared.reported {
		return
	}
	declared.reported = true
	where := "give --param " + declared.name + "=VALUE, or add a default to " + r.project.file
	if r.project.chosen != nil {
		where = fmt.Sprintf("add it to environments.%s.params in %s, or give --param %s=VALUE", r.project.chosen.name, r.project.file, declared.name)
	}
	r.fault(at, path, "the parameter %q has no value; %s", declared.name, where)
}

// spend counts what a value adds to a document, and reports false over the bounds.
func (r *renderer) spend(at position, path resource.Path, value *node) bool {
	if r.valuesLeft < 0 || r.bytesOf < 0 {
		return false
	}
	var count func(*node)
	count = func(n *node) {
		r.valuesLeft--
		r.bytesOf -= len(n.text)
		for _, f := range n.fields {
			r.bytesOf -= len(f.name)
			count(f.value)
		}
		for _, item := range n.items {
			count(item)
		}
	}
	count(value)
	if r.valuesLeft < 0 || r.bytesOf < 0 {
		r.fault(at, path, "parameters add more than %d values or %d MiB to the document; split it", maxRenderedValues, maxRenderedBytes>>20)
		return false
	}
	return true
}
