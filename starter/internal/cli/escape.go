package cli

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/armature-io/armature/internal/text"
)

// A document for programs is written without a loss: what the Writer would drop or break
// is escaped in its strings before.

// EscapeJSON returns a JSON document with escapes for the characters that the Writer drops.
// They occur in strings only.
func EscapeJSON(raw []byte) []byte {
	return escape(raw, func(r rune) string {
		if high, low := utf16.EncodeRune(r); high != utf8.RuneError {
			return fmt.Sprintf(`\u%04x\u%04x`, high, low)
		}
		return fmt.Sprintf(`\u%04x`, r)
	})
}

// EscapeYAML returns a YAML document with escapes for the characters that the Writer drops.
// Texts for which NeedsQuotes is true must be in double quotes.
func EscapeYAML(raw []byte) []byte {
	return escape(raw, func(r rune) string {
		if r > 0xffff {
			return fmt.Sprintf(`\U%08x`, r)
		}
		return fmt.Sprintf(`\u%04x`, r)
	})
}

// actionsCommand matches a line that GitHub Actions would run.
var actionsCommand = regexp.MustCompile(`(?m)^[\s\p{Z}]*::`)

// NeedsQuotes reports whether a text must be in double quotes for YAML. The YAML library
// writes texts with line breaks as blocks, and those with tabs or with blanks around them
// read back as another text, or not at all.
func NeedsQuotes(s string) bool {
	switch {
	case strings.Contains(s, hashes), actionsCommand.MatchString(s):
		return true
	case strings.Contains(s, "\n") && (strings.Contains(s, "\t") || strings.TrimSpace(s) != s):
		return true
	}
	return strings.IndexFunc(s, func(r rune) bool { return text.IsUnsafe(r) && r != '\n' && r != '\t' }) >= 0
}

// escape returns a document with its unsafe characters, and the brackets of commands,
// replaced. Most documents have none and are returned as they are.
func escape(raw []byte, escaped func(rune) string) []byte {
	var b strings.Builder
	done := 0
	for i := 0; i < len(raw); {
		r, size := rune(raw[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(raw[i:])
		}
		if r == '[' && endsLikeCommand(string(raw[max(0, i-len(vso)):i])) || text.IsUnsafe(r) && r != '\n' && r != '\t' {
			b.Write(raw[done:i])
			b.WriteString(escaped(r))
			done = i + size
		}
		i += size
	}
	if done == 0 {
		return raw
	}
	b.Write(raw[done:])
	return []byte(b.String())
}
