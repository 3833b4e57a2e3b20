package starter

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/armature-io/armature/extensions/rules"
	"github.com/armature-io/armature/internal/nearest"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/spf13/cobra"
)

// rulesCommand checks, tests and tries rule files.
func (a *app) rulesCommand() *cobra.Command {
	parent := &cobra.Command{
		Use:   "rules",
		Short: "Check, test and try rule files: checks in YAML and CEL",
		Long: `Rules are checks without Go: YAML files whose conditions are CEL expressions. A
worker loads them with --rules-path. check and test need neither Temporal nor a
worker; docs/rules.md describes how to write rules.`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return fmt.Errorf("unknown command %q for %q%s", args[0], c.CommandPath(), nearest.Suggest(args[0], []string{"check", "test", "try"}))
		},
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	strict := false
	check := &cobra.Command{
		Use:   "check FILE...",
		Short: "Check whether a worker would load the files or folders",
		Long: `Check whether a worker would load the files or folders. It warns of what would
load and was probably not meant: a word in letters that Azure does not use, a path
that the type does not have, a condition that is always true or written twice, a
rule without a test. Warnings do not change the exit code, unless --strict is set.`,
		Args: needsFiles,
		RunE: func(_ *cobra.Command, args []string) error { return a.checkRules(args, strict) },
	}
	check.Flags().BoolVar(&strict, "strict", false, "fail on warnings too")
	test := &cobra.Command{
		Use:   "test FILE...",
		Short: "Run the tests beside the rules",
		Args:  needsFiles,
		RunE:  func(c *cobra.Command, args []string) error { return a.testRules(c.Context(), args) },
	}
	parent.AddCommand(check, test, a.tryRulesCommand())
	return parent
}

// checkRules reports the issues of all paths. With strict a warning is an issue.
func (a *app) checkRules(paths []string, strict bool) error {
	var issues error
	warned := 0
	for _, path := range paths {
		count, warnings, err := rules.Check(path)
		for _, warning := range warnings {
			a.note("%s", warning)
		}
		warned += len(warnings)
		switch {
		case err != nil:
			issues = errors.Join(issues, err)
		case len(warnings) > 0:
			a.printf("%s: %s, %s\n", path, cli.Count(count, "rule"), cli.Count(len(warnings), "warning"))
		default:
			a.printf("%s: %s, no issues\n", path, cli.Count(count, "rule"))
		}
	}
	if issues == nil && strict && warned > 0 {
		return cli.BadInput("%s, see above; correct them, or leave --strict out", cli.Count(warned, "warning"))
	}
	return invalidRules(issues)
}

// testRules runs the test cases. A failing case is exit code 1, an invalid file 2.
func (a *app) testRules(ctx context.Context, paths []string) error {
	var issues error
	passed, failed := 0, 0
	for _, path := range paths {
		outcomes, warnings, err := rules.Test(ctx, path)
		for _, warning := range warnings {
			a.note("%s", warning)
		}
		issues = errors.Join(issues, err)
		for _, outcome := range outcomes {
			if outcome.Failure == "" {
				passed++
				a.printf("ok    %s\n", outcome.Case.Name)
				continue
			}
			failed++
			a.printf("FAIL  %s (%s): %s\n", outcome.Case.Name, outcome.Position, outcome.Failure)
			for _, value := range outcome.Seen {
				a.printf("      %s\n", value)
			}
		}
	}
	switch {
	case issues != nil:
		return invalidRules(issues)
	case failed > 0:
		return cli.Failed("%s of %d failed", cli.Count(failed, "test"), failed+passed)
	case passed == 0:
		return cli.Failed("there are no tests: write them as a list under tests, beside the rules")
	}
	a.printf("%s passed\n", cli.Count(passed, "test"))
	return nil
}

// needsFiles rejects a command line without a file or folder.
func needsFiles(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("%s needs a file or a folder of rules; name one or more", c.CommandPath())
	}
	return nil
}

func invalidRules(issues error) error {
	switch {
	case issues == nil:
		return nil
	case errors.Is(issues, os.ErrNotExist):
		return cli.BadInput("%w; check the path", issues)
	}
	return cli.BadInput("a worker would not load these rules; correct them:\n%w", issues)
}
