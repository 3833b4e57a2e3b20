package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// module is the source of one module of the SDK.
type module struct {
	tests     []*ast.File
	structs   map[string]*ast.StructType
	members   map[string]members // by name of the struct
	constants map[string]any     // string or json.Number, by name of the constant
	requests  map[string]request // by client and method, in lower case
	location  string             // folder of the specification, for examples named relative to it
}

// members is how the MarshalJSON method of a struct names its fields.
type members struct {
	keys      map[string]string   // JSON name by name of the field
	constants map[string]ast.Expr // value by JSON name
	open      bool                // the entries of AdditionalProperties are members
}

var (
	tspDirectory = regexp.MustCompile(`(?m)^directory:\s*(\S+)`)
	tspCommit    = regexp.MustCompile(`(?m)^commit:\s*(\S+)`)
)

func openModule(folder string) (*module, error) {
	m := &module{
		structs: map[string]*ast.StructType{}, members: map[string]members{},
		constants: map[string]any{}, requests: map[string]request{},
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return nil, err
	}
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		if strings.HasSuffix(path, "_test.go") {
			m.tests = append(m.tests, file)
			continue
		}
		for _, d := range file.Decls {
			m.declare(d)
		}
	}
	tsp, err := os.ReadFile(filepath.Join(folder, "tsp-location.yaml"))
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	directory, commit := tspDirectory.FindSubmatch(tsp), tspCommit.FindSubmatch(tsp)
	if directory != nil && commit != nil {
		m.location = specifications + string(commit[1]) + "/" + string(directory[1]) + "/examples/"
	}
	return m, nil
}

// declare adds a declaration to the index.
func (m *module) declare(d ast.Decl) {
	switch d := d.(type) {
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				if s, ok := spec.Type.(*ast.StructType); ok {
					m.structs[spec.Name.Name] = s
				}
			case *ast.ValueSpec:
				if len(spec.Values) == 1 && d.Tok == token.CONST {
					if v, err := literal(spec.Values[0]); err == nil {
						m.constants[spec.Names[0].Name] = v
					}
				}
			}
		}
	case *ast.FuncDecl:
		receiver := receiverName(d)
		switch {
		case receiver == "":
		case d.Name.Name == "MarshalJSON":
			m.members[receiver] = readMembers(d.Body)
		case strings.HasSuffix(d.Name.Name, "CreateRequest"):
			if r, ok := readRequest(d); ok {
				method := strings.TrimSuffix(d.Name.Name, "CreateRequest")
				m.requests[strings.ToLower(receiver+"."+method)] = r
			}
		}
	}
}

func receiverName(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) != 1 {
		return ""
	}
	return typeName(d.Recv.List[0].Type)
}

// typeName returns the name of a named type without pointer and package, else "".
func typeName(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.StarExpr:
		return typeName(t.X)
	case *ast.SelectorExpr:
		return t.Sel.Name
	case *ast.Ident:
		return t.Name
	}
	return ""
}

// readMembers reads the statements of a generated MarshalJSON method:
//
//	populate(objectMap, "name", x.Field)
//	objectMap["kind"] = KindOne
//	for key, val := range x.AdditionalProperties { objectMap[key] = val }
func readMembers(body *ast.BlockStmt) members {
	read := members{keys: map[string]string{}, constants: map[string]ast.Expr{}}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if !strings.HasPrefix(calleeName(n), "populate") || len(n.Args) < 3 {
				return true
			}
			if key, ok := stringLiteral(n.Args[1]); ok {
				read.name(key, n.Args[2])
			}
		case *ast.RangeStmt:
			if s, ok := n.X.(*ast.SelectorExpr); ok && s.Sel.Name == "AdditionalProperties" {
				read.open = true
			}
		case *ast.AssignStmt:
			index, ok := n.Lhs[0].(*ast.IndexExpr)
			if !ok || len(n.Rhs) != 1 {
				return true
			}
			if key, ok := stringLiteral(index.Index); ok {
				read.name(key, n.Rhs[0])
			}
		}
		return true
	})
	return read
}

// name records that the member key has the value of a field or of a constant. The value
// of a member whose items are converted first is a local variable; such a field is named
// like its member.
func (read members) name(key string, value ast.Expr) {
	switch v := value.(type) {
	case *ast.SelectorExpr:
		read.keys[v.Sel.Name] = key
	case *ast.BasicLit:
		read.constants[key] = v
	case *ast.Ident:
		if ast.IsExported(v.Name) {
			read.constants[key] = v
			return
		}
		read.keys[strings.ToUpper(key[:1])+key[1:]] = key
	}
}

// calleeName returns the name of the called function, without package and type arguments.
func calleeName(call *ast.CallExpr) string {
	if index, ok := call.Fun.(*ast.IndexExpr); ok {
		return typeName(index.X)
	}
	return typeName(call.Fun)
}

func stringLiteral(e ast.Expr) (string, bool) {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(lit.Value)
	return text, err == nil
}
