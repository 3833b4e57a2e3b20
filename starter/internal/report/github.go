package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/manifest"
)

// The characters that a workflow command encodes, in its message and in its properties
// (actions/toolkit, packages/core/src/command.ts).
var (
	githubMessage  = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	githubProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// writeGitHub writes a workflow command for each issue. GitHub shows it beside the line.
func (r Report) writeGitHub(w io.Writer) error {
	for _, issue := range r.Issues {
		command := "error"
		if issue.Severity == manifest.SeverityWarning && !r.Strict {
			command = "warning"
		}
		var properties []string
		add := func(name, value string) { properties = append(properties, name+"="+githubProperty.Replace(value)) }
		if issue.File != "" {
			add("file", text.Visible(issue.File))
		}
		if issue.Line > 0 {
			add("line", fmt.Sprint(issue.Line))
		}
		if issue.Column > 0 {
			add("col", fmt.Sprint(issue.Column))
		}
		add("title", string(issue.Rule))
		if _, err := fmt.Fprintf(w, "%s%s %s::%s\n", r.Ink.Control("::"), command, strings.Join(properties, ","), githubMessage.Replace(issue.Text())); err != nil {
			return fmt.Errorf("write the report: %w", err)
		}
	}
	return nil
}
