package starter

import (
	"errors"
	"strings"

	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/starter/internal/project"
	"github.com/armature-io/armature/starter/internal/report"
	"github.com/spf13/cobra"
)

func (a *app) validateCommand() *cobra.Command {
	var (
		from   project.Flags
		strict bool
	)
	output := report.Table
	c := &cobra.Command{
		Use:   "validate -f PATH...",
		Short: "Check manifests against the published resource types",
		Long: `validate checks manifests as plan and apply do, and needs neither Temporal nor a
worker: their form, and types, api-versions, names, owners and bodies against what
Microsoft publishes about every resource type. A finding names file, line and column.

A name that no manifest has is left open: plan and apply look it up.

Faults are what Azure does not take. Warnings are what it may take; --strict makes
them fail too. docs/environments.md lists both, and how to lower them.

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
			if len(from.Files) == 0 {
				return cli.BadInput("validate needs -f PATH (a file, a folder, or - for stdin)")
			}
			return a.validate(report.Report{Report: from.Validate(a.in), Strict: strict, Version: a.options.version()}, output)
		},
	}
	from.Add(c)
	from.AddValidation(c)
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
	if project.HasTypeFault(faults) {
		a.note("%s", project.LowerHelp)
	}
	switch {
	case len(faults) > 0:
		return &cli.ExitError{Code: cli.ExitBadInput, Err: errors.New("")}
	case r.Strict && len(r.Issues) > 0:
		return &cli.ExitError{Code: cli.ExitFailed, Err: errors.New("")}
	}
	return nil
}
