package main

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"strings"

	"golang.org/x/tools/go/packages"
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

// load loads the package in a folder of the repository with its types, without its tests.
func load(ctx context.Context, root, folder string) (*source, error) {
	const mode = packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo
	loaded, err := packages.Load(&packages.Config{Context: ctx, Mode: mode, Dir: root}, "./"+folder)
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", folder, err)
	}
	p := loaded[0]
	for _, problem := range p.Errors {
		err = errors.Join(err, problem)
	}
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", folder, err)
	}
	s := &source{fset: p.Fset, files: p.Syntax, texts: map[string][]byte{}, info: p.TypesInfo, pkg: p.Types}
	for _, path := range p.GoFiles {
		if s.texts[path], err = os.ReadFile(path); err != nil {
			return nil, err
		}
	}
	return s, nil
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
