package rules

import (
	"slices"
	"strings"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"

	"github.com/armature-io/armature/internal/expression"
	"github.com/armature-io/armature/internal/nearest"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// statePath is the path that the function state reads.
func statePath() resource.Path {
	return resource.Path{{Name: "properties"}, {Name: "provisioningState"}}
}

// shapes returns the types of the bodies that the rule's expressions read, by variable. The
// type of a resource that a rule reads is that of its ID for example names, or in the tests.
func (r *rule) shapes(cases []*Case) map[string]string {
	found := map[string]string{"desired": r.resourceType, "observed": r.resourceType, "payload": r.resourceType}
	id, owner, err := exampleIDs(r.resourceType)
	if err != nil {
		return found
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
		if shape := other.shape(r, inputs); shape != "" {
			found[other.name] = shape
		}
	}
	return found
}

// shape returns the type of the resource that a read names for each input, "" if they differ.
func (o read) shape(r *rule, inputs []input) string {
	found := ""
	for _, in := range inputs {
		target, err := o.target(noContext(), r.vars(in))
		switch {
		case err != nil || target.IsZero():
		case found == "":
			found = target.Type()
		case !strings.EqualFold(found, target.Type()):
			return ""
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
		if missing := missingStep(shapes[at.variable], at.path); missing.name != "" {
			l.warnAt(p, e, node, "%s has no %s%s", shapes[at.variable], at.path[:missing.index+1].String(), nearest.Suggest(missing.name, missing.others))
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

// missing is the first step of a path that a type does not have, and the names that it
// has instead.
type missing struct {
	index  int
	name   string
	others []string
}

// envelope returns the properties that Azure shows of every resource, published or not.
func envelope() []string {
	return []string{"id", "name", "type", "systemData", "etag", "tags", "location"}
}

// missingStep returns the first step of a path that no published version of a type has,
// none for a type that is not published.
func missingStep(resourceType string, path resource.Path) missing {
	first := missing{}
	if len(path) > 0 && slices.ContainsFunc(envelope(), func(name string) bool { return strings.EqualFold(name, path[0].Name) }) {
		return first
	}
	for _, version := range slices.Backward(types.Versions(resourceType)) {
		found := absentFrom(types.Lookup(resourceType, version), path)
		if found.name == "" {
			return missing{}
		}
		if first.name == "" || found.index > first.index {
			first = found
		}
	}
	return first
}

func absentFrom(shape *types.Shape, path resource.Path) missing {
	if shape == nil {
		return missing{}
	}
	for i, step := range path {
		found, free := shape.Find(path[:i+1])
		if free {
			return missing{}
		}
		if len(found) == 0 && step.Name != "" {
			return missing{index: i, name: step.Name, others: namesAt(shape, path[:i])}
		}
		if len(found) == 0 {
			return missing{}
		}
	}
	return missing{}
}

// namesAt returns the names of the properties at a path of a shape.
func namesAt(shape *types.Shape, path resource.Path) []string {
	nodes := []*types.Node{shape.Body}
	if len(path) > 0 {
		nodes = nil
		found, _ := shape.Find(path)
		for _, p := range found {
			nodes = append(nodes, p.Type)
		}
	}
	var names []string
	for len(nodes) > 0 {
		node := nodes[0]
		nodes = append(nodes[1:], node.Elements...)
		for _, v := range node.Variants {
			nodes = append(nodes, v.Type)
		}
		for _, p := range node.Properties {
			names = append(names, p.Name)
		}
	}
	return names
}

// changedPath warns of a path of set or remove that the type does not have.
func (l *lint) changedPath(r *rule, c change, shapes map[string]string) {
	if missing := missingStep(shapes["payload"], c.path); missing.name != "" {
		l.file.warn(c.node, "%s has no %s%s", r.resourceType, c.path[:missing.index+1].String(), nearest.Suggest(missing.name, missing.others))
	} else if set := readOnly(r.resourceType, c.path); set != "" && !c.remove {
		l.file.warn(c.node, "%s of %s is set by Azure: a PUT that states it is refused, or ignored", set, r.resourceType)
	}
}
