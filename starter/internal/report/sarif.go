package report

import (
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/armature-io/armature/manifest"
)

// The part of SARIF 2.1.0 (OASIS, sarif-schema-2.1.0.json) that a result needs.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       sarifTool     `json:"tool"`
		ColumnKind string        `json:"columnKind"`
		Results    []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version,omitempty"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID          string    `json:"id"`
		Description sarifText `json:"shortDescription"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		RuleIndex int             `json:"ruleIndex"`
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations"`
	}
	sarifLocation struct {
		Physical *sarifPhysical `json:"physicalLocation,omitempty"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn,omitempty"`
	}
	sarifLogical struct {
		Name string `json:"fullyQualifiedName"`
	}
)

// writeSARIF writes one run with all issues. Columns count characters.
func (r Report) writeSARIF(w io.Writer) error {
	run := newSARIFRun(r.Version)
	for _, issue := range r.Issues {
		run.add(issue, r.Strict, issue.Text(), sarifLocationOf(issue))
	}
	return run.write(w)
}

func newSARIFRun(version string) sarifRun {
	return sarifRun{
		Tool:       sarifTool{Driver: sarifDriver{Name: "armature", Version: version, Rules: []sarifRule{}}},
		ColumnKind: "unicodeCodePoints", Results: []sarifResult{},
	}
}

// add adds a result, and its rule if it is the first one. Warnings are errors if strict is set.
func (run *sarifRun) add(issue manifest.Issue, strict bool, message string, at sarifLocation) {
	id := string(issue.Rule)
	index := slices.IndexFunc(run.Tool.Driver.Rules, func(rule sarifRule) bool { return rule.ID == id })
	if index < 0 {
		index = len(run.Tool.Driver.Rules)
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{ID: id, Description: sarifText{describe(issue.Rule)}})
	}
	level := "error"
	if issue.Severity == manifest.SeverityWarning && !strict {
		level = "warning"
	}
	run.Results = append(run.Results, sarifResult{RuleID: id, RuleIndex: index, Level: level, Message: sarifText{withoutLinks(message)}, Locations: []sarifLocation{at}})
}

func (run sarifRun) write(w io.Writer) error {
	return writeIndented(w, sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}})
}

// withoutLinks returns a message in which nothing is an embedded link, [text](target)
// (SARIF 2.1.0, 3.11.6).
func withoutLinks(message string) string { return strings.ReplaceAll(message, "](", "] (") }

func sarifLocationOf(issue manifest.Issue) sarifLocation {
	location := sarifLocation{Physical: &sarifPhysical{Artifact: sarifArtifact{URI: fileURI(issue.File)}}}
	if issue.Line > 0 {
		location.Physical.Region = &sarifRegion{StartLine: issue.Line, StartColumn: issue.Column}
	}
	if issue.Path != "" {
		location.Logical = []sarifLogical{{Name: issue.Path}}
	}
	return location
}

// fileURI returns the URI of a file: relative to the working directory unless the path
// is absolute.
func fileURI(file string) string {
	path := strings.TrimPrefix(filepath.ToSlash(file), "./")
	switch {
	case file == "-":
		return "stdin"
	case filepath.IsAbs(file):
		return (&url.URL{Scheme: "file", Path: path}).String()
	}
	return (&url.URL{Path: path}).String()
}
