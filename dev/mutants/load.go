package main

import (
	"bytes"
	"context"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// source is a package with its types.
type source struct {
	fset  *token.FileSet
	files []*ast.File
	// texts are the contents of the files by absolute path.
	texts map[string][]byte
	info  *types.Info
	pkg   *types.Package
}

// load parses and checks the package in a folder of the repository, without its tests.
func load(ctx context.Context, root, folder string) (*source, error) {
	list := exec.CommandContext(ctx, "go", "list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}", "./"+folder)
	var stderr bytes.Buffer
	list.Dir, list.Stderr = root, &stderr
	output, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("list the imports of %s: %w\n%s", folder, err, &stderr)
	}
	exports := map[string]string{}
	for line := range strings.Lines(string(output)) {
		path, export, _ := strings.Cut(strings.TrimSpace(line), "\t")
		exports[path] = export
	}
	paths, err := filepath.Glob(filepath.Join(root, folder, "*.go"))
	if err != nil {
		return nil, err
	}
	s := &source{fset: token.NewFileSet(), texts: map[string][]byte{}}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		if s.texts[path], err = os.ReadFile(path); err != nil {
			return nil, err
		}
	}
	lookup := func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }
	return s, s.check(importer.ForCompiler(s.fset, "gc", lookup))
}

// check parses the texts and determines their types.
func (s *source) check(imports types.Importer) error {
	for path, text := range s.texts {
		file, err := parser.ParseFile(s.fset, path, text, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			return err
		}
		s.files = append(s.files, file)
	}
	s.info = &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{},
	}
	config := types.Config{Importer: imports}
	var err error
	s.pkg, err = config.Check(s.files[0].Name.Name, s.fset, s.files, s.info)
	return err
}

// path returns the absolute path of the file that contains a node.
func (s *source) path(node ast.Node) string { return s.fset.Position(node.Pos()).Filename }

// text returns the text of a node.
func (s *source) text(node ast.Node) string {
	return string(s.texts[s.path(node)][s.offset(node.Pos()):s.offset(node.End())])
}

func (s *source) offset(pos token.Pos) int { return s.fset.Position(pos).Offset }

// line returns the text of a node as one line.
func (s *source) line(node ast.Node) string { return strings.Join(strings.Fields(s.text(node)), " ") }
