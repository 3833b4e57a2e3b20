package repo

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBuiltInTypesAreOutsiders compiles the built-in extensions as a package of another module:
// they use only what the author of an extension has.
func TestBuiltInTypesAreOutsiders(t *testing.T) {
	folder := copyExample(t, customWorker)
	files, err := filepath.Glob("extensions/azure/*.go")
	if err != nil || len(files) < 20 {
		t.Fatalf("the built-in extensions are %d files: %v", len(files), err)
	}
	files = append(files, "extensions/azure/facts.yaml")
	if err := os.Mkdir(filepath.Join(folder, "azure"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, trick := range []string{"go:linkname", `"unsafe"`} {
			if bytes.Contains(text, []byte(trick)) {
				t.Errorf("%s uses %s, by which it could use more than an author has", file, trick)
			}
		}
		if err := os.WriteFile(filepath.Join(folder, "azure", filepath.Base(file)), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	runGo(t, folder, "build", "-mod=mod", "./azure")
	// A worker gets them as it gets the extensions of others.
	wiring, err := os.ReadFile("service/rules.go")
	if err != nil || !bytes.Contains(wiring, []byte("append(builtin.BuiltIn(), o.Extensions...)")) {
		t.Errorf("service/rules.go does not put the built-in extensions into the list of the others: %v\n%s", err, wiring)
	}
}
