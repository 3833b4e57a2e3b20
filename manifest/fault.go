package manifest

import (
	"fmt"
	"slices"
	"strings"
)

// Fault is one thing that is wrong with a manifest.
type Fault struct {
	// File is the path as it was given or found, "-" for stdin, "" for a fault
	// of Options.
	File string
	// Line counts from 1; 0 where there is none.
	Line int
	// Path is the place inside the document, for example reconcile.interval.
	Path string
	// Message says what was found and what is allowed. It never holds the value
	// of a property whose name says that it is secret.
	Message string
}

// String is "file:line: path: message"; what is absent is left out.
func (f Fault) String() string {
	var b strings.Builder
	if f.File != "" {
		b.WriteString(f.File)
		if f.Line > 0 {
			fmt.Fprintf(&b, ":%d", f.Line)
		}
		b.WriteString(": ")
	}
	if f.Path != "" {
		b.WriteString(f.Path + ": ")
	}
	b.WriteString(f.Message)
	return b.String()
}

// Faults is the error of Load: all faults, in the order of files and lines.
type Faults []Fault

// Error is one fault a line.
func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i, fault := range f {
		lines[i] = fault.String()
	}
	return strings.Join(lines, "\n")
}

// sorted is the faults by file, in the order of reading, then line.
func (f Faults) sorted(files []string) Faults {
	rank := make(map[string]int, len(files))
	for i, file := range files {
		rank[file] = i + 1
	}
	slices.SortStableFunc(f, func(a, b Fault) int {
		if a.File != b.File {
			return rank[a.File] - rank[b.File]
		}
		return a.Line - b.Line
	})
	return f
}
