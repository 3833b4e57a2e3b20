package rules

import (
	"fmt"
	"sort"
	"strings"
)

// Fault is what is wrong at one place of a file. Line and Column count from 1; a
// fault of a whole file has none.
type Fault struct {
	File         string
	Line, Column int
	Message      string
}

// String is file:line:column: message, as editors read it.
func (f Fault) String() string {
	if f.Line == 0 {
		return f.File + ": " + f.Message
	}
	return fmt.Sprintf("%s:%d:%d: %s", f.File, f.Line, f.Column, f.Message)
}

// Faults are all faults of all files, one a line.
type Faults []Fault

// Error is all faults, in the order of files and lines.
func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i, fault := range f.sorted() {
		lines[i] = fault.String()
	}
	return strings.Join(lines, "\n")
}

func (f Faults) sorted() Faults {
	sorted := append(Faults(nil), f...)
	sort.SliceStable(sorted, func(i, j int) bool {
		a, b := sorted[i], sorted[j]
		if a.File != b.File {
			return a.File < b.File
		}
		return a.Line < b.Line || a.Line == b.Line && a.Column < b.Column
	})
	return sorted
}
