package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/armature-io/armature/internal/nearest"
	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/starter/internal/report"
	"github.com/spf13/cobra"
)

// validationFlag is the value of --validation, "" if it is not given.
type validationFlag manifest.Validation

func validations() []string {
	var words []string
	for _, v := range manifest.Validations() {
		words = append(words, string(v))
	}
	return words
}

// Set implements pflag.Value.
func (v *validationFlag) Set(text string) error {
	if !slices.Contains(validations(), text) {
		return fmt.Errorf("validation %q is not known%s; allowed are %s", text, nearest.Suggest(text, validations()), strings.Join(validations(), ", "))
	}
	*v = validationFlag(text)
	return nil
}

// String implements pflag.Value.
func (v *validationFlag) String() string { return string(*v) }

// Type implements pflag.Value: the flag's type in the help.
func (v *validationFlag) Type() string { return "word" }

// addValidation adds --validation to a command that checks bodies.
func (s *sources) addValidation(a *app, c *cobra.Command) {
	c.Flags().Var(&s.validation, "validation", "how findings of the published types count, instead of reconcile.validation: "+strings.Join(validations(), ", "))
	a.completeFlag(c, "validation", fixed(validations()...))
}

// maxIssuesShown bounds the issues that are listed: more mean that the path is wrong.
const maxIssuesShown = 25

// issueLines returns the first issues as lines; more is the advice after them.
func issueLines(issues manifest.Issues, more string) []string {
	var lines []string
	for _, issue := range issues[:min(maxIssuesShown, len(issues))] {
		lines = append(lines, issue.String())
	}
	if rest := len(issues) - len(lines); rest > 0 {
		lines = append(lines, fmt.Sprintf("… and %d more; %s", rest, more))
	}
	return lines
}

// lowerHelp is the last line of a refusal by the published types.
const lowerHelp = "if Azure takes what is refused here, pass --validation warn or write reconcile: {validation: warn}"

// refusal returns the error of a load for the user: its faults, and how to lower those
// that the published types cause.
func refusal(err error) error {
	issues, ok := errors.AsType[manifest.Issues](err)
	switch {
	case err == nil:
		return nil
	case !ok:
		return cli.BadInput("invalid manifests, nothing was started: %w", err)
	}
	faults := issues.Of(manifest.SeverityFault)
	lines := issueLines(faults, "fix these first")
	if hasTypeFault(faults) {
		if n := len(issues) - len(faults); n > 0 {
			lines = append(lines, "and "+cli.Count(n, "warning")+"; `armature validate` lists all")
		}
		lines = append(lines, lowerHelp)
	}
	return cli.BadInput("invalid manifests, nothing was started (%s):\n  %s", cli.Count(len(faults), "issue"), strings.Join(lines, "\n  "))
}

// hasTypeFault reports whether --validation could lower one of the faults.
func hasTypeFault(faults manifest.Issues) bool {
	return slices.ContainsFunc(faults, func(i manifest.Issue) bool { return i.Rule != manifest.InvalidManifest })
}

func (a *app) validateCommand() *cobra.Command {
	var (
		from   sources
		strict bool
	)
	output := report.Table
	c := &cobra.Command{
		Use:   "validate -f PATH...",
		Short: "Check manifests against the published resource types",
		Long: `validate checks manifests as plan and apply do, and needs neither Temporal nor a
worker: their form, and types, api-versions, names, owners and bodies against what
Microsoft publishes about every resource type. A finding names file, line and column.

Faults are what Azure does not take. Warnings are what it may take; --strict makes
them fail too. docs/validation.md lists both, and how to lower them.

table is a line for each finding. json is {manifests, faults, warnings, issues}; sarif
is SARIF 2.1.0 for code scanning; github are annotations of GitHub Actions; junit is
XML for test reports.

Exit codes:
  0  no faults
  1  warnings, with --strict
  2  faults, or bad flags`,
		Example: "  armature validate -f stack\n  armature validate -f stack --strict -o github\n  cat db.yaml | armature validate -f -",
		Args:    cli.NoArgs("pass manifests with -f PATH"),
		RunE: func(*cobra.Command, []string) error {
			if len(from.files) == 0 {
				return cli.BadInput("validate needs -f PATH (a file, a folder, or - for stdin)")
			}
			return a.validate(report.Report{Report: manifest.Validate(from.options(a), from.files...), Strict: strict, Version: version}, output)
		},
	}
	from.add(c.Flags())
	from.addValidation(a, c)
	c.Flags().BoolVar(&strict, "strict", false, "fail with exit code 1 if there are warnings")
	c.Flags().VarP(&output, "output", "o", "output format: "+strings.Join(report.Formats(), ", "))
	a.completeFlag(c, "output", fixed(report.Formats()...))
	return c
}

// validate writes a report, a line that sums it up, and how to lower it. The lines are
// on stderr if the output is a document.
func (a *app) validate(r report.Report, output report.Format) error {
	faults := r.Issues.Of(manifest.SeverityFault)
	for _, issue := range faults {
		// An issue without a file is about the flags.
		if issue.File == "" {
			return cli.BadInput("%s", issue.Text())
		}
	}
	r.Ink = a.ink
	if err := r.Write(a.out, output); err != nil {
		return err
	}
	if output.IsMachine() {
		a.note("%s", r.Summary())
	} else {
		a.printf("%s\n", r.Summary())
	}
	if hasTypeFault(faults) {
		a.note("%s", lowerHelp)
	}
	switch {
	case len(faults) > 0:
		return &cli.ExitError{Code: cli.ExitBadInput, Err: errors.New("")}
	case r.Strict && len(r.Issues) > 0:
		return &cli.ExitError{Code: cli.ExitFailed, Err: errors.New("")}
	}
	return nil
}
