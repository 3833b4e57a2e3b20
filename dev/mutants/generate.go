package main

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"unicode/utf8"
)

// Change is how a mutant differs from the code.
type Change string

// The changes. All but Negated change commands.
const (
	// Dropped leaves a command, or a wait, out. Its results are zero, its future is never ready.
	Dropped Change = "drop"
	// Doubled repeats a command directly.
	Doubled Change = "double"
	// Swapped swaps a statement with commands and the next one, or two steps of a list.
	Swapped Change = "swap"
	// Replaced replaces an expression, as an entry of replacements describes.
	Replaced Change = "replace"
	// Negated negates a condition.
	Negated Change = "negate"
)

// Mutant is one change of the package.
type Mutant struct {
	Change Change
	// Function is the function that has the change, Text the statement or condition.
	Function, Text string
}

// Name names the mutant wherever it is in its function.
func (m Mutant) Name() string { return fmt.Sprintf("%s %s: %s", m.Change, m.Function, m.Text) }

// Replacement is a change of an expression that the syntax tree does not suggest.
type Replacement struct{ Function, Old, New string }

// maxTextRunes bounds the text of a mutant.
const maxTextRunes = 140

// generator finds the mutants of a package, and adds a switch for each to its files.
type generator struct {
	*callGraph
	replacements []Replacement
	mutants      []Mutant
	names        map[string]int
	// edits are the insertions by path.
	edits map[string][]edit
	// imports are the names of packages that the files lack, by path of the file and the package.
	imports map[string]map[string]string
	// function is the one that is visited.
	function string
	used     []bool
}

// edit replaces length bytes at an offset. Of several at one offset, those that begin earlier in
// the tree come first if they open, and last if they close.
type edit struct {
	offset, length int
	closes         bool
	text           string
}

// generate returns the mutants of a package, and its files with a switch for each of them by path.
// A replacement without a subject is an error.
func generate(s *source, replacements []Replacement) ([]Mutant, map[string][]byte, error) {
	g := &generator{
		callGraph: newCallGraph(s), replacements: replacements, names: map[string]int{}, edits: map[string][]edit{},
		imports: map[string]map[string]string{}, used: make([]bool, len(replacements)),
	}
	files := slices.SortedFunc(slices.Values(s.files), func(a, b *ast.File) int { return strings.Compare(s.path(a), s.path(b)) })
	for _, file := range files {
		for _, declaration := range file.Decls {
			if f, ok := declaration.(*ast.FuncDecl); ok && f.Body != nil {
				g.function = functionName(f)
				g.walk(f.Body, f.Type.Results)
			}
		}
	}
	for i, r := range replacements {
		if !g.used[i] {
			return nil, nil, fmt.Errorf("%s has no expression %s to replace", r.Function, r.Old)
		}
	}
	changed := map[string][]byte{}
	for _, file := range files {
		changed[s.path(file)] = g.rewrite(file)
	}
	return g.mutants, changed, nil
}

func functionName(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	t := f.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	return types.ExprString(t) + "." + f.Name.Name
}

// add adds a mutant and returns its number.
func (g *generator) add(change Change, text string) int {
	if utf8.RuneCountInString(text) > maxTextRunes {
		text = string([]rune(text)[:maxTextRunes]) + " ..."
	}
	m := Mutant{change, g.function, text}
	g.names[m.Name()]++
	if n := g.names[m.Name()]; n > 1 {
		m.Text += fmt.Sprintf(" #%d", n)
	}
	g.mutants = append(g.mutants, m)
	return len(g.mutants) - 1
}

// walk adds the mutants of a body with its results.
func (g *generator) walk(body ast.Node, results *ast.FieldList) {
	var chained map[ast.Node]bool // calls that are part of a chain whose outermost call was wrapped
	ast.Inspect(body, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.FuncLit:
			g.walk(node.Body, node.Type.Results)
			return false
		case *ast.BlockStmt:
			g.swaps(node.List, node == body && results != nil)
		case *ast.CaseClause:
			g.swaps(node.Body, false)
		case *ast.IfStmt:
			g.condition(node.Cond)
		case *ast.ForStmt:
			g.condition(node.Cond)
		case *ast.SwitchStmt:
			if node.Tag == nil {
				for _, clause := range node.Body.List {
					for _, expr := range clause.(*ast.CaseClause).List {
						g.condition(expr)
					}
				}
			}
		case *ast.ReturnStmt:
			for _, result := range node.Results {
				if t, ok := g.info.TypeOf(result).Underlying().(*types.Basic); ok && t.Info()&types.IsBoolean != 0 {
					g.condition(result)
				}
			}
		case *ast.BinaryExpr:
			if node.Op == token.LAND || node.Op == token.LOR {
				g.condition(node.X)
				g.condition(node.Y)
			}
		case *ast.CompositeLit:
			g.steps(node)
		case *ast.CallExpr:
			chained = g.command(node, chained)
		}
		if expr, ok := node.(ast.Expr); ok {
			g.replace(expr)
		}
		return true
	})
}

