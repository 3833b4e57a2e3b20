package rules_test

import (
	"os"
	"strings"
	"testing"

	"github.com/armature-io/armature/extensions/rules"
)

// The rule that docs/extensions.md shows works, and its test passes.
func TestDocsExample(t *testing.T) {
	page, err := os.ReadFile("../../docs/extensions.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(page), "```yaml\n")
	text, _, found := strings.Cut(after, "```")
	if !found {
		t.Fatal("the page shows no rule")
	}
	outcomes, warnings, err := rules.Test(t.Context(), write(t, map[string]string{"r.yaml": text}))
	if err != nil || len(warnings) > 0 || len(outcomes) != 1 || outcomes[0].Failure != "" {
		t.Errorf("got %+v %v %v", outcomes, warnings, err)
	}
}
