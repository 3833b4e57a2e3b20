package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/token"
	"strings"
)

// literal returns the value of a literal: string, json.Number, bool or nil.
func literal(e ast.Expr) (any, error) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if text, ok := stringLiteral(e); ok {
			return text, nil
		}
		if e.Kind == token.INT || e.Kind == token.FLOAT {
			return json.Number(e.Value), nil
		}
	case *ast.Ident:
		switch e.Name {
		case "true", "false":
			return e.Name == "true", nil
		case "nil":
			return nil, nil
		}
	}
	return nil, fmt.Errorf("%T is not a literal", e)
}

// value returns what the SDK sends for an expression of an example: the expression's type
// is t where the syntax leaves it out, as in the items of a list. Texts of times and bytes
// stay as the example writes them.
func (m *module) value(e, t ast.Expr) (any, error) {
	switch e := e.(type) {
	case *ast.UnaryExpr:
		v, err := m.value(e.X, t)
		if n, ok := v.(json.Number); ok && e.Op == token.SUB {
			v = "-" + n
		}
		return v, err
	case *ast.SelectorExpr:
		return m.constant(e.Sel.Name)
	case *ast.Ident:
		if ast.IsExported(e.Name) {
			return m.constant(e.Name)
		}
	case *ast.CallExpr:
		return m.call(e, t)
	case *ast.CompositeLit:
		if e.Type != nil {
			t = e.Type
		}
		return m.composite(e, t)
	}
	return literal(e)
}

func (m *module) constant(name string) (any, error) {
	v, ok := m.constants[name]
	if !ok {
		return nil, fmt.Errorf("constant %s is not declared", name)
	}
	return v, nil
}

// call evaluates to.Ptr(x), a conversion, or the function literal in which the generator
// wraps time.Parse.
func (m *module) call(call *ast.CallExpr, t ast.Expr) (any, error) {
	if lit, ok := call.Fun.(*ast.FuncLit); ok {
		return parsedTime(lit)
	}
	if len(call.Args) != 1 {
		return nil, fmt.Errorf("call of %s is not a conversion", calleeName(call))
	}
	return m.value(call.Args[0], t)
}

// parsedTime returns the text that the function literal passes to time.Parse.
func parsedTime(lit *ast.FuncLit) (any, error) {
	var text string
	found := false
	ast.Inspect(lit.Body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && calleeName(call) == "Parse" && len(call.Args) == 2 {
			text, found = stringLiteral(call.Args[1])
		}
		return true
	})
	if !found {
		return nil, fmt.Errorf("function literal does not parse a time")
	}
	return text, nil
}

func (m *module) composite(lit *ast.CompositeLit, t ast.Expr) (any, error) {
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	switch t := t.(type) {
	case *ast.ArrayType:
		list := []any{}
		for _, item := range lit.Elts {
			v, err := m.value(item, t.Elt)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		return list, nil
	case *ast.MapType:
		object := map[string]any{}
		for _, element := range lit.Elts {
			pair, ok := element.(*ast.KeyValueExpr)
			if !ok {
				return nil, fmt.Errorf("map has an element without a key")
			}
			key, ok := stringLiteral(pair.Key)
			if !ok {
				return nil, fmt.Errorf("key of a map is not a text")
			}
			v, err := m.value(pair.Value, t.Value)
			if err != nil {
				return nil, err
			}
			object[key] = v
		}
		return object, nil
	}
	return m.object(lit, typeName(t))
}

func isScalar(v any) bool {
	_, isList := v.([]any)
	_, isMap := v.(map[string]any)
	return !isList && !isMap
}

// object evaluates a literal of a struct with the names that its MarshalJSON method gives.
// A field that is nil is not sent.
func (m *module) object(lit *ast.CompositeLit, name string) (any, error) {
	declared, ok := m.members[name]
	if !ok {
		return nil, fmt.Errorf("struct %q has no MarshalJSON method", name)
	}
	object := map[string]any{}
	fixed := map[any]bool{}
	for key, constant := range declared.constants {
		v, err := m.value(constant, nil)
		if err != nil {
			return nil, err
		}
		object[key], fixed[v] = v, true
	}
	for _, element := range lit.Elts {
		pair, ok := element.(*ast.KeyValueExpr)
		if !ok {
			return nil, fmt.Errorf("struct %s has an element without a name", name)
		}
		field := typeName(pair.Key)
		v, err := m.value(pair.Value, m.fieldType(name, field))
		if err != nil {
			return nil, err
		}
		key, named := declared.keys[field]
		entries, isMap := v.(map[string]any)
		switch {
		case v == nil:
		case named:
			object[key] = v
		case isScalar(v) && fixed[v]: // the discriminator, which the method states itself
		case field == "AdditionalProperties" && declared.open && isMap:
			for key, v := range entries {
				object[key] = v
			}
		default:
			return nil, fmt.Errorf("field %s of %s is not sent", field, name)
		}
	}
	return object, nil
}

// fieldType returns the type of a field, nil for one that is not declared.
func (m *module) fieldType(name, field string) ast.Expr {
	s := m.structs[name]
	if s == nil {
		return nil
	}
	for _, f := range s.Fields.List {
		for _, n := range f.Names {
			if strings.EqualFold(n.Name, field) {
				return f.Type
			}
		}
	}
	return nil
}