// condition adds a negation.
func (g *generator) condition(expr ast.Expr) {
	if expr == nil || g.info.Types[expr].Value != nil && g.info.Types[expr].Value.Kind() == constant.Bool {
		return
	}
	g.wrap(expr, fmt.Sprintf("mutantNot(%d, ", g.add(Negated, g.line(expr))), ")")
}

// command adds the mutants of a call that issues commands, or waits. The calls of a chain, as
// ExecuteActivity(...).Get(...), are one.
func (g *generator) command(call *ast.CallExpr, chained map[ast.Node]bool) map[ast.Node]bool {
	if chained[call] {
		return chained
	}
	largest := effectNone
	next := map[ast.Node]bool{}
	for part := call; part != nil; {
		largest = max(largest, g.call(part))
		next[part] = true
		selector, ok := part.Fun.(*ast.SelectorExpr)
		if !ok {
			break
		}
		part, _ = selector.X.(*ast.CallExpr)
	}
	if largest == effectNone {
		return chained
	}
	result, count, ok := g.results(call)
	if !ok {
		return chained
	}
	twice, text := largest == effectCommand, g.line(call)
	n := g.add(Dropped, text)
	if twice {
		g.add(Doubled, text)
	}
	body := "return "
	if count == 0 {
		body = ""
	}
	g.wrap(call, fmt.Sprintf("mutantCall%d(%d, %t, func() %s { %s", count, n, twice, result, body), " })")
	for part := range chained {
		next[part] = true
	}
	return next
}

// results returns the result types of a call as code, and their number. It is false for a type
// without a name here.
func (g *generator) results(call *ast.CallExpr) (string, int, bool) {
	switch t := g.info.TypeOf(call).(type) {
	case nil:
		return "", 0, true
	case *types.Tuple:
		var names []string
		for v := range t.Variables() {
			names = append(names, g.typeName(call, v.Type()))
		}
		return "(" + strings.Join(names, ", ") + ")", t.Len(), t.Len() <= 2
	default:
		return g.typeName(call, t), 1, true
	}
}

// typeName returns a type as code of the file that has the node.
func (g *generator) typeName(node ast.Node, t types.Type) string {
	path := g.path(node)
	return types.TypeString(t, func(pkg *types.Package) string {
		if pkg == g.pkg {
			return ""
		}
		if g.imports[path] == nil {
			g.imports[path] = map[string]string{}
		}
		if g.imports[path][pkg.Path()] == "" {
			g.imports[path][pkg.Path()] = fmt.Sprintf("mutant%d", len(g.imports[path]))
		}
		return g.imports[path][pkg.Path()]
	})
}

// steps adds the mutants of a list of steps: values with a function that issues commands.
func (g *generator) steps(list *ast.CompositeLit) {
	slice, ok := g.info.TypeOf(list).Underlying().(*types.Slice)
	if !ok || len(list.Elts) == 0 {
		return
	}
	fields, ok := slice.Elem().Underlying().(*types.Struct)
	if !ok || !g.hasSteps(fields) {
		return
	}
	first := len(g.mutants)
	for _, element := range list.Elts {
		g.add(Dropped, g.line(element))
		g.add(Doubled, g.line(element))
	}
	for i, element := range list.Elts[1:] {
		g.add(Swapped, g.line(list.Elts[i])+" with "+g.line(element))
	}
	g.wrap(list, fmt.Sprintf("mutantList(%d, ", first), ")")
}

// hasSteps reports whether a field is a function that issues commands.
func (g *generator) hasSteps(fields *types.Struct) bool {
	for field := range fields.Fields() {
		if g.dynamic(field.Type()) == effectCommand {
			return true
		}
	}
	return false
}

// replace adds the mutants of replacements.
func (g *generator) replace(expr ast.Expr) {
	for i, r := range g.replacements {
		if r.Function != g.function || r.Old != g.line(expr) {
			continue
		}
		g.used[i] = true
		name := g.typeName(expr, types.Default(g.info.TypeOf(expr)))
		n := g.add(Replaced, r.Old+" by "+r.New)
		g.wrap(expr, fmt.Sprintf("mutantElse(%d, func() %s { return ", n, name), fmt.Sprintf(" }, func() %s { return %s })", name, r.New))
	}
}

