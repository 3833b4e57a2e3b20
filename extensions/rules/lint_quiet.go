package rules

import (
	"reflect"
	"slices"
	"strings"

	"cel.dev/cel-go/common/ast"
	celtypes "cel.dev/cel-go/common/types"

	"github.com/armature-io/armature/internal/expression"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// creation warns of a pre-check that blocks every resource that does not exist yet.
func (l *lint) creation(r *rule) {
	if r.at != atPre || r.when.IsZero() {
		return
	}
	absent := map[string]any{"observed": celtypes.NullValue, "forced": false}
	if value, constant := r.when.ConstantFor(absent); constant && value == celtypes.True {
		when := r.parts[partIndex(r, "when")]
		l.file.warn(when.node, "the condition is true for every resource that does not exist yet, so that none is ever created; begin it with observed != null &&")
	}
}

// masked warns of a message with a value that a worker masks.
func (l *lint) masked(r *rule, p part, e expression.Expression, shapes map[string]string) {
	if p.decides || r.at == atError || strings.HasPrefix(p.what, "set ") {
		return
	}
	eachPath(e.Tree(), e.Tree().Expr(), shapes, func(node ast.Expr, at bodyPath) {
		if at.malformed != nil || slices.Contains([]string{"desired", "payload"}, at.variable) || r.at == atPayload && at.variable == "observed" {
			return
		}
		if l.isMasked(shapes[at.variable], at.path) {
			l.warnAt(p, e, node, "%s of %s is a secret by its name or its type, so that a worker shows a mask in its place", at.path, shapes[at.variable])
		}
	})
}

// isMasked reports whether a worker masks a text at a path of a type.
func (l *lint) isMasked(resourceType string, path resource.Path) bool {
	id, _, err := exampleIDs(resourceType)
	if err != nil || len(path) == 0 || !mayBeText(resourceType, path) {
		return false
	}
	var value any = "text"
	for _, step := range slices.Backward(path) {
		switch {
		case step.Name != "":
			value = map[string]any{step.Name: value}
		default:
			value = []any{value}
		}
	}
	body, isObject := value.(map[string]any)
	if !isObject {
		return false
	}
	// The mask is the only thing that a view changes.
	return !reflect.DeepEqual(l.view.Other(&resource.Object{ID: id, Observed: body}).Observed, body)
}

// mayBeText reports whether a type has a text at a path, or does not publish what it has.
func mayBeText(resourceType string, path resource.Path) bool {
	shape := types.Lookup(resourceType, types.Newest(resourceType))
	if shape == nil {
		return true
	}
	found, free := shape.Find(path)
	if len(found) == 0 || free {
		return true
	}
	return slices.ContainsFunc(found, func(p types.Property) bool {
		return p.Type.Kind != types.Object && p.Type.Kind != types.Discriminated && p.Type.Kind != types.List
	})
}

// texts warns of text() at a path of a number, a boolean, an object or a list: it is "" there.
func (l *lint) texts(p part, e expression.Expression, shapes map[string]string) {
	ast.PreOrderVisit(e.Tree().Expr(), ast.NewExprVisitor(func(node ast.Expr) {
		if node.Kind() != ast.CallKind || node.AsCall().FunctionName() != "text" {
			return
		}
		at, isPath := bodyPathOf(node, shapes)
		if !isPath || at.malformed != nil {
			return
		}
		shape := types.Lookup(shapes[at.variable], types.Newest(shapes[at.variable]))
		if shape == nil {
			return
		}
		found, free := shape.Find(at.path)
		isText := func(p types.Property) bool {
			return !slices.Contains([]types.Kind{types.Integer, types.Boolean, types.Object, types.Discriminated, types.List}, p.Type.Kind)
		}
		if len(found) > 0 && !free && !slices.ContainsFunc(found, isText) {
			l.warnAt(p, e, node, "%s of %s is no text, so that text() is always \"\"; use at() or number()", at.path, shapes[at.variable])
		}
	}))
}

// itself warns of a read of the resource of the rule: it does not exist before its creation, and
// no change of another resource wakes it.
func (l *lint) itself(r *rule, cases []*Case) {
	id, owner, err := exampleIDs(r.resourceType)
	if err != nil {
		return
	}
	inputs := []input{{obj: &resource.Object{ID: id}, owner: &resource.Object{ID: owner}}}
	for _, c := range cases {
		if in, err := c.input(r); err == nil {
			inputs = append(inputs, in)
		}
	}
	for _, other := range r.reads {
		for _, in := range inputs {
			if other.list != "" {
				continue
			}
			if targets, err := other.targets(noContext(), r.vars(in)); err == nil && slices.ContainsFunc(targets, in.obj.ID.Equal) {
				l.file.warn(r.parts[partIndex(r, "read "+other.name)].node, "read %s names the resource itself, which waits for itself before its creation; use observed", other.name)
				break
			}
		}
	}
}

// states warns of a path of busy or stopped that the type does not have, and of misspelt words.
func (l *lint) states(r *rule) {
	var paths []resource.Path
	for _, text := range r.statePaths {
		if path, err := resource.ParsePath(text); err == nil {
			paths = append(paths, path)
		}
	}
	if r.pathNode != nil && len(paths) == 1 {
		if missing := types.Missing(r.resourceType, paths[0]); missing != "" {
			l.file.warn(r.pathNode, "%s has no %s", r.resourceType, missing)
			return
		}
	}
	var published []string
	for _, path := range paths {
		published = append(published, types.Words(r.resourceType, path)...)
	}
	for _, word := range r.stateWords {
		if match := types.NearWord(word.text, published); match != "" {
			l.file.warn(word.node, "%q is no published value of %s (did you mean %s?)", word.text, strings.Join(r.statePaths, " or "), match)
		}
	}
}

// readOnly returns the first part of a path that Azure sets, "" if a manifest may state it.
func readOnly(resourceType string, path resource.Path) string {
	shape := types.Lookup(resourceType, types.Newest(resourceType))
	if shape == nil {
		return ""
	}
	for i := range path {
		found, _ := shape.Find(path[:i+1])
		if len(found) > 0 && !slices.ContainsFunc(found, func(p types.Property) bool { return !p.Has(types.ReadOnly) }) {
			return path[:i+1].String()
		}
	}
	return ""
}
