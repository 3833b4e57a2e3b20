package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"go/types"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/exp/apidiff"
	"golang.org/x/tools/go/packages"
)

// api is the promised part of a tree.
type api struct {
	packages map[string]*types.Package
	// symbols are the promised ones by short name, such as extensions.Check.
	symbols map[string]types.Object
}

// load returns what a tree promises: the symbols of packages of the module, and the types of its
// other packages that their declarations name.
func load(ctx context.Context, root string, names ...string) (*api, error) {
	var patterns []string
	for _, name := range names {
		patterns = append(patterns, module+"/"+name)
	}
	loaded, err := packages.Load(&packages.Config{
		Context: ctx, Dir: root, Env: os.Environ(),
		Mode: packages.NeedName | packages.NeedTypes | packages.NeedImports | packages.NeedDeps | packages.NeedExportFile,
	}, patterns...)
	if err != nil {
		return nil, fmt.Errorf("load the packages: %w", err)
	}
	found := &api{packages: map[string]*types.Package{}, symbols: map[string]types.Object{}}
	var problems []error
	packages.Visit(loaded, nil, func(p *packages.Package) {
		if strings.HasPrefix(p.PkgPath, module) {
			found.packages[p.PkgPath] = p.Types
			for _, problem := range p.Errors {
				problems = append(problems, problem)
			}
		}
	})
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	for _, name := range patterns {
		scope := found.packages[name].Scope()
		for _, symbol := range scope.Names() {
			found.add(scope.Lookup(symbol))
		}
	}
	return found, nil
}

// shortName returns a symbol as package.Name.
func shortName(symbol types.Object) string {
	return path.Base(symbol.Pkg().Path()) + "." + symbol.Name()
}

// add promises a symbol and what its declaration names.
func (a *api) add(symbol types.Object) {
	if symbol.Pkg() == nil || !symbol.Exported() {
		return
	}
	if where := strings.TrimPrefix(symbol.Pkg().Path(), module+"/"); !slices.Contains(slices.Concat(promised(), named()), where) {
		return
	}
	name := shortName(symbol)
	if _, known := a.symbols[name]; known || isBuiltInLink(name) || unpromised()[name] != "" || unpromised()[shortTypeOf(symbol)] != "" {
		return
	}
	a.symbols[name] = symbol
	declared, isType := symbol.(*types.TypeName)
	if !isType {
		a.follow(symbol.Type())
		return
	}
	a.follow(declared.Type().Underlying())
	for _, method := range methodsOf(declared) {
		a.follow(method.Type())
	}
	for _, other := range declared.Pkg().Scope().Names() {
		if constant, ok := declared.Pkg().Scope().Lookup(other).(*types.Const); ok && types.Identical(constant.Type(), declared.Type()) {
			a.add(constant)
		}
	}
}

// shortTypeOf returns the type of a constant, "" for another symbol or a type without name.
func shortTypeOf(symbol types.Object) string {
	if _, ok := symbol.(*types.Const); !ok {
		return ""
	}
	if named, ok := symbol.Type().(*types.Named); ok && named.Obj().Pkg() != nil {
		return shortName(named.Obj())
	}
	return ""
}

// follow promises what a type names.
func (a *api) follow(t types.Type) {
	switch t := t.(type) {
	case *types.Named:
		a.add(t.Obj())
		for argument := range t.TypeArgs().Types() {
			a.follow(argument)
		}
	case *types.Pointer:
		a.follow(t.Elem())
	case *types.Slice:
		a.follow(t.Elem())
	case *types.Array:
		a.follow(t.Elem())
	case *types.Map:
		a.follow(t.Key())
		a.follow(t.Elem())
	case *types.Signature:
		for _, tuple := range []*types.Tuple{t.Params(), t.Results()} {
			for variable := range tuple.Variables() {
				a.follow(variable.Type())
			}
		}
	case *types.Struct:
		for field := range t.Fields() {
			if field.Exported() {
				a.follow(field.Type())
			}
		}
	case *types.Interface:
		for method := range t.Methods() {
			a.follow(method.Type())
		}
	}
}

