package main

import (
	"go/ast"
	"strings"
)

// specifications is the repository of the REST API specifications on GitHub.
const specifications = "Azure/azure-rest-api-specs/blob/"

// examples returns the bodies of the PUTs in the module's example tests. It counts those
// that it leaves out by reason.
func (m *module) examples(leftOut map[string]int) []example {
	var found []example
	for _, file := range m.tests {
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Doc == nil {
				continue
			}
			source := m.source(f.Doc.Text())
			if source == "" {
				continue
			}
			call, r, ok := m.createCall(f.Body)
			if !ok {
				continue
			}
			body, reason := m.body(r.argument(call))
			if reason != "" {
				leftOut[reason]++
				continue
			}
			found = append(found, example{Type: r.resourceType, Version: r.version, Source: source, Body: body})
		}
	}
	return found
}

// body returns the object that an argument stands for, without the members that a
// manifest states elsewhere, or the reason for which there is none.
func (m *module) body(argument ast.Expr) (map[string]any, string) {
	if argument == nil {
		return nil, "no body in the call"
	}
	v, err := m.value(argument, nil)
	if err != nil {
		return nil, "not evaluated: " + err.Error()
	}
	body, ok := v.(map[string]any)
	if !ok {
		return nil, "body is not an object"
	}
	for _, member := range []string{"id", "name", "type"} {
		delete(body, member)
	}
	if len(body) == 0 {
		return nil, "empty body"
	}
	return body, ""
}

// source returns the path of the original of an example, "" where the comment or the
// module does not name it.
func (m *module) source(comment string) string {
	_, original, ok := strings.Cut(comment, "Generated from example definition: ")
	if !ok {
		return ""
	}
	original, _, _ = strings.Cut(strings.TrimSpace(original), "\n")
	if _, path, ok := strings.Cut(original, "github.com/"); ok {
		return path
	}
	if m.location == "" {
		return ""
	}
	return m.location + original
}

// createCall returns the call in an example that sends a PUT:
//
//	clientFactory.NewThingsClient().BeginCreate(...)
//	client, err := armx.NewThingsClient(...); client.BeginCreate(...)
func (m *module) createCall(body *ast.BlockStmt) (found *ast.CallExpr, r request, ok bool) {
	var client string
	ast.Inspect(body, func(n ast.Node) bool {
		call, isCall := n.(*ast.CallExpr)
		if !isCall || ok {
			return !ok
		}
		if name, isClient := strings.CutPrefix(calleeName(call), "New"); isClient && strings.HasSuffix(name, "Client") {
			client = name
		}
		method, isMethod := call.Fun.(*ast.SelectorExpr)
		if !isMethod {
			return true
		}
		if of, isCall := method.X.(*ast.CallExpr); isCall {
			client = strings.TrimPrefix(calleeName(of), "New")
		}
		name := strings.ToLower(client + "." + strings.TrimPrefix(method.Sel.Name, "Begin"))
		if r, ok = m.requests[name]; ok {
			found = call
		}
		return true
	})
	return found, r, ok
}
