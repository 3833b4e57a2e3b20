package author

import (
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"

	"github.com/armature-io/armature/types"
)

// placeholder is the text for a value without bounds.
const placeholder = "change-me"

// maxRepeats bounds the length of a text that is generated from a pattern.
const maxRepeats = 64

// candidates are the texts that are tried before one is generated: they look like what
// patterns often describe.
var candidates = []string{
	placeholder, "changeme", "change.me", "example.com", "https://example.com", "me@example.com",
	"10.0.0.0/24", "10.0.0.4", "00000000-0000-0000-0000-000000000000", "P1D", "PT1H", "1.0", "1.0.0", "12:00",
	"2030-01-01", "2030-01-01T00:00:00Z", "ChangeMe1!", resourceGroup, extended,
}

// textFor returns the placeholder in a length within bounds; if they have a pattern that
// Go can read and that a short text matches, a text that matches it.
func textFor(b *types.Bounds) string {
	if b == nil || b.Pattern == "" {
		return resize(placeholder, b)
	}
	pattern, _ := regexp.Compile(b.Pattern)
	for _, candidate := range candidates {
		if fits(candidate, b) && (pattern == nil || pattern.MatchString(candidate)) {
			return candidate
		}
	}
	if pattern != nil {
		if text, found := generate(b, pattern); found {
			return text
		}
	}
	return resize(placeholder, b)
}

// fits reports whether the length of a text is within bounds.
func fits(text string, b *types.Bounds) bool {
	length := int64(utf8.RuneCountInString(text))
	return (b.Min == nil || length >= *b.Min) && (b.Max == nil || length <= *b.Max)
}

// resize returns a text of a length within bounds.
func resize(text string, b *types.Bounds) string {
	if b == nil {
		return text
	}
	if b.Min != nil && int64(len(text)) < *b.Min {
		text += strings.Repeat("x", int(*b.Min)-len(text))
	}
	if b.Max != nil && int64(len(text)) > *b.Max {
		text = text[:*b.Max]
	}
	return text
}

// generate returns a text that matches a pattern: the shortest repetitions whose length
// is within bounds.
func generate(b *types.Bounds, pattern *regexp.Regexp) (string, bool) {
	tree, err := syntax.Parse(b.Pattern, syntax.Perl)
	if err != nil {
		return "", false
	}
	for repeats := range maxRepeats {
		var text strings.Builder
		write(&text, tree, repeats)
		if fits(text.String(), b) && pattern.MatchString(text.String()) {
			return text.String(), true
		}
	}
	return "", false
}

// write writes a text of a pattern, each repetition as often as repeats, within its own
// bounds.
func write(text *strings.Builder, tree *syntax.Regexp, repeats int) {
	switch tree.Op {
	case syntax.OpLiteral:
		text.WriteString(string(tree.Rune))
	case syntax.OpCharClass:
		text.WriteRune(letterOf(tree.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		text.WriteByte('a')
	case syntax.OpAlternate, syntax.OpCapture:
		write(text, tree.Sub[0], repeats)
	case syntax.OpConcat:
		for _, part := range tree.Sub {
			write(text, part, repeats)
		}
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		for range timesOf(tree, repeats) {
			write(text, tree.Sub[0], repeats)
			if text.Len() > 4096 {
				return
			}
		}
	}
}

// timesOf returns the number of repetitions of a part.
func timesOf(tree *syntax.Regexp, repeats int) int {
	low, high := 0, repeats
	switch tree.Op {
	case syntax.OpPlus:
		low = 1
	case syntax.OpQuest:
		high = 1
	case syntax.OpRepeat:
		low = tree.Min
		if tree.Max >= 0 {
			high = tree.Max
		}
	}
	return min(max(low, repeats), max(low, high))
}

// letterOf returns a letter of a class, given as pairs of first and last letter: an a,
// a digit, or the first one.
func letterOf(class []rune) rune {
	for _, wanted := range "aA0x" {
		for i := 0; i+1 < len(class); i += 2 {
			if class[i] <= wanted && wanted <= class[i+1] {
				return wanted
			}
		}
	}
	if len(class) == 0 {
		return 'a'
	}
	return class[0]
}
