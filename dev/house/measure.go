package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// row is one count.
type row struct {
	name  string
	count int
}

// authors are the packages that authors of checks import.
var authors = []string{"extensions", "extensions/extensiontest", "extensions/passtest"}

// matcher is the one package that may walk JSON by hand.
const matcher = "internal/jsontree"

// armType matches the beginning of a resource type in a string.
var armType = regexp.MustCompile(`(?i)\bmicrosoft\.[a-z]+/[a-z]`)

// counts are sums over the files of a tree.
type counts struct {
	lines, code, comments, tests map[string]int
	// structs are those of package workflows, by name.
	structs   map[string]*ast.StructType
	symbols   map[string]int
	walkers   int
	steps     int
	rooms     map[string]bool
	factFiles map[string]bool
	facts     int
}

// measure counts a tree. The rows have the same order for every tree.
func measure(tree fs.FS) ([]row, error) {
	c := &counts{
		lines: map[string]int{}, code: map[string]int{}, comments: map[string]int{}, tests: map[string]int{},
		structs: map[string]*ast.StructType{}, symbols: map[string]int{}, rooms: map[string]bool{}, factFiles: map[string]bool{},
	}
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		return c.add(tree, name)
	})
	if err != nil {
		return nil, fmt.Errorf("count: %w", err)
	}
	fields, booleans := c.fields("State", map[string]bool{})
	top := 0
	if state := c.structs["State"]; state != nil {
		top = len(state.Fields.List)
	}
	rows := []row{}
	for _, part := range []string{"product", "armsim", "dev"} {
		rows = append(rows, row{part + ": lines in all", c.lines[part]}, row{part + ": lines of code", c.code[part]}, row{part + ": lines of comments", c.comments[part]},
			row{part + ": lines of code in tests", c.tests[part]})
	}
	rows = append(rows, row{"State: fields", top}, row{"State: fields with those of its groups", fields}, row{"State: booleans among them", booleans})
	for _, name := range authors {
		rows = append(rows, row{name + ": exported symbols", c.symbols[name]})
	}
	return append(rows,
		row{"hand-written walkers of JSON (case map[string]any)", c.walkers},
		row{"files in activities/", c.steps},
		row{"packages below starter/internal/", len(c.rooms)},
		row{"files of Go that name an Azure type", len(c.factFiles)},
		row{"names of Azure types in them", c.facts},
	), nil
}

// part returns to which part of the repository a file belongs.
func part(name string) string {
	switch first, _, _ := strings.Cut(name, "/"); first {
	case "armsim", "dev":
		return first
	}
	return "product"
}

func (c *counts) add(tree fs.FS, name string) error {
	source, err := fs.ReadFile(tree, name)
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	code, comments := linesOf(source)
	if strings.HasSuffix(name, "_test.go") {
		c.tests[part(name)] += code
		return nil
	}
	c.lines[part(name)] += bytes.Count(source, []byte("\n"))
	c.code[part(name)] += code
	c.comments[part(name)] += comments
	file, err := parser.ParseFile(token.NewFileSet(), name, source, parser.SkipObjectResolution)
	if err != nil {
		return fmt.Errorf("parse: %w", err)
	}
	folder := path.Dir(name)
	if folder == "activities" {
		c.steps++
	}
	if strings.HasPrefix(folder, "starter/internal/") {
		c.rooms[folder] = true
	}
	if part(name) == "product" && folder != matcher {
		c.addSyntax(name, file)
	}
	for _, declaration := range file.Decls {
		c.addDeclaration(folder, declaration)
	}
	return nil
}

// addSyntax counts the walkers and the names of Azure types of a file.
func (c *counts) addSyntax(name string, file *ast.File) {
	ast.Inspect(file, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.CaseClause:
			for _, expression := range n.List {
				if isObject(expression) {
					c.walkers++
				}
			}
		case *ast.BasicLit:
			if found := len(armType.FindAllString(n.Value, -1)); n.Kind == token.STRING && found > 0 {
				c.factFiles[name] = true
				c.facts += found
			}
		}
		return true
	})
}

// isObject reports whether an expression is map[string]any.
func isObject(expression ast.Expr) bool {
	m, ok := expression.(*ast.MapType)
	if !ok {
		return false
	}
	value, ok := m.Value.(*ast.Ident)
	return ok && value.Name == "any"
}

func (c *counts) addDeclaration(folder string, declaration ast.Decl) {
	switch d := declaration.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil && d.Name.IsExported() {
			c.symbols[folder]++
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() {
					c.symbols[folder]++
				}
				if structure, ok := s.Type.(*ast.StructType); ok && folder == "workflows" {
					c.structs[s.Name.Name] = structure
				}
			case *ast.ValueSpec:
				for _, name := range s.Names {
					if name.IsExported() {
						c.symbols[folder]++
					}
				}
			}
		}
	}
}

// fields counts the fields of a struct of package workflows and of the structs of the
// package that it holds by value, and the booleans among them.
func (c *counts) fields(name string, seen map[string]bool) (fields, booleans int) {
	structure := c.structs[name]
	if structure == nil || seen[name] {
		return 0, 0
	}
	seen[name] = true
	for _, field := range structure.Fields.List {
		count := max(len(field.Names), 1)
		identifier, ok := field.Type.(*ast.Ident)
		if !ok {
			fields += count
			continue
		}
		if c.structs[identifier.Name] != nil {
			inner, bools := c.fields(identifier.Name, seen)
			fields, booleans = fields+inner, booleans+bools
			continue
		}
		fields += count
		if identifier.Name == "bool" {
			booleans += count
		}
	}
	return fields, booleans
}

// linesOf counts the lines that have code, and those that have a comment only.
func linesOf(source []byte) (code, comments int) {
	files := token.NewFileSet()
	file := files.AddFile("", files.Base(), len(source))
	var s scanner.Scanner
	s.Init(file, source, nil, scanner.ScanComments)
	kinds := map[int]bool{}
	for {
		at, kind, text := s.Scan()
		if kind == token.EOF {
			break
		}
		if kind == token.SEMICOLON && text == "\n" {
			continue
		}
		for line := file.Line(at); line <= file.Line(at)+strings.Count(text, "\n"); line++ {
			kinds[line] = kinds[line] || kind != token.COMMENT
		}
	}
	for _, isCode := range kinds {
		if isCode {
			code++
		} else {
			comments++
		}
	}
	return code, comments
}
