package cli

import "strings"

// AsWritten returns a text as it is written to an output that CI systems read: commands of
// theirs get blanks, which count here.
func AsWritten(s string) string {
	var b strings.Builder
	// A builder returns no error.
	_, _ = NewWriter(&b, Ink{}).Write([]byte(s))
	return b.String()
}

// CodeSpan returns a text on one line as code.
func CodeSpan(s string) string {
	fence := strings.Repeat("`", LongestRun(s, '`')+1)
	return fence + " " + s + " " + fence
}

// LongestRun returns the length of the longest run of a character.
func LongestRun(s string, c rune) int {
	longest, run := 0, 0
	for _, r := range s {
		if run++; r != c {
			run = 0
		}
		longest = max(longest, run)
	}
	return longest
}
