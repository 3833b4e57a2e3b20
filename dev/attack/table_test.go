package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// numbers of the rows of both lists.
const (
	maxFindings = 25
	maxAttacks  = 36
)

// TestTable checks that the table is complete, and that each cited test exists.
func TestTable(t *testing.T) {
	root, err := findRoot()
	if err != nil {
		t.Fatal(err)
	}
	counts, cited := map[Kind]int{}, map[Cite]bool{}
	known := map[string]map[string]bool{}
	for _, row := range Table() {
		counts[row.Kind]++
		if row.Number != counts[row.Kind] || row.Title == "" || len(row.Tests) == 0 {
			t.Errorf("row %q is incomplete: %+v", row.Name(), row)
		}
		for _, cite := range row.Tests {
			if known[cite.Package] == nil {
				known[cite.Package] = testsIn(t, filepath.Join(root, cite.Package))
			}
			if !known[cite.Package][cite.Test] {
				t.Errorf("%s: test %s does not exist", row.Name(), cite)
			}
			cited[cite] = true
		}
		if row.Open != "" {
			t.Logf("%s is open: %s", row.Name(), row.Open)
		}
	}
	if counts[KindFinding] != maxFindings || counts[KindAttack] != maxAttacks {
		t.Errorf("the table has %v rows, want %d and %d", counts, maxFindings, maxAttacks)
	}
	for test := range testsIn(t, filepath.Join(root, ownPackage)) {
		if !cited[Cite{ownPackage, test}] && !slices.Contains(append(tableTests(), "TestMain"), test) {
			t.Errorf("%s is in no row", test)
		}
	}
}

// TestGuards checks that the table of guards still fits the code: each text occurs once,
// each test is cited, and each row that is held by a test of the repository has a guard.
func TestGuards(t *testing.T) {
	root, err := findRoot()
	if err != nil {
		t.Fatal(err)
	}
	guarded, byName := map[string]bool{}, map[string]Row{}
	for _, row := range Table() {
		byName[row.Name()] = row
	}
	for _, guard := range Guards() {
		text, err := os.ReadFile(filepath.Join(root, guard.File))
		if err != nil {
			t.Error(err)
			continue
		}
		if count := strings.Count(string(text), guard.Old); count != 1 {
			t.Errorf("%s: its text occurs %d times in %s, want once; adapt the table of guards to the code", guard.Name, count, guard.File)
		}
		if guard.Old == guard.New {
			t.Errorf("%s: nothing is taken out", guard.Name)
		}
		for _, name := range guard.Rows {
			row, exists := byName[name]
			if !exists || !slices.Contains(row.Tests, guard.Test) {
				t.Errorf("%s: row %q does not cite %s", guard.Name, name, guard.Test)
			}
			guarded[name] = true
		}
	}
	for name, row := range byName {
		if row.Kind != KindFailure && row.Open == "" && row.By == "" && !guarded[name] {
			t.Errorf("%s (%s) has no guard in the table of guards", name, row.Title)
		}
	}
}

// testsIn returns the names of the test functions in the files of a folder.
func testsIn(t *testing.T, folder string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no tests in %s: %v", folder, err)
	}
	tests := map[string]bool{}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, declared := range parsed.Decls {
			if function, ok := declared.(*ast.FuncDecl); ok && function.Recv == nil {
				name := function.Name.Name
				if strings.HasPrefix(name, "Test") || strings.HasPrefix(name, "Fuzz") {
					tests[name] = true
				}
			}
		}
	}
	return tests
}

// TestRemovals checks that the table of removals still fits the code and the page: each text
// occurs once, each row exists, and each row cites the test.
func TestRemovals(t *testing.T) {
	root, err := findRoot()
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "contributing", "spec-coverage.md"))
	if err != nil {
		t.Fatal(err)
	}
	removed := map[string]bool{}
	for _, removal := range Removals() {
		text, err := os.ReadFile(filepath.Join(root, removal.File))
		if err != nil {
			t.Error(err)
			continue
		}
		if count := strings.Count(string(text), removal.Old); count != 1 || removal.Old == removal.New {
			t.Errorf("%s: its text occurs %d times in %s, want once; adapt the table of removals to the code", removal.Name, count, removal.File)
		}
		for _, statement := range removal.Rows {
			removed[statement] = true
			_, rest, found := strings.Cut(string(page), "\n| "+statement+" |")
			row, _, _ := strings.Cut(rest, "\n")
			if !found || !strings.Contains(row, removal.Test.Test) {
				t.Errorf("%s: the row %q does not exist or does not cite %s", removal.Name, statement, removal.Test.Test)
			}
		}
	}
	rows, exceptions := statements(string(page)), RowsWithoutRemoval()
	for _, statement := range rows {
		if _, excepted := exceptions[statement]; excepted == removed[statement] {
			t.Errorf("the row %q has a removal: %t; is an exception: %t; want one of both", statement, removed[statement], excepted)
		}
	}
	for statement, reason := range exceptions {
		if !slices.Contains(rows, statement) || reason == "" {
			t.Errorf("the exception %q is no row, or has no reason", statement)
		}
	}
	if len(rows) < minRows {
		t.Errorf("the page has %d rows, want at least %d", len(rows), minRows)
	}
	t.Logf("%d rows: %d with a removal, %d exceptions", len(rows), len(rows)-len(exceptions), len(exceptions))
}

// minRows is fewer than the page has rows.
const minRows = 110

// statements returns the first column of the tables of the page.
func statements(page string) []string {
	var found []string
	for line := range strings.Lines(page) {
		cells := strings.Split(line, " | ")
		if statement, row := strings.CutPrefix(cells[0], "| "); row && len(cells) == 3 && statement != "statement" {
			found = append(found, statement)
		}
	}
	return found
}
