package rules_test

import (
	"os"
	"strings"
	"testing"

	"github.com/armature-io/armature/extensions/rules"
)

// The rules that the docs show work, and their tests pass.
func TestDocsExample(t *testing.T) {
	for name, want := range map[string]int{"rules.md": 8} {
		page, err := os.ReadFile("../../docs/" + name)
		if err != nil {
			t.Fatal(err)
		}
		passed := 0
		for rest := string(page); ; {
			_, after, _ := strings.Cut(rest, "```yaml\n")
			text, next, found := strings.Cut(after, "```")
			if !found {
				break
			}
			if rest = next; !strings.HasPrefix(text, "rules:") {
				continue
			}
			outcomes, _, err := rules.Test(t.Context(), write(t, map[string]string{"r.yaml": text}))
			if err != nil {
				t.Errorf("%s: %v\n%s", name, err, text)
			}
			for _, outcome := range outcomes {
				if outcome.Failure != "" {
					t.Errorf("%s: %s: %s", name, outcome.Case.Name, outcome.Failure)
				}
				passed++
			}
		}
		if passed != want {
			t.Errorf("%s shows %d tests of rules, want %d", name, passed, want)
		}
	}
}
