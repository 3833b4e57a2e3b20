package manifest

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/armature-io/armature/types"
)

// Severity is the weight of an issue. The words are part of the output formats.
type Severity string

// The severities. A fault refuses the manifest, a warning does not.
const (
	SeverityFault   Severity = "fault"
	SeverityWarning Severity = "warning"
)

// Issue is one finding in a manifest.
type Issue struct {
	// File is the path as given or found, "-" for stdin, "" for an issue of
	// Options.
	File string
	// Line counts from 1; 0 if there is none.
	Line int
	// Column counts characters from 1; 0 if there is none.
	Column int
	// Path is the path in the document, for example reconcile.interval.
	Path string
	// Message states what was found and what is allowed. It never contains the
	// value of a property with a secret name.
	Message  string
	Severity Severity
	// Rule names what the issue is about: InvalidManifest, or a rule of the
	// published types.
	Rule types.Rule
	// Suggestion is the name or value that was probably meant, "" if there is none.
	// Message contains it.
	Suggestion string
}

// InvalidManifest is the rule of every issue that needs no published types.
const InvalidManifest types.Rule = "invalid-manifest"

// String returns "file:line:column: path: message" without absent parts and without
// control characters. A warning has the word before the path.
func (f Issue) String() string {
	var b strings.Builder
	if f.File != "" {
		b.WriteString(f.File)
		if f.Line > 0 {
			fmt.Fprintf(&b, ":%d", f.Line)
			if f.Column > 0 {
				fmt.Fprintf(&b, ":%d", f.Column)
			}
		}
		b.WriteString(": ")
	}
	if f.Severity == SeverityWarning {
		b.WriteString("warning: ")
	}
	b.WriteString(f.Text())
	return Printable(b.String())
}

// Text returns "path: message" without control characters.
func (f Issue) Text() string {
	if f.Path == "" {
		return Printable(f.Message)
	}
	return Printable(f.Path + ": " + f.Message)
}

// Printable returns a text without characters that move a terminal's cursor or reverse
// its direction. Names of files and properties may contain them.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp, unicode.Bidi_Control) {
			return -1
		}
		return r
	}, text)
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

// Of returns the issues of a severity, in the same order.
func (f Issues) Of(severity Severity) Issues {
	var chosen Issues
	for _, issue := range f {
		if issue.Severity == severity {
			chosen = append(chosen, issue)
		}
	}
	return chosen
}

// sorted returns the issues by file, in the order of reading, then by line and column.
func (f Issues) sorted(files []string) Issues {
	rank := make(map[string]int, len(files))
	for i, file := range files {
		rank[file] = i + 1
	}
	slices.SortStableFunc(f, func(a, b Issue) int {
		switch {
		case a.File != b.File:
			return rank[a.File] - rank[b.File]
		case a.Line != b.Line:
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	return f
}
