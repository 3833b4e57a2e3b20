package worlds

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestShrink verifies that a script is cut to the steps without which it does not fail.
func TestShrink(t *testing.T) {
	t.Parallel()
	long, err := parseScript("add a\nkill\nset a body.tags.x \"1\"\nfreeze\nunfreeze\nforeign a tags.y 2\nkill\n")
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	needed := []string{"add a", "foreign a tags.y 2"}
	got := shrink(long, func() bool { return true }, func(s script) bool {
		asked++
		return !slices.ContainsFunc(needed, func(line string) bool {
			return !slices.ContainsFunc(s, func(s step) bool { return s.String() == line })
		})
	})
	if diff := cmp.Diff("add a\nforeign a tags.y 2\n", got.String()); diff != "" {
		t.Errorf("shrink (-want +got):\n%s", diff)
	}
	if asked > 20 {
		t.Errorf("%d scripts were played for 7 steps, want at most 20", asked)
	}
	if whole := shrink(long, func() bool { return false }, func(script) bool { return true }); len(whole) != len(long) {
		t.Errorf("without time the script has %d steps, want all", len(whole))
	}
}

// TestScriptText verifies that a script is the same after it was printed and parsed, and that
// draws of one seed are equal.
func TestScriptText(t *testing.T) {
	t.Parallel()
	examples := examplesOf(t)
	drawn := map[string]bool{}
	for seed := range uint64(100) {
		s := draw(seed, examples)
		parsed, err := parseScript(s.String())
		if err != nil {
			t.Fatal(err)
		}
		if parsed.String() != s.String() || draw(seed, examples).String() != s.String() {
			t.Errorf("the script of seed %d changes:\n%s\n%s", seed, s, parsed)
		}
		for _, step := range s {
			drawn[step.kind] = true
		}
	}
	for kind := range kinds() {
		if !drawn[kind] {
			t.Errorf("100 scripts have no step of the kind %s", kind)
		}
	}
	if _, err := parseScript("fly a"); err == nil {
		t.Error("a step of an unknown kind is accepted")
	}
}
