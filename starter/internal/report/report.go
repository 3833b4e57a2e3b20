// Package report writes the issues of manifests, and those of compared resources, in the
// formats of people, editors and CI systems. It must not know how issues are found.
package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/starter/internal/cli"
)

// Format is an output format.
type Format string

// The formats: lines for people, JSON, SARIF 2.1.0 for code scanning, the annotations of
// GitHub Actions, and JUnit's XML for test reports.
const (
	Table  Format = "table"
	JSON   Format = "json"
	SARIF  Format = "sarif"
	GitHub Format = "github"
	JUnit  Format = "junit"
)

// Formats returns all formats.
func Formats() []string {
	return []string{string(Table), string(JSON), string(SARIF), string(GitHub), string(JUnit)}
}

// Set implements pflag.Value.
func (f *Format) Set(text string) error {
	parsed, err := cli.ParseWord[Format]("output format", text, Formats())
	if err == nil {
		*f = parsed
	}
	return err //nolint:wrapcheck // it names the flag
}

// String implements pflag.Value.
func (f *Format) String() string { return string(*f) }

// Type implements pflag.Value: the flag's type in the help.
func (f *Format) Type() string { return "format" }

// IsMachine reports whether the output must contain nothing but the document.
func (f Format) IsMachine() bool { return f == JSON || f == SARIF || f == JUnit }

// Report is what is written.
type Report struct {
	manifest.Report
	// Strict means that warnings fail too.
	Strict bool
	// Version is the version of this program.
	Version string
	// Ink lets the annotations of GitHub pass.
	Ink cli.Ink
}

// Summary returns "40 manifests, 2 faults, 1 warning".
func (r Report) Summary() string {
	return fmt.Sprintf("%s, %s, %s", cli.Count(r.Manifests, "manifest"),
		cli.Count(len(r.Issues.Of(manifest.SeverityFault)), "fault"), cli.Count(len(r.Issues.Of(manifest.SeverityWarning)), "warning"))
}

// Write writes a report. Names with characters that act on a terminal are quoted, or
// escaped in JSON.
func (r Report) Write(w io.Writer, format Format) error {
	switch format {
	case JSON:
		return r.writeJSON(w)
	case SARIF:
		return r.writeSARIF(w)
	case GitHub:
		return r.writeGitHub(w)
	case JUnit:
		return r.writeJUnit(w)
	}
	for _, issue := range r.Issues {
		if _, err := fmt.Fprintln(w, issue); err != nil {
			return fmt.Errorf("write the report: %w", err)
		}
	}
	return nil
}

func (r Report) writeJSON(w io.Writer) error {
	document := struct {
		Manifests int             `json:"manifests"`
		Faults    int             `json:"faults"`
		Warnings  int             `json:"warnings"`
		Issues    manifest.Issues `json:"issues"`
	}{r.Manifests, len(r.Issues.Of(manifest.SeverityFault)), len(r.Issues.Of(manifest.SeverityWarning)), r.Issues}
	if r.Issues == nil {
		document.Issues = manifest.Issues{}
	}
	return writeIndented(w, document)
}

func writeIndented(w io.Writer, value any) error {
	var raw bytes.Buffer
	encoder := json.NewEncoder(&raw)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(value)
	if err == nil {
		_, err = w.Write(cli.EscapeJSON(raw.Bytes()))
	}
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}
