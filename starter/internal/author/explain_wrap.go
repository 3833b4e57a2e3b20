package author

import (
	"fmt"
	"slices"
	"strings"
)

// joinNotEmpty joins the texts that are not empty.
func joinNotEmpty(separator string, texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(s string) bool { return s == "" }), separator)
}

// labelWidth is the width of the labels of paragraphs.
const labelWidth = 10

// Paragraph returns a text within a width, behind a label.
func Paragraph(label, text string, width int) string {
	lines := wrap(text, width-labelWidth)
	return fmt.Sprintf("%-*s%s\n", labelWidth, label, strings.Join(lines, "\n"+strings.Repeat(" ", labelWidth)))
}

// minTextWidth is the width below which texts are not wrapped.
const minTextWidth = 16

// wrap splits a text at blanks into lines of a width; one line if the width is 0 or
// less. A word that is longer than a line is split.
func wrap(text string, width int) []string {
	if width <= 0 {
		return []string{text}
	}
	width = max(width, minTextWidth)
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines, line = append(lines, line), ""
		}
		for len(word) > width {
			lines, word = append(lines, word[:width]), word[width:]
		}
		line = joinNotEmpty(" ", line, word)
	}
	return append(lines, line)
}

// shorten returns a line that ends with "..." within a width, cut between words.
func shorten(line string, width int) string {
	const end = " ..."
	width = max(width, minTextWidth)
	for len(line)+len(end) > width {
		i := strings.LastIndexByte(line, ' ')
		if i < 0 { // one long word
			i = width - len(end)
		}
		line = line[:i]
	}
	return strings.TrimRight(line, " ,|;") + end
}
