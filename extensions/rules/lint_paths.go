package rules

import (
	"slices"
	"strings"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"

	"github.com/armature-io/armature/internal/expression"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// statePath is the path that the function state reads.
func statePath() resource.Path {
	return resource.Path{{Name: "properties"}, {Name: "provisioningState"}}
}

// shapes returns the types of the bodies that the rule's expressions read, by variable, and
// those of the resources in lists. The type of a resource that a rule reads is that of its ID
// for example names, or in the tests.
func (r *rule) shapes(cases []*Case) (found, lists map[string]string) {
	lists = map[string]string{}
	found = map[string]string{"desired": r.resourceType, "observed": r.resourceType, "payload": r.resourceType}
	id, owner, err := exampleIDs(r.resourceType)
	if err != nil {
		return found, lists
	}
	if !owner.IsZero() {
		found["owner"] = owner.Type()
	}
	inputs := []input{{obj: &resource.Object{ID: id}, owner: &resource.Object{ID: owner}}}
	for _, c := range cases {
		if in, err := c.input(r); err == nil {
			inputs = append(inputs, in)
		}
	}
	for _, other := range r.reads {
		shape := other.shape(r, inputs)
		switch {
		case other.isMany():
			lists[other.name] = shape
		case shape != "":
			found[other.name] = shape
		}
	}
	return found, lists
}

// shape returns the type of the resources that a read names for all inputs, "" if they differ.
func (o read) shape(r *rule, inputs []input) string {
	found := o.list
	for _, in := range inputs {
		if o.list != "" {
			break
		}
		targets, err := o.targets(noContext(), r.vars(in))
		if err != nil {
			continue
		}
		for _, target := range targets {
			if found != "" && !strings.EqualFold(found, target.Type()) {
				return ""
			}
			found = target.Type()
		}
	}
	return found
}

// bodyPath is a path into the body of a variable.
type bodyPath struct {
	variable string
	path     resource.Path
	// malformed is the error of a path that cannot be parsed.
	malformed error
}

// bodyPathOf returns the path that an expression reads, and whether it reads one.
func bodyPathOf(node ast.Expr, shapes map[string]string) (bodyPath, bool) {
	switch node.Kind() {
	case ast.IdentKind:
		_, body := shapes[node.AsIdent()]
		return bodyPath{variable: node.AsIdent()}, body
	case ast.SelectKind:
		at, ok := bodyPathOf(node.AsSelect().Operand(), shapes)
		at.path = at.path.With(resource.Step{Name: node.AsSelect().FieldName()})
		return at, ok
	case ast.CallKind:
		return callPath(node.AsCall(), shapes)
	}
	return bodyPath{}, false
}

// callPath is bodyPathOf for an index and for the functions that read a path.
func callPath(call ast.CallExpr, shapes map[string]string) (bodyPath, bool) {
	args := call.Args()
	if len(args) == 0 {
		return bodyPath{}, false
	}
	at, ok := bodyPathOf(args[0], shapes)
	switch {
	case !ok && !slices.Contains([]string{"at", "text"}, call.FunctionName()):
		return at, false
	case call.FunctionName() == "state":
		at.path = slices.Concat(at.path, statePath())
		return at, ok
	case len(args) != 2:
		return at, false
	}
	var literal any
	if args[1].Kind() == ast.LiteralKind {
		literal = args[1].AsLiteral().Value()
	}
	switch call.FunctionName() {
	case operators.Index:
		step := resource.Step{Any: true}
		if name, isText := literal.(string); isText {
			step = resource.Step{Name: name}
		}
		at.path = at.path.With(step)
		return at, true
	case "at", "text":
		text, isText := literal.(string)
		if !isText {
			return at, false
		}
		path, err := resource.ParsePath(text)
		at.path, at.malformed = slices.Concat(at.path, path), err
		return at, ok || err != nil
	}
	return at, false
}

// paths warns of malformed paths, and of those that the type does not have.
func (l *lint) paths(p part, e expression.Expression, shapes map[string]string) {
	eachPath(e.Tree(), e.Tree().Expr(), shapes, func(node ast.Expr, at bodyPath) {
		if at.malformed != nil {
			l.warnAt(p, e, node, "%v", at.malformed)
			return
		}
		if missing := types.Missing(shapes[at.variable], at.path); missing != "" {
			l.warnAt(p, e, node, "%s has no %s", shapes[at.variable], missing)
		}
	})
}

// eachPath calls do for the longest paths in an expression.
func eachPath(tree *ast.AST, node ast.Expr, shapes map[string]string, do func(ast.Expr, bodyPath)) {
	if at, ok := bodyPathOf(node, shapes); ok {
		if len(at.path) > 0 || at.malformed != nil {
			do(node, at)
		}
		return
	}
	for _, child := range ast.NavigateExpr(tree, node).Children() {
		eachPath(tree, child, shapes, do)
	}
}

// changedPath warns of a path of set or remove that the type does not have.
func (l *lint) changedPath(r *rule, c change, shapes map[string]string) {
	if missing := types.Missing(shapes["payload"], c.path); missing != "" {
		l.file.warn(c.node, "%s has no %s", r.resourceType, missing)
	} else if set := readOnly(r.resourceType, c.path); set != "" && !c.remove {
		l.file.warn(c.node, "%s of %s is set by Azure: a PUT that states it is refused, or ignored", set, r.resourceType)
	}
}
