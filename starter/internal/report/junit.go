package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/starter/internal/cli"
)

// The elements of JUnit's XML that CI systems read: a file or a resource is a test case.
type (
	junitSuites struct {
		XMLName  xml.Name `xml:"testsuites"`
		Name     string   `xml:"name,attr"`
		Tests    int      `xml:"tests,attr"`
		Failures int      `xml:"failures,attr"`
		Errors   int      `xml:"errors,attr"`
		Suite    junitSuite
	}
	junitSuite struct {
		XMLName  xml.Name    `xml:"testsuite"`
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name    string        `xml:"name,attr"`
		Class   string        `xml:"classname,attr"`
		File    string        `xml:"file,attr,omitempty"`
		Failure *junitFailure `xml:"failure,omitempty"`
		Error   *junitFailure `xml:"error,omitempty"`
		Out     string        `xml:"system-out,omitempty"`
	}
	junitFailure struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
)

// writeJUnit writes a test case for each file. What fails is in its failure, warnings
// that do not are in its output.
func (r Report) writeJUnit(w io.Writer) error {
	suite := junitSuite{Name: "armature validate"}
	for _, file := range r.files() {
		var failed, noted []string
		for _, issue := range r.Issues {
			switch {
			case issue.File != file:
			case issue.Severity == manifest.SeverityFault || r.Strict:
				failed = append(failed, issue.String())
			default:
				noted = append(noted, issue.String())
			}
		}
		name := text.Name(file)
		test := junitCase{Name: name, Class: "armature.validate", File: name, Out: strings.Join(noted, "\n")}
		if len(failed) > 0 {
			suite.Failures++
			test.Failure = &junitFailure{Message: cli.Count(len(failed), "issue"), Type: "validation", Text: strings.Join(failed, "\n")}
		}
		suite.Cases = append(suite.Cases, test)
	}
	return suite.write(w)
}

// write writes the suite with the number of its cases.
func (suite junitSuite) write(w io.Writer) error {
	suite.Tests = len(suite.Cases)
	raw, err := xml.MarshalIndent(junitSuites{Name: suite.Name, Tests: suite.Tests, Failures: suite.Failures, Errors: suite.Errors, Suite: suite}, "", "  ")
	if err == nil {
		_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, raw)
	}
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

// files returns the files that were read, and the files of issues that could not be.
func (r Report) files() []string {
	files := append([]string(nil), r.Files...)
	known := map[string]bool{}
	for _, file := range files {
		known[file] = true
	}
	for _, issue := range r.Issues {
		if !known[issue.File] {
			known[issue.File] = true
			files = append(files, issue.File)
		}
	}
	return files
}
