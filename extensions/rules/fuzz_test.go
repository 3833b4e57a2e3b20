package rules_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/armature-io/armature/extensions/rules"
)

// FuzzLoad checks that no text makes a worker panic: it is accepted, or refused with
// a message.
func FuzzLoad(f *testing.F) {
	example, err := os.ReadFile(example)
	if err != nil {
		f.Fatal(err)
	}
	for _, folder := range exampleFolders() {
		files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
		if err != nil || len(files) == 0 {
			f.Fatal(folder, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(string(text))
		}
	}
	for _, seed := range []string{string(example), one("when: 'true'", "block: ${a} ${"), one("when: |", "  a", "block: >", "  ${b}"), "rules: [{name: &a x, type: *a}]", "rules: [{name: a, type: A.B/c, read: {x: id, y: {id: '/${name}'}}, set: {'a[b=c].d': x}}]\ntests: [{rule: a, reads: {x: {}}, payload: {a: [1]}, want: {}}]", "tests: [{}]", "---\n---\n", "rules:\n- when: \"\\u0041"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(t.TempDir(), "r.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := rules.Load(path); err != nil && err.Error() == "" {
			t.Error("refused without a message")
		}
		_, _, _ = rules.Check(path)
		_, _, _ = rules.Test(t.Context(), path)
	})
}
