package manifest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/armature-io/armature/internal/text"
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

// String returns "file:line:column: path: message" without absent parts, on one line and
// without characters that act on a terminal: names that contain some are quoted, and
// messages have escapes. A warning has the word before the path.
func (f Issue) String() string {
	var b strings.Builder
	if f.File != "" {
		b.WriteString(text.Name(f.File))
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
	return b.String()
}

// Text returns "path: message" as String does.
func (f Issue) Text() string {
	if f.Path == "" {
		return text.Visible(f.Message)
	}
	return text.Name(f.Path) + ": " + text.Visible(f.Message)
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
