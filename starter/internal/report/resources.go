package report

import (
	"io"
	"strings"

	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/types"
)

// The rules of issues about resources.
const (
	Drift       types.Rule = "drift"
	Foreign     types.Rule = "foreign-value"
	NotInSync   types.Rule = "not-in-sync"
	NotCompared types.Rule = "not-compared"
)

// Resources is the result of a comparison of resources with Azure.
type Resources struct {
	// Compared are the resources, each with its issues.
	Compared []Compared
	// Version is the version of this program.
	Version string
}

// Compared is a compared resource.
type Compared struct {
	ID resource.ID
	// File is the file of its manifest, "" if it is not known.
	File string
	// Issues are the differences, none if the resource is in sync. Those of NotCompared are
	// errors. An issue has file and line if they are known.
	Issues manifest.Issues
}

// Write writes the result as JUnit or SARIF.
func (r Resources) Write(w io.Writer, format Format) error {
	if format == JUnit {
		return r.writeJUnit(w)
	}
	return r.writeSARIF(w)
}

// writeJUnit writes a test case for each resource, which fails if the resource differs.
func (r Resources) writeJUnit(w io.Writer) error {
	suite := junitSuite{Name: "armature drift"}
	for _, c := range r.Compared {
		test := junitCase{Name: text.Name(cli.KindAndName(c.ID)), Class: text.Name(c.ID.String()), File: text.Name(c.File)}
		var differences, failed []string
		for _, issue := range c.Issues {
			if issue.Rule == NotCompared {
				failed = append(failed, issue.String())
			} else {
				differences = append(differences, issue.String())
			}
		}
		switch {
		case len(failed) > 0:
			suite.Errors++
			test.Error = &junitFailure{Message: "it could not be compared", Type: string(NotCompared), Text: strings.Join(failed, "\n")}
		case len(differences) > 0:
			suite.Failures++
			test.Failure = &junitFailure{Message: cli.Count(len(differences), "difference"), Type: string(c.Issues[0].Rule), Text: strings.Join(differences, "\n")}
		}
		suite.Cases = append(suite.Cases, test)
	}
	return suite.write(w)
}

// writeSARIF writes a result for each issue: at its place in the manifest, if that is known, and
// with the ID of the resource as the logical location.
func (r Resources) writeSARIF(w io.Writer) error {
	run := newSARIFRun(r.Version)
	for _, c := range r.Compared {
		for _, issue := range c.Issues {
			var at sarifLocation
			if issue.File != "" {
				at = sarifLocationOf(issue)
			}
			at.Logical = []sarifLogical{{Name: c.ID.String()}}
			run.add(issue, false, cli.KindAndName(c.ID)+": "+issue.Text(), at)
		}
	}
	return run.write(w)
}
