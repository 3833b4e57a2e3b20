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

	"github.com/armature-io/armature/dev/internal/overlay"
)

// numbers of the rows of both lists.
const (
	maxFindings = 42
	maxAttacks  = 62
)

// TestTable checks that the table is complete, and that each cited test exists.
func TestTable(t *testing.T) {
	root, err := overlay.FindRoot()
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

// TestGuards checks that the patches of guards fit the code and the table: each applies, its
// rows cite its test, and each row that is held by a test of the repository has a patch.
func TestGuards(t *testing.T) {
	guarded, byName := map[string]bool{}, map[string]Row{}
	for _, row := range Table() {
		byName[row.Name()] = row
	}
	for _, patch := range patchesThatApply(t, guardsFolder) {
		for _, proof := range patch.Proofs {
			for _, name := range proof.Rows {
				row, exists := byName[name]
				if !exists || !slices.Contains(row.Tests, proof.Test) {
					t.Errorf("%s: row %q does not cite %s", patch.Name, name, proof.Test)
				}
				guarded[name] = true
			}
		}
	}
	for name, row := range byName {
		if row.Kind != KindFailure && row.Open == "" && row.By == "" && !guarded[name] {
			t.Errorf("%s (%s) has no patch in %s/", name, row.Title, guardsFolder)
		}
	}
}

// patchesThatApply returns the patches of a folder, after a check that each applies to the
// code and names tests that exist.
func patchesThatApply(t *testing.T, folder string) []Patch {
	t.Helper()
	root, err := overlay.FindRoot()
	if err != nil {
		t.Fatal(err)
	}
	patches, err := readPatches(root, folder)
	if err != nil || len(patches) == 0 {
		t.Fatalf("%d patches in %s: %v", len(patches), folder, err)
	}
	known := map[string]map[string]bool{}
	for _, patch := range patches {
		if _, err := patch.apply(t.Context(), root, t.TempDir()); err != nil {
			t.Error(err)
		}
		for _, proof := range patch.Proofs {
			at := proof.Test.Package
			if known[at] == nil {
				known[at] = testsIn(t, filepath.Join(root, at))
			}
			if !known[at][proof.Test.Test] {
				t.Errorf("%s: test %s does not exist", patch.Path, proof.Test)
			}
		}
	}
	return patches
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

// TestRemovals checks that the patches of the specification fit the code and the page: each
// applies, each row exists and cites the test, and each row without a patch is an exception.
func TestRemovals(t *testing.T) {
	root, err := overlay.FindRoot()
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "contributing", "spec-coverage.md"))
	if err != nil {
		t.Fatal(err)
	}
	removed := map[string]bool{}
	for _, patch := range patchesThatApply(t, specFolder) {
		for _, proof := range patch.Proofs {
			for _, statement := range proof.Rows {
				removed[statement] = true
				_, rest, found := strings.Cut(string(page), "\n| "+statement+" |")
				row, _, _ := strings.Cut(rest, "\n")
				if !found || !strings.Contains(row, proof.Test.Test) {
					t.Errorf("%s: the row %q does not exist or does not cite %s", patch.Name, statement, proof.Test.Test)
				}
			}
		}
	}
	rows, exceptions := statements(string(page)), RowsWithoutRemoval()
	for _, statement := range rows {
		if _, excepted := exceptions[statement]; excepted == removed[statement] {
			t.Errorf("the row %q has a patch: %t; is an exception: %t; want one of both", statement, removed[statement], excepted)
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
	t.Logf("%d rows: %d with a patch, %d exceptions", len(rows), len(rows)-len(exceptions), len(exceptions))
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
