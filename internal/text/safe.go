package text

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// IsUnsafe reports whether a character changes how a terminal or a reader shows the text
// around it: control characters (C0, DEL, C1), format characters (bidirectional
// overrides, zero-width characters), and the separators of lines and paragraphs.
func IsUnsafe(r rune) bool {
	switch {
	case r < ' ' || r == utf8.RuneError:
		return true
	case r < 0x7f:
		return false
	}
	return r < 0xa0 || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)
}

// IsSafe reports whether a text is valid UTF-8 without unsafe characters.
func IsSafe(text string) bool { return strings.IndexFunc(text, IsUnsafe) < 0 }

// Printable returns a text without unsafe characters.
func Printable(text string) string {
	if IsSafe(text) {
		return text
	}
	return strings.Map(func(r rune) rune {
		if IsUnsafe(r) {
			return -1
		}
		return r
	}, text)
}

// OneLine returns a text on one line without unsafe characters. Line breaks become
// blanks.
func OneLine(text string) string { return Printable(strings.Join(strings.Fields(text), " ")) }

// Visible returns a text with the escapes of Go in place of its unsafe characters: two
// values that differ never look the same.
func Visible(text string) string {
	if IsSafe(text) {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		if IsUnsafe(r) {
			quoted := strconv.QuoteToASCII(text[:size])
			b.WriteString(quoted[1 : len(quoted)-1])
		} else {
			b.WriteString(text[:size])
		}
		text = text[size:]
	}
	return b.String()
}

// Name returns a name as it is, or as a quoted Go string if it contains unsafe
// characters: two names that differ never look the same.
func Name(name string) string {
	if IsSafe(name) {
		return name
	}
	return strconv.QuoteToGraphic(name)
}