// methodsOf returns the exported methods of a type, sorted.
func methodsOf(declared *types.TypeName) []*types.Func {
	named, ok := declared.Type().(*types.Named)
	if !ok {
		return nil
	}
	var methods []*types.Func
	for method := range named.Methods() {
		if method.Exported() {
			methods = append(methods, method)
		}
	}
	slices.SortFunc(methods, func(a, b *types.Func) int { return cmp.Compare(a.Name(), b.Name()) })
	return methods
}

// count returns the number of symbols without constants.
func (a *api) count() int {
	count := 0
	for _, symbol := range a.symbols {
		if _, constant := symbol.(*types.Const); !constant {
			count++
		}
	}
	return count
}

// list returns the symbols by package, each with its declaration.
func (a *api) list() string {
	byPackage := map[string][]string{}
	for name := range a.symbols {
		where := strings.TrimPrefix(a.symbols[name].Pkg().Path(), module+"/")
		byPackage[where] = append(byPackage[where], name)
	}
	var b strings.Builder
	for _, where := range slices.Sorted(maps.Keys(byPackage)) {
		fmt.Fprintf(&b, "package %s\n", where)
		slices.Sort(byPackage[where])
		for _, name := range byPackage[where] {
			for _, line := range declaration(a.symbols[name]) {
				fmt.Fprintf(&b, "\t%s\n", line)
			}
		}
	}
	return b.String()
}

// declaration returns a symbol, and the fields and methods of a type on lines of their own.
func declaration(symbol types.Object) []string {
	qualify := func(p *types.Package) string {
		if p == symbol.Pkg() {
			return ""
		}
		return p.Name()
	}
	declared, isType := symbol.(*types.TypeName)
	if !isType {
		return []string{types.ObjectString(symbol, qualify)}
	}
	underlying := declared.Type().Underlying()
	lines := []string{"type " + declared.Name() + " " + kindOf(underlying, qualify)}
	switch t := underlying.(type) {
	case *types.Struct:
		for field := range t.Fields() {
			if field.Exported() {
				lines = append(lines, "\t"+field.Name()+" "+types.TypeString(field.Type(), qualify))
			}
		}
	case *types.Interface:
		for method := range t.Methods() {
			lines = append(lines, "\t"+method.Name()+strings.TrimPrefix(types.TypeString(method.Type(), qualify), "func"))
		}
	}
	for _, method := range methodsOf(declared) {
		lines = append(lines, "\t"+types.ObjectString(method, qualify))
	}
	return lines
}

// kindOf returns struct, interface, or the type.
func kindOf(t types.Type, qualify types.Qualifier) string {
	switch t.(type) {
	case *types.Struct:
		return "struct"
	case *types.Interface:
		return "interface"
	}
	return types.TypeString(t, qualify)
}

// changedSymbol is the symbol at the beginning of a message of apidiff.
var changedSymbol = regexp.MustCompile(`^\(?\*?([A-Za-z0-9_]+)`)

// incompatible returns the changes of promised symbols in a later tree that break users.
func (a *api) incompatible(later *api) []string {
	var changes []string
	promising := map[string]*types.Package{}
	for _, symbol := range a.symbols {
		promising[symbol.Pkg().Path()] = symbol.Pkg()
	}
	for _, where := range slices.Sorted(maps.Keys(promising)) {
		before, after := promising[where], later.packages[where]
		for _, symbol := range before.Scope().Names() {
			if name := path.Base(where) + "." + symbol; after == nil && a.symbols[name] != nil {
				changes = append(changes, name+": removed with its package")
			}
		}
		if after == nil {
			continue
		}
		for _, change := range apidiff.Changes(before, after).Changes {
			name := changedSymbol.FindStringSubmatch(change.Message)
			if !change.Compatible && name != nil && a.symbols[path.Base(where)+"."+name[1]] != nil {
				changes = append(changes, path.Base(where)+"."+change.Message)
			}
		}
	}
	return changes
}
