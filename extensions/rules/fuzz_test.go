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
	for _, seed := range []string{string(example), one("when: 'true'", "block: ${a} ${"), one("when: |", "  a", "block: >", "  ${b}"), "rules: [{name: &a x, type: *a}]", "tests: [{}]", "---\n---\n", "rules:\n- when: \"\\u0041"} {
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
		_, _, _ = rules.Test(t.Context(), path)
	})
}
