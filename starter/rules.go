package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/armature-io/armature/extensions/rules"
	"github.com/armature-io/armature/internal/nearest"
	"github.com/spf13/cobra"
)

// rulesCommand looks at rule files here, without Temporal and without a worker.
func (a *app) rulesCommand() *cobra.Command {
	parent := &cobra.Command{
		Use:   "rules",
		Short: "Check and test rule files: checks in YAML and CEL",
		Long: `Rules are checks without Go: YAML files whose conditions are CEL expressions. A
worker takes them with --rules-path. These commands need neither Temporal nor a
worker; docs/extensions.md says how rules are written.`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return fmt.Errorf("unknown command %q for %q%s", args[0], c.CommandPath(), nearest.Suggest(args[0], []string{"check", "test"}))
		},
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	check := &cobra.Command{
		Use:   "check FILE...",
		Short: "Say whether a worker would take the files or folders",
		Args:  someFiles,
		RunE:  func(c *cobra.Command, args []string) error { return a.checkRules(c.Context(), args) },
	}
	test := &cobra.Command{
		Use:   "test FILE...",
		Short: "Run the tests that stand beside the rules",
		Args:  someFiles,
		RunE:  func(c *cobra.Command, args []string) error { return a.testRules(c.Context(), args) },
	}
	parent.AddCommand(check, test)
	for _, c := range parent.Commands() {
		wrapErrors(c)
	}
	return parent
}

// checkRules tells all faults of all paths.
func (a *app) checkRules(_ context.Context, paths []string) error {
	var faults error
	for _, path := range paths {
		set, warnings, err := rules.Load(path)
		for _, warning := range warnings {
			a.note("%s", warning)
		}
		if err != nil {
			faults = errors.Join(faults, err)
			continue
		}
		a.printf("%s: %s, no faults\n", path, count(set.Len(), "rule"))
	}
	return refusedRules(faults)
}

// testRules runs the cases; a failing one is exit code 1, a faulty file 2.
func (a *app) testRules(ctx context.Context, paths []string) error {
	var faults error
	passed, wrong := 0, 0
	for _, path := range paths {
		outcomes, warnings, err := rules.Test(ctx, path)
		for _, warning := range warnings {
			a.note("%s", warning)
		}
		faults = errors.Join(faults, err)
		for _, outcome := range outcomes {
			if outcome.Fault == "" {
				passed++
				a.printf("ok    %s\n", outcome.Case.Name)
				continue
			}
			wrong++
			a.printf("FAIL  %s (%s): %s\n", outcome.Case.Name, outcome.Place, outcome.Fault)
		}
	}
	if faults != nil {
		return refusedRules(faults)
	}
	if wrong > 0 {
		return failed("%s of %d failed", count(wrong, "test"), wrong+passed)
	}
	if passed == 0 {
		return failed("there are no tests: write them in a list under tests, beside the rules")
	}
	a.printf("%s passed\n", count(passed, "test"))
	return nil
}

// someFiles wants a file or a folder.
func someFiles(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("%s needs a file or a folder of rules; name one or more", c.CommandPath())
	}
	return nil
}

func refusedRules(faults error) error {
	switch {
	case faults == nil:
		return nil
	case errors.Is(faults, os.ErrNotExist):
		return badInput("%w; check the path", faults)
	}
	return badInput("a worker would not take these rules:\n%w", faults)
}