// swaps adds the mutants of neighbours in a list of statements that both issue commands.
func (g *generator) swaps(list []ast.Stmt, isBody bool) {
	var firsts []int
	declared := map[int]bool{}
	for i := range len(list) - 1 {
		a, b := list[i], list[i+1]
		if !g.swappable(a) || !g.swappable(b) || isBody && i+2 == len(list) && !isSimple(b) || g.depends(a, b) {
			continue
		}
		firsts = append(firsts, i)
		for j := i; j <= i+1; j++ {
			if !declared[j] {
				declared[j] = true
				g.insert(a.Pos(), false, g.declare(list[j]))
			}
		}
	}
	for _, i := range firsts {
		a, b := list[i], list[i+1]
		n := g.add(Swapped, g.line(a)+" with "+g.line(b))
		g.insert(a.Pos(), false, fmt.Sprintf("if mutantIs(%d) {\n%s\n%s\n}\n", n, g.assigned(b), g.assigned(a)))
		g.wrap(a, fmt.Sprintf("if !mutantIs(%d) {\n", n), "\n}")
		g.wrap(b, fmt.Sprintf("if !mutantIs(%d) {\n", n), "\n}")
	}
}

// swappable reports whether a statement issues commands and may be moved.
func (g *generator) swappable(statement ast.Stmt) bool {
	switch statement.(type) {
	case *ast.ReturnStmt, *ast.BranchStmt, *ast.DeferStmt, *ast.DeclStmt, *ast.LabeledStmt, *ast.CaseClause, *ast.CommClause:
		return false
	}
	return g.of(statement) == effectCommand
}

func isSimple(statement ast.Stmt) bool {
	switch statement.(type) {
	case *ast.ExprStmt, *ast.AssignStmt:
		return true
	}
	return false
}

// depends reports whether one of two statements uses a variable that the other defines.
func (g *generator) depends(a, b ast.Stmt) bool {
	return g.mentions(b, g.defined(a)) || g.mentions(a, g.defined(b))
}

// defined returns the variables that a statement defines in its block.
func (g *generator) defined(statement ast.Stmt) []*ast.Ident {
	assign, ok := statement.(*ast.AssignStmt)
	if !ok || assign.Tok != token.DEFINE {
		return nil
	}
	var names []*ast.Ident
	for _, left := range assign.Lhs {
		if name, ok := left.(*ast.Ident); ok && g.info.Defs[name] != nil {
			names = append(names, name)
		}
	}
	return names
}

// mentions reports whether a statement has a name.
func (g *generator) mentions(statement ast.Stmt, names []*ast.Ident) bool {
	found := false
	ast.Inspect(statement, func(node ast.Node) bool {
		name, ok := node.(*ast.Ident)
		found = found || ok && slices.ContainsFunc(names, func(other *ast.Ident) bool { return other.Name == name.Name })
		return !found
	})
	return found
}

// declare returns declarations of the variables that a statement defines, and lets it assign them.
func (g *generator) declare(statement ast.Stmt) string {
	names := g.defined(statement)
	if len(names) == 0 {
		return ""
	}
	var text strings.Builder
	for _, name := range names {
		fmt.Fprintf(&text, "var %s %s\n", name.Name, g.typeName(name, g.info.Defs[name].Type()))
	}
	path, offset := g.path(statement), g.offset(statement.(*ast.AssignStmt).TokPos)
	g.edits[path] = append(g.edits[path], edit{offset: offset, length: len(":="), text: "="})
	return text.String()
}

// assigned returns the text of a statement that declare has declared.
func (g *generator) assigned(statement ast.Stmt) string {
	text := g.text(statement)
	if len(g.defined(statement)) == 0 {
		return text
	}
	at := g.offset(statement.(*ast.AssignStmt).TokPos) - g.offset(statement.Pos())
	return text[:at] + "=" + text[at+len(":="):]
}

func (g *generator) wrap(node ast.Node, before, after string) {
	g.insert(node.Pos(), false, before)
	g.insert(node.End(), true, after)
}

func (g *generator) insert(pos token.Pos, closes bool, text string) {
	path := g.fset.Position(pos).Filename
	g.edits[path] = append(g.edits[path], edit{offset: g.offset(pos), closes: closes, text: text})
}

// rewrite returns a file with its edits.
func (g *generator) rewrite(file *ast.File) []byte {
	path := g.path(file)
	edits := g.edits[path]
	// Later closing edits belong to inner nodes: they come first.
	slices.Reverse(edits)
	opening := slices.DeleteFunc(slices.Clone(edits), func(e edit) bool { return e.closes })
	closing := slices.DeleteFunc(edits, func(e edit) bool { return !e.closes })
	slices.Reverse(opening)
	edits = append(closing, opening...)
	slices.SortStableFunc(edits, func(a, b edit) int { return a.offset - b.offset })
	var out strings.Builder
	text, at := string(g.texts[path]), g.offset(file.Name.End())
	out.WriteString(text[:at])
	for pkg, name := range g.imports[path] {
		fmt.Fprintf(&out, "; import %s %q", name, pkg)
	}
	for _, e := range edits {
		out.WriteString(text[at:e.offset])
		out.WriteString(e.text)
		at = e.offset + e.length
	}
	out.WriteString(text[at:])
	return []byte(out.String())
}
