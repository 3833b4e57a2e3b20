package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// sdk stands in for the package of the SDK.
const sdk = `package workflow
type Context interface{ Err() error }
type Future interface{ Get(Context, any) error }
type CancelFunc func()
func ExecuteActivity(Context, any) Future { return nil }
func UpsertMemo(Context, any) error { return nil }
func WithCancel(Context) (Context, CancelFunc) { return nil, nil }
func Await(Context, func() bool) error { return nil }
`

// importSDK imports sdk.
type importSDK struct{ t *testing.T }

func (i importSDK) Import(path string) (*types.Package, error) {
	if path != workflowPackage {
		i.t.Fatalf("import of %s", path)
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "sdk.go", sdk, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	return (&types.Config{}).Check(path, fset, []*ast.File{file}, nil)
}

// checked returns a package of one file with its types.
func checked(t *testing.T, text string) *source {
	t.Helper()
	s := &source{fset: token.NewFileSet(), texts: map[string][]byte{"a.go": []byte("package a\n" + text)}}
	file, err := parser.ParseFile(s.fset, "a.go", s.texts["a.go"], parser.SkipObjectResolution|parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	s.files = []*ast.File{file}
	s.info = &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}
	if s.pkg, err = (&types.Config{Importer: importSDK{t}}).Check("a", s.fset, s.files, s.info); err != nil {
		t.Fatal(err)
	}
	return s
}

// generateText generates the mutants of one file.
func generateText(t *testing.T, text string, replacements ...Replacement) ([]Mutant, string) {
	t.Helper()
	s := checked(t, text)
	mutants, files, err := generate(s, replacements)
	if err != nil {
		t.Fatal(err)
	}
	// The file has all switches: it must compile with them.
	fset := token.NewFileSet()
	var parsed []*ast.File
	for name, text := range map[string]string{"a.go": string(files["a.go"]), "switches.go": testSwitches} {
		file, err := parser.ParseFile(fset, name, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		parsed = append(parsed, file)
	}
	if _, err := (&types.Config{Importer: importSDK{t}}).Check("a", fset, parsed, nil); err != nil {
		t.Fatalf("%v\n%s", err, files["a.go"])
	}
	return mutants, string(files["a.go"])
}

// testSwitches declares what the generated code calls.
const testSwitches = `package a
func mutantIs(n int) bool { panic(n) }
func mutantNot[B ~bool](n int, condition B) B { panic(n) }
func mutantElse[T any](n int, original, other func() T) T { panic(n) }
func mutantCall0(n int, twice bool, call func()) { panic(n) }
func mutantCall1[A any](n int, twice bool, call func() A) A { panic(n) }
func mutantCall2[A, B any](n int, twice bool, call func() (A, B)) (A, B) { panic(n) }
func mutantList[S ~[]E, E any](n int, list S) S { panic(n) }
`

func names(mutants []Mutant) []string {
	var all []string
	for _, m := range mutants {
		all = append(all, m.Name())
	}
	slices.Sort(all)
	return all
}

// TestConditions checks which conditions are negated, and that equal texts get a number.
func TestConditions(t *testing.T) {
	t.Parallel()
	mutants, text := generateText(t, `
func f(a, b bool, n int) bool {
	if a && b {
		return true
	}
	for n < 3 {
		n++
	}
	switch {
	case a:
	}
	return a || n == 2
}`)
	want := []string{
		"negate f: a", "negate f: a #2", "negate f: a #3", "negate f: a && b", "negate f: a || n == 2", "negate f: b",
		"negate f: n < 3", "negate f: n == 2",
	}
	if diff := gocmp.Diff(want, names(mutants)); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(text, "mutantNot(0, mutantNot(1, a) && mutantNot(2, b))") {
		t.Errorf("the file is\n%s", text)
	}
}

// TestCommands checks which calls are commands or waits: those of the SDK, of functions that reach
// them, of steps, and of cancellations. A second wait has no effect, so it is no mutant.
func TestCommands(t *testing.T) {
	t.Parallel()
	mutants, _ := generateText(t, `
import "go.temporal.io/sdk/workflow"

type runner struct{ end func() }

func (r *runner) read(ctx workflow.Context, out any) error {
	next, cancel := workflow.WithCancel(ctx)
	r.end = cancel
	return workflow.ExecuteActivity(next, "read").Get(next, out)
}

func (r *runner) note(ctx workflow.Context) {
	err := workflow.UpsertMemo(ctx, nil)
	_ = plain(err)
}

func plain(err error) bool { return err == nil }

func (r *runner) both(ctx workflow.Context) error {
	r.note(ctx)
	failed := r.read(ctx, nil)
	r.note(ctx)
	if failed != nil {
		return failed
	}
	r.end()
	return workflow.Await(ctx, func() bool { return true })
}`)
	want := []string{
		`double runner.both: r.note(ctx)`, `double runner.both: r.note(ctx) #2`, `double runner.both: r.read(ctx, nil)`,
		`double runner.note: workflow.UpsertMemo(ctx, nil)`, `double runner.read: workflow.ExecuteActivity(next, "read").Get(next, out)`,
		`drop runner.both: r.end()`, `drop runner.both: r.note(ctx)`, `drop runner.both: r.note(ctx) #2`, `drop runner.both: r.read(ctx, nil)`,
		`drop runner.both: workflow.Await(ctx, func() bool { return true })`,
		`drop runner.note: workflow.UpsertMemo(ctx, nil)`, `drop runner.read: workflow.ExecuteActivity(next, "read").Get(next, out)`,
		`negate plain: err == nil`, `negate runner.both: failed != nil`,
		`swap runner.both: failed := r.read(ctx, nil) with r.note(ctx)`, `swap runner.both: r.note(ctx) with failed := r.read(ctx, nil)`,
	}
	if diff := gocmp.Diff(want, names(mutants)); diff != "" {
		t.Error(diff)
	}
}

// TestSteps checks that the elements of a list of steps are dropped, doubled and swapped.
func TestSteps(t *testing.T) {
	t.Parallel()
	mutants, text := generateText(t, `
import "go.temporal.io/sdk/workflow"

type step struct {
	name string
	run  func(workflow.Context) error
}

func first(ctx workflow.Context) error { return workflow.UpsertMemo(ctx, 1) }

func steps() []step { return []step{{"a", first}, {"b", first}} }

func run(ctx workflow.Context) error {
	for _, s := range steps() {
		if err := s.run(ctx); err != nil {
			return err
		}
	}
	return nil
}`)
	for _, want := range []string{
		`drop steps: {"a", first}`, `double steps: {"b", first}`, `swap steps: {"a", first} with {"b", first}`, `drop run: s.run(ctx)`,
	} {
		if !slices.Contains(names(mutants), want) {
			t.Errorf("%s is not among\n%s\n%s", want, strings.Join(names(mutants), "\n"), text)
		}
	}
}

// TestReplacements checks that a replacement without a subject is an error.
func TestReplacements(t *testing.T) {
	t.Parallel()
	mutants, text := generateText(t, "const limit = 5\nfunc f(n int) int { return min(n, limit) }", Replacement{"f", "limit", "7"})
	if diff := gocmp.Diff([]string{"replace f: limit by 7"}, names(mutants)); diff != "" {
		t.Error(diff)
	}
	if want := "mutantElse(0, func() int { return limit }, func() int { return 7 })"; !strings.Contains(text, want) {
		t.Errorf("the file is\n%s", text)
	}
	s := checked(t, "")
	if _, _, err := generate(s, []Replacement{{"f", "limit", "7"}}); err == nil {
		t.Error("a replacement in a function that is not there succeeds")
	}
}

// TestSurvivors checks the file of the survivors, and what is wrong in such a file.
func TestSurvivors(t *testing.T) {
	t.Parallel()
	if _, err := parseSurvivors(survivorsText); err != nil {
		t.Error(err)
	}
	for reason, text := range map[string]string{
		"a mutant before the first reason": "\tdrop f: g()\n",
		"a mutant twice":                   "why\n\tdrop f: g()\nother\n\tdrop f: g()\n",
	} {
		if _, err := parseSurvivors(text); err == nil {
			t.Errorf("%s: no error", reason)
		}
	}
	got, err := parseSurvivors("# comment\nwhy\n\tdrop f: g()\n")
	if err != nil || got["drop f: g()"] != "why" {
		t.Errorf("got %v, %v", got, err)
	}
}

// TestEndedBy checks which test of several ended their run.
func TestEndedBy(t *testing.T) {
	t.Parallel()
	for reason, c := range map[string]struct{ output, want string }{
		"it failed":                      {"=== RUN   TestA\n--- FAIL: TestA (0.00s)\n=== RUN   TestB\n--- PASS: TestB (0.00s)\nFAIL\n", "TestA"},
		"a workflow of it panicked":      {"=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestB\n=== RUN   TestB/case\npanic: x\n", "TestB"},
		"a parallel one of it panicked":  {"=== RUN   TestA\n=== PAUSE TestA\n=== RUN   TestB\n--- PASS: TestB (0.00s)\n=== CONT  TestA\npanic: x\n", "TestA"},
		"none began, so it is not known": {"panic: x\n", ""},
	} {
		if got := endedBy([]byte(c.output)); got != c.want {
			t.Errorf("%s: %q, want %q", reason, got, c.want)
		}
	}
}

// TestReport checks which mutants fail: those that survive without a reason, and reasons that
// are stale.
func TestReport(t *testing.T) {
	t.Parallel()
	dropped, negated := Mutant{Dropped, "f", "g()"}, Mutant{Negated, "f", "ok"}
	noticed, unnoticed := replayed{By: "created"}, replayed{Reached: true}
	for name, c := range map[string]struct {
		mutant  Mutant
		replay  replayed
		test    string
		reasons map[string]string
		code    int
	}{
		"replay notices":                   {dropped, noticed, "", nil, 0},
		"tests alone notice a command":     {dropped, unnoticed, "TestF", nil, 1},
		"tests notice a condition":         {negated, unnoticed, "TestF", nil, 0},
		"nothing notices":                  {negated, unnoticed, "", nil, 1},
		"nothing notices, with a reason":   {negated, unnoticed, "", map[string]string{negated.Name(): "why"}, 0},
		"a reason, although it is noticed": {dropped, noticed, "", map[string]string{dropped.Name(): "why"}, 1},
		"a reason that names the tests":    {dropped, unnoticed, "TestF", map[string]string{dropped.Name(): "why: " + noticedByTests}, 0},
		"it does not, although they do":    {dropped, unnoticed, "TestF", map[string]string{dropped.Name(): "why"}, 1},
		"it does, although they do not":    {dropped, unnoticed, "", map[string]string{dropped.Name(): "why: " + noticedByTests}, 1},
		"a reason without a mutant":        {dropped, noticed, "", map[string]string{"drop f: h()": "why"}, 1},
	} {
		r := newReport(io.Discard, []Mutant{c.mutant}, c.reasons)
		r.add(0, result{c.replay, c.test})
		if got := r.end(); got != c.code {
			t.Errorf("%s: exit code %d, want %d", name, got, c.code)
		}
	}
}
