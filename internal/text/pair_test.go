package text

import (
	"strings"
	"testing"
	"testing/quick"
	"unicode/utf8"
)

func TestCutPair(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 100)
	for name, c := range map[string]struct{ reason, a, b, wantA, wantB string }{
		"short":     {"both fit", "ab", "ac", "ab", "ac"},
		"begin":     {"the difference is at the begin", "x" + long, "y" + long, "x" + long[:58] + "…", "y" + long[:58] + "…"},
		"end":       {"the difference is the last character", long + "x", long + "y", "…" + long[:58] + "x", "…" + long[:58] + "y"},
		"middle":    {"30 equal characters stand before it", long + "x" + long, long + "y" + long, "…" + long[:30] + "x" + long[:27] + "…", "…" + long[:30] + "y" + long[:27] + "…"},
		"longer":    {"one begins with the other", long, long + "b", "…" + long[:58], "…" + long[:58] + "b"},
		"beside":    {"a short text beside a long one", "b", long, "b", long[:59] + "…"},
		"character": {"a character of several bytes is one", strings.Repeat("ö", 100) + "x", strings.Repeat("ö", 100) + "y", "…" + strings.Repeat("ö", 58) + "x", "…" + strings.Repeat("ö", 58) + "y"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if a, b := CutPair(c.a, c.b, 60); a != c.wantA || b != c.wantB {
				t.Errorf("%s:\n%q, want\n%q;\n%q, want\n%q", c.reason, a, c.wantA, b, c.wantB)
			}
		})
	}
}

// TestCutPairKeepsDifferences checks that different texts stay different, whatever comes
// before and after.
func TestCutPairKeepsDifferences(t *testing.T) {
	t.Parallel()
	check := func(before uint8, left, right, after string, extra uint8) bool {
		a := strings.Repeat("p", int(before)) + left + after + strings.Repeat("q", int(extra))
		b := strings.Repeat("p", int(before)) + right + after
		shortA, shortB := CutPair(a, b, 60)
		fits := utf8.RuneCountInString(shortA) <= 60 && utf8.RuneCountInString(shortB) <= 60
		return fits && (string([]rune(a)) == string([]rune(b))) == (shortA == shortB)
	}
	if err := quick.Check(check, &quick.Config{MaxCount: 20_000}); err != nil {
		t.Error(err)
	}
}
