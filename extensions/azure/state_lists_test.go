package azure

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// stateWord is the form of the words of a state: Updating, Stopped, Inaccessible.
var stateWord = regexp.MustCompile(`^[A-Z][A-Za-z]*(ing|ed|ible|led|Progress|Complete|Delete|Ready|Invalid)$`)

// TestStateListsSayWhy checks that each list of states in the code of this package has its
// reason beside it: the comment of its entry, case or short function, or the evidence of its
// entry.
func TestStateListsSayWhy(t *testing.T) {
	files := token.NewFileSet()
	packages, err := parser.ParseDir(files, ".", func(info fs.FileInfo) bool { return !strings.HasSuffix(info.Name(), "_test.go") }, parser.ParseComments) //nolint:staticcheck // one folder without build tags
	if err != nil {
		t.Fatal(err)
	}
	lists := 0
	for _, parsed := range packages {
		for _, file := range parsed.Files {
			lists += checkStateLists(t, files, file)
		}
	}
	if lists < 10 {
		t.Errorf("only %d lists of states are found, want at least 10", lists)
	}
}

// checkStateLists reports the lists of a file without a reason, and returns how many lists
// there are.
func checkStateLists(t *testing.T, files *token.FileSet, file *ast.File) int {
	t.Helper()
	line := func(at token.Pos) int { return files.Position(at).Line }
	commented := map[int]bool{}
	for _, comment := range file.Comments {
		commented[line(comment.End())] = true
	}
	lists := 0
	var open []ast.Node
	ast.Inspect(file, func(node ast.Node) bool {
		if node == nil {
			open = open[:len(open)-1]
			return true
		}
		open = append(open, node)
		if !isStateList(node) {
			return true
		}
		lists++
		hasReason := slices.ContainsFunc(open, func(around ast.Node) bool {
			switch around := around.(type) {
			case *ast.File:
				return false
			case *ast.FuncDecl:
				return around.Doc != nil && line(around.Body.End())-line(around.Body.Pos()) <= maxShortFunction
			}
			return hasEvidence(around) || commented[line(around.Pos())-1]
		})
		if !hasReason {
			t.Errorf("%s: this list of states has no reason beside it: add a comment to its entry that says why these states block", files.Position(node.Pos()))
		}
		return true
	})
	return lists
}

// maxShortFunction is the number of lines of a function whose comment is beside its list.
const maxShortFunction = 10

// isStateList reports whether a node is a list of words of states.
func isStateList(node ast.Node) bool {
	var items []ast.Expr
	switch node := node.(type) {
	case *ast.CompositeLit:
		if _, isSlice := node.Type.(*ast.ArrayType); isSlice {
			items = node.Elts
		}
	case *ast.CallExpr:
		if named, ok := node.Fun.(*ast.Ident); ok && named.Name == "equalFoldAny" && !isCode(node.Args[0]) {
			items = node.Args
		}
	}
	for _, item := range items {
		if literal, ok := item.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			if text, err := strconv.Unquote(literal.Value); err == nil && stateWord.MatchString(text) {
				return true
			}
		}
	}
	return false
}

// isCode reports whether a value is the code of an error.
func isCode(value ast.Expr) bool {
	selected, ok := value.(*ast.SelectorExpr)
	return ok && selected.Sel.Name == "Code"
}

// hasEvidence reports whether a node is an entry that states its evidence.
func hasEvidence(node ast.Node) bool {
	entry, ok := node.(*ast.CompositeLit)
	if !ok {
		return false
	}
	for _, element := range entry.Elts {
		if pair, ok := element.(*ast.KeyValueExpr); ok {
			if key, ok := pair.Key.(*ast.Ident); ok && key.Name == "Evidence" {
				return true
			}
		}
	}
	return false
}
