package convert

import (
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/armature-io/armature/resource"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// value returns an expression as a value: what is known as it is, an observed value of
// another resource as a reference. It returns nil after a fault; path is for its message.
func (m *module) value(expression hclsyntax.Expression, path string) *value {
	line := expression.Range().Start.Line
	switch e := expression.(type) {
	case *hclsyntax.ParenthesesExpr:
		return m.value(e.Expression, path)
	case *hclsyntax.TemplateWrapExpr:
		return m.value(e.Wrapped, path)
	case *hclsyntax.TupleConsExpr:
		v := &value{kind: list, line: line}
		for i, item := range e.Exprs {
			if read := m.value(item, path+"["+strconv.Itoa(i)+"]"); read != nil {
				v.items = append(v.items, read)
			}
		}
		return v
	case *hclsyntax.ObjectConsExpr:
		return m.object(e, path)
	case *hclsyntax.FunctionCallExpr:
		if e.Name == "jsonencode" && len(e.Args) == 1 && path == "body" {
			return m.value(e.Args[0], path)
		}
	}
	if v, diagnostics := expression.Value(m.context); !diagnostics.HasErrors() {
		if read := fromCty(v, line, 0); read != nil {
			return read
		}
	}
	if v := m.observed(expression); v != nil {
		v.line = line
		return v
	}
	if name := strings.TrimRight(path[strings.LastIndex(path, ".")+1:], "[]0123456789"); strings.HasPrefix(path, "body.") && resource.SecretName(name) {
		// Its parts may be secret too, so it is not shown.
		return &value{kind: secret, line: line}
	}
	m.fault(line, "%s: the expression %s cannot be converted: it is not known without Terraform; write its value, or convert the state with --from terraform-state", path, m.shown(expression))
	return nil
}

func (m *module) object(e *hclsyntax.ObjectConsExpr, path string) *value {
	v := &value{kind: object, line: e.Range().Start.Line}
	for _, item := range e.Items {
		line := item.KeyExpr.Range().Start.Line
		key, diagnostics := item.KeyExpr.Value(m.context)
		if diagnostics.HasErrors() || key.IsMarked() || !key.IsWhollyKnown() || key.IsNull() || key.Type() != cty.String {
			m.fault(line, "%s: the name %s is not known without Terraform", path, m.shown(item.KeyExpr))
			continue
		}
		name := key.AsString()
		if v.get(name) != nil {
			m.fault(line, "%s: the name %q is there twice", path, name)
			continue
		}
		if read := m.value(item.ValueExpr, path+"."+name); read != nil {
			v.fields = append(v.fields, field{name: name, line: line, value: read})
		}
	}
	return v
}

// hidden returns the structure of an expression with a secret in place of each leaf: the
// values of sensitive_body are not evaluated.
func (m *module) hidden(expression hclsyntax.Expression) *value {
	line := expression.Range().Start.Line
	switch e := expression.(type) {
	case *hclsyntax.ParenthesesExpr:
		return m.hidden(e.Expression)
	case *hclsyntax.ObjectConsExpr:
		v := &value{kind: object, line: line}
		for _, item := range e.Items {
			key, diagnostics := item.KeyExpr.Value(m.context)
			if diagnostics.HasErrors() || key.IsMarked() || !key.IsWhollyKnown() || key.IsNull() || key.Type() != cty.String {
				m.fault(item.KeyExpr.Range().Start.Line, "sensitive_body: a name is not known without Terraform")
				continue
			}
			v.set(key.AsString(), m.hidden(item.ValueExpr))
		}
		return v
	case *hclsyntax.TupleConsExpr:
		v := &value{kind: list, line: line}
		for _, item := range e.Exprs {
			v.items = append(v.items, m.hidden(item))
		}
		return v
	}
	return &value{kind: secret, line: line}
}

// fromCty returns a value of the library; nil if a part of it is not known. What is
// sensitive becomes a secret.
func fromCty(v cty.Value, line, depth int) *value {
	if v.IsMarked() {
		unmarked, _ := v.Unmark()
		if t := unmarked.Type(); t.IsPrimitiveType() || t == cty.DynamicPseudoType {
			return &value{kind: secret, line: line}
		}
		if read := fromCty(unmarked, line, depth); read != nil {
			return hideAll(read)
		}
		return nil
	}
	switch t := v.Type(); {
	case depth > maxDepth || !v.IsKnown():
		return nil
	case v.IsNull():
		return &value{line: line}
	case t == cty.String:
		return textValue(line, v.AsString())
	case t == cty.Bool:
		return &value{kind: boolean, line: line, text: strconv.FormatBool(v.True())}
	case t == cty.Number:
		return &value{kind: number, line: line, text: digits(v.AsBigFloat())}
	case t.IsObjectType() || t.IsMapType():
		read := &value{kind: object, line: line}
		for it := v.ElementIterator(); it.Next(); {
			key, member := it.Element()
			below := fromCty(member, line, depth+1)
			if below == nil {
				return nil
			}
			read.fields = append(read.fields, field{name: key.AsString(), line: line, value: below})
		}
		return read
	case t.IsTupleType() || t.IsListType() || t.IsSetType():
		read := &value{kind: list, line: line}
		for it := v.ElementIterator(); it.Next(); {
			_, member := it.Element()
			below := fromCty(member, line, depth+1)
			if below == nil {
				return nil
			}
			read.items = append(read.items, below)
		}
		return read
	}
	return nil
}

// digits returns a number with all its digits.
func digits(f *big.Float) string {
	if f.IsInt() && f.MantExp(nil) < 512 {
		return f.Text('f', 0)
	}
	return f.Text('g', -1)
}

// observed returns the reference for an expression that reads what Azure reports about
// another resource, directly or through a local; nil for any other expression.
func (m *module) observed(expression hclsyntax.Expression) *value {
	switch e := expression.(type) {
	case *hclsyntax.ScopeTraversalExpr:
		if name, isLocal := localName(e.Traversal); isLocal {
			return m.followLocal(name)
		}
		return m.observedAt(e.Traversal, nil)
	case *hclsyntax.RelativeTraversalExpr:
		call, isCall := e.Source.(*hclsyntax.FunctionCallExpr)
		if !isCall || call.Name != "jsondecode" || len(call.Args) != 1 {
			return nil
		}
		if inner, ok := call.Args[0].(*hclsyntax.ScopeTraversalExpr); ok {
			return m.observedAt(inner.Traversal, e.Traversal)
		}
	}
	return nil
}

func localName(t hcl.Traversal) (string, bool) {
	if t.RootName() != "local" || len(t) != 2 {
		return "", false
	}
	name, ok := t[1].(hcl.TraverseAttr)
	return name.Name, ok
}

func (m *module) followLocal(name string) *value {
	expression := m.locals[name]
	if expression == nil || slices.Contains(m.resolving, name) || len(m.resolving) > maxRounds {
		return nil
	}
	m.resolving = append(m.resolving, name)
	defer func() { m.resolving = m.resolving[:len(m.resolving)-1] }()
	return m.observed(expression)
}

// observedAt returns the reference for azapi_resource.NAME.output.PATH and
// azapi_resource.NAME.identity[0].principal_id.
func (m *module) observedAt(t, more hcl.Traversal) *value {
	address, rest := t.RootName(), t[1:]
	if address == "data" && len(rest) > 0 {
		attribute, ok := rest[0].(hcl.TraverseAttr)
		if !ok {
			return nil
		}
		address, rest = "data."+attribute.Name, rest[1:]
	}
	if len(rest) < 2 {
		return nil
	}
	name, isName := rest[0].(hcl.TraverseAttr)
	attribute, isAttribute := rest[1].(hcl.TraverseAttr)
	b := m.blocks[address+"."+name.Name]
	if !isName || !isAttribute || b == nil || b.id.IsZero() {
		return nil
	}
	path := pathOf(append(slices.Clone(rest[2:]), more...))
	switch attribute.Name {
	case "output":
	case "identity":
		switch strings.TrimPrefix(path, "[0].") {
		case "principal_id":
			path = "identity.principalId"
		case "tenant_id":
			path = "identity.tenantId"
		default:
			return nil
		}
	default:
		return nil
	}
	if _, err := resource.ParsePath(path); err != nil {
		return nil
	}
	return &value{kind: reference, id: b.id, path: path, version: b.version}
}

// pathOf returns a traversal as the text of a path.
func pathOf(t hcl.Traversal) string {
	path := ""
	for _, step := range t {
		switch step := step.(type) {
		case hcl.TraverseAttr:
			path += "." + step.Name
		case hcl.TraverseIndex:
			switch {
			case step.Key.Type() == cty.String && strings.ContainsAny(step.Key.AsString(), ".[]/ "):
				path += "['" + step.Key.AsString() + "']"
			case step.Key.Type() == cty.String:
				path += "." + step.Key.AsString()
			case step.Key.Type() == cty.Number:
				path += "[" + digits(step.Key.AsBigFloat()) + "]"
			}
		}
	}
	return strings.TrimPrefix(path, ".")
}
