package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Issue is an error or warning at one position of a file. Line and Column start at
// 1; an issue of a whole file has none.
type Issue struct {
	File         string
	Line, Column int
	Message      string
}

// String returns file:line:column: message, which editors understand.
func (i Issue) String() string {
	if i.Line == 0 {
		return i.File + ": " + i.Message
	}
	return fmt.Sprintf("%s:%d:%d: %s", i.File, i.Line, i.Column, i.Message)
}

// Issues are the issues of all files.
type Issues []Issue

// Error returns the issues in the order of files and lines, one on each line.
func (list Issues) Error() string {
	lines := make([]string, len(list))
	for i, issue := range list.sorted() {
		lines[i] = issue.String()
	}
	return strings.Join(lines, "\n")
}

func (list Issues) sorted() Issues {
	sorted := slices.Clone(list)
	slices.SortStableFunc(sorted, func(a, b Issue) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return sorted
}
