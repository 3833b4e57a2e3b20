package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/dev/internal/overlay"
)

// TestList compares the promised symbols with the list in the repository: a change of the public
// API is visible in a review.
func TestList(t *testing.T) {
	root, err := overlay.FindRoot()
	if err != nil {
		t.Fatal(err)
	}
	now, err := load(t.Context(), root, promised()...)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(root, "docs", "contributing", "api.txt")
	if os.Getenv("UPDATE_DOCS") != "" {
		if err := os.WriteFile(path, []byte(now.list()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), now.list()); diff != "" {
		t.Errorf("the public API changed; `make docs` updates docs/contributing/api.txt (-list +code):\n%s", diff)
	}
	for name := range unpromised() {
		if where, symbol, _ := strings.Cut(name, "."); now.packages[module+"/"+where].Scope().Lookup(symbol) == nil {
			t.Errorf("%s has a reason why it may change, and does not exist", name)
		}
	}
}

// TestSinceRelease compares the public API with that of the last release before this commit.
func TestSinceRelease(t *testing.T) {
	tag, err := exec.CommandContext(t.Context(), "git", "describe", "--tags", "--abbrev=0", "--match", "v*").Output()
	if err != nil {
		t.Skip("there is no release yet, or no tag in this clone: nothing is promised")
	}
	var out bytes.Buffer
	if err := run(t.Context(), &out, strings.TrimSpace(string(tag))); err != nil {
		t.Errorf("%v\n%s", err, out.String())
	}
}

// TestIncompatible checks that removed, renamed and changed symbols are found, and that additions
// and changes of unpromised symbols are not.
func TestIncompatible(t *testing.T) {
	root, err := overlay.FindRoot()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := overlay.CheckOut(t.Context(), root, "HEAD", folder); err != nil {
		t.Fatal(err)
	}
	now, err := load(t.Context(), folder, "extensions")
	if err != nil {
		t.Fatal(err)
	}
	for file, replaced := range map[string][2]string{
		"results.go": {"func WithActor(actor string)", "func WithActors(actor string)"},
		"purpose.go": {"func PurposeOf(ctx context.Context) Purpose", "func PurposeOf(ctx context.Context, _ bool) Purpose"},
		"entry.go":   {"type InlineList struct {", "type InlineList struct {\n\tAdded string"},
	} {
		path := filepath.Join(folder, "extensions", file)
		text, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(text), replaced[0]) {
			t.Fatalf("%s does not contain %q: %v", file, replaced[0], err)
		}
		if err := os.WriteFile(path, []byte(strings.Replace(string(text), replaced[0], replaced[1], 1)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	later, err := load(t.Context(), folder, "extensions")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"extensions.PurposeOf: changed from func(context.Context) Purpose to func(context.Context, bool) Purpose",
		"extensions.WithActor: removed",
	}
	if diff := cmp.Diff(want, now.incompatible(later)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
