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

// Issue is one finding in a manifest. Its JSON names do not change.
type Issue struct {
	// File is the path as given or found, "-" for stdin, "" for an issue of
	// Options.
	File string `json:"file,omitempty"`
	// Line counts from 1; 0 if there is none.
	Line int `json:"line,omitempty"`
	// Column counts characters from 1; 0 if there is none.
	Column   int      `json:"column,omitempty"`
	Severity Severity `json:"severity"`
	// Rule names what the issue is about: InvalidManifest, or a rule of the
	// published types.
	Rule types.Rule `json:"rule"`
	// Path is the path in the document, for example reconcile.interval.
	Path string `json:"path,omitempty"`
	// Message states what was found and what is allowed. It never contains the
	// value of a property with a secret name.
	Message string `json:"message"`
	// Suggestion is the name or value that was probably meant, "" if there is none.
	// Message contains it.
	Suggestion string `json:"suggestion,omitempty"`
}

// InvalidManifest is the rule of every issue that needs no published types.
const InvalidManifest types.Rule = "invalid-manifest"

// String returns "file:line:column: path: message" without absent parts, on one line and
// without characters that act on a terminal: names that contain some are quoted, and
// messages have escapes. A warning has the word before the path.
func (f Issue) String() string {
	line := f.Text()
	if f.Severity == SeverityWarning {
		line = "warning: " + line
	}
	if place := f.Place(); place != "" {
		line = place + ": " + line
	}
	return line
}

// Place returns "file:line:column" as String does, "" for an issue of Options.
func (f Issue) Place() string {
	place := ""
	if f.File != "" {
		place = text.Name(f.File)
		for _, n := range []int{f.Line, f.Column} {
			if n == 0 {
				break
			}
			place += fmt.Sprintf(":%d", n)
		}
	}
	return place
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
