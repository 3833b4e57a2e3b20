package main

import (
	"go/ast"
	"strings"
)

// request is a PUT of the SDK.
type request struct {
	resourceType string
	version      string
	parameter    int    // index of the parameter that has the body
	option       string // or the field of the options, the last parameter, that has it
}

// readRequest reads a generated method that builds a request. It returns false for what
// is not a PUT of a resource with a body.
func readRequest(d *ast.FuncDecl) (request, bool) {
	r := request{parameter: -1}
	isPut := false
	ast.Inspect(d.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			path, ok := stringLiteral(n.Rhs[0])
			if ok && r.resourceType == "" && typeName(n.Lhs[0]) == "urlPath" {
				r.resourceType = resourceType(path)
			}
		case *ast.SelectorExpr:
			isPut = isPut || n.Sel.Name == "MethodPut"
		case *ast.CallExpr:
			r.readCall(n, d)
		}
		return true
	})
	return r, isPut && r.resourceType != "" && r.version != "" && (r.parameter >= 0 || r.option != "")
}

func (r *request) readCall(call *ast.CallExpr, d *ast.FuncDecl) {
	if len(call.Args) != 2 {
		return
	}
	switch name, _ := stringLiteral(call.Args[0]); {
	case name == "api-version":
		r.version, _ = stringLiteral(call.Args[1])
	case calleeName(call) == "MarshalAsJSON":
		body := call.Args[1]
		if star, ok := body.(*ast.StarExpr); ok {
			body = star.X
		}
		if field, ok := body.(*ast.SelectorExpr); ok {
			r.option = field.Sel.Name
			return
		}
		index := 0
		for _, group := range d.Type.Params.List {
			for _, parameter := range group.Names {
				if parameter.Name == typeName(body) {
					r.parameter = index
				}
				index++
			}
		}
	}
}

// resourceType returns the type of the resource at a path like
// /subscriptions/{id}/resourceGroups/{group}/providers/Microsoft.X/ys/{y}, or "" where
// the path does not end with the name of a resource of a fixed type.
func resourceType(path string) string {
	at := strings.LastIndex(strings.ToLower(path), "/providers/")
	if at < 0 {
		return ""
	}
	segments := strings.Split(strings.Trim(path[at+len("/providers/"):], "/"), "/")
	if len(segments) < 3 || len(segments)%2 == 0 {
		return ""
	}
	parts := segments[:1]
	for i := 1; i < len(segments); i += 2 {
		parts = append(parts[:len(parts):len(parts)], segments[i])
	}
	name := strings.Join(parts, "/")
	if strings.ContainsAny(name, "{}") {
		return ""
	}
	return name
}

// argument returns the expression of the body in a call of the request's method.
func (r request) argument(call *ast.CallExpr) ast.Expr {
	if r.option == "" {
		if r.parameter < len(call.Args) {
			return call.Args[r.parameter]
		}
		return nil
	}
	options := call.Args[len(call.Args)-1]
	if address, ok := options.(*ast.UnaryExpr); ok {
		options = address.X
	}
	lit, ok := options.(*ast.CompositeLit)
	if !ok {
		return nil
	}
	for _, element := range lit.Elts {
		if pair, ok := element.(*ast.KeyValueExpr); ok && typeName(pair.Key) == r.option {
			return pair.Value
		}
	}
	return nil
}
