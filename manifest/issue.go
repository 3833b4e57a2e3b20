package manifest

import (
	"fmt"
	"slices"
	"strings"
)

// Issue is one finding in a manifest.
type Issue struct {
	// File is the path as given or found, "-" for stdin, "" for an issue of
	// Options.
	File string
	// Line counts from 1; 0 if there is none.
	Line int
	// Path is the path in the document, for example reconcile.interval.
	Path string
	// Message states what was found and what is allowed. It never contains the
	// value of a property with a secret name.
	Message string
}

// String returns "file:line: path: message" without absent parts.
func (f Issue) String() string {
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

// Issues is the error of Load: all issues, by file and line.
type Issues []Issue

// Error returns one issue per line.
func (f Issues) Error() string {
	lines := make([]string, len(f))
	for i, issue := range f {
		lines[i] = issue.String()
	}
	return strings.Join(lines, "\n")
}

// sorted returns the issues by file, in the order of reading, then by line.
func (f Issues) sorted(files []string) Issues {
	rank := make(map[string]int, len(files))
	for i, file := range files {
		rank[file] = i + 1
	}
	slices.SortStableFunc(f, func(a, b Issue) int {
		if a.File != b.File {
			return rank[a.File] - rank[b.File]
		}
		return a.Line - b.Line
	})
	return f
}
