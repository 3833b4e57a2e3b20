package repo

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// wordGroup is a group of words that comments avoid.
type wordGroup struct {
	pattern *regexp.Regexp
	// instead is what to write.
	instead string
}

// wordGroups are the words that docs/contributing/style.md replaces. A program, a worker or a
// resource is a thing: it returns, reports and notifies.
var wordGroups = map[string]wordGroup{
	"persons": {
		pattern: regexp.MustCompile(`(?i)\b(somebody|nobody|anybody|everybody|whoever|whom)\b`),
		instead: "name the caller, the worker, the resource, the operator or another tool",
	},
	"tell": {
		pattern: regexp.MustCompile(`(?i)\b(tell|tells|told)\b`),
		instead: "return, report, notify, signal",
	},
	"go on": {
		pattern: regexp.MustCompile(`(?i)\b(goes|go|went|going) on\b`),
		instead: "continue, be in progress",
	},
	"asleep": {
		pattern: regexp.MustCompile(`(?i)\b(asleep|sleepers?)\b`),
		instead: "an idle workflow",
	},
}

// pendingRooms are the folders in which no group is enforced yet. The list only gets
// shorter.
var pendingRooms []string

// TestCommentsArePlain checks the comments of all Go files that are not tests.
func TestCommentsArePlain(t *testing.T) {
	for _, path := range sourceFiles(t) {
		if slices.ContainsFunc(pendingRooms, func(room string) bool { return within(filepath.ToSlash(path), room) }) {
			continue
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, comment := range comments(file) {
			for name, group := range wordGroups {
				if word := group.pattern.FindString(comment.Text); word != "" {
					t.Errorf("%s: %q (%s): %s", files.Position(comment.Pos()), word, name, group.instead)
				}
			}
		}
	}
}

// comments returns the lines and blocks of a file's comments.
func comments(file *ast.File) []*ast.Comment {
	var all []*ast.Comment
	for _, group := range file.Comments {
		all = append(all, group.List...)
	}
	return all
}

// sourceFiles returns the paths of all Go files that are not tests.
func sourceFiles(t *testing.T) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(".", func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (strings.HasPrefix(entry.Name(), ".") && path != "." || entry.Name() == "testdata") {
			return filepath.SkipDir
		}
		if filepath.Ext(path) == ".go" && !strings.HasSuffix(path, "_test.go") {
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
