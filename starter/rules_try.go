package starter

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/extensions/rules"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/starter/internal/importer"
	"github.com/armature-io/armature/workflows"
	"github.com/spf13/cobra"
)

// tryRulesCommand tries rules with a resource of Azure.
func (a *app) tryRulesCommand() *cobra.Command {
	var (
		files  []string
		record string
	)
	c := &cobra.Command{
		Use:   "try NAME|ID[@API-VERSION] [-f FILE...]",
		Short: "Run rules against a resource in Azure, and show what their conditions saw",
		Long: `try has a worker read a resource, its owner and what the rules read, and run each rule
of its type by itself. It shows what each would do now, and what its condition
compared, with secrets masked as in a pass. It sends GET requests only, with the rights
of an import, and changes nothing: rules that are tried are not loaded. A managed
resource has the spec and the labels of its manifest, others have none.

Without -f it runs the checks that the worker has: its rules, and those in Go.

--record writes what the rules saw and did as tests into a new rule file. Put it beside
the rules: armature rules test runs it.

` + cli.ExitHelp,
		Example: "  armature rules try adx/telemetry -f rules\n  armature rules try adx -f quota.rules.yaml --record quota-tests.rules.yaml",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.tryRules(c.Context(), args[0], files, record)
		},
	}
	c.Flags().StringArrayVarP(&files, "file", "f", nil, "rule file or folder; repeat it for several")
	c.Flags().StringVar(&record, "record", "", "new file for the tests")
	return c
}

// maxTriedBytes bounds the rules of a trial: they are the input of a workflow.
const maxTriedBytes = 512 << 10

func (a *app) tryRules(ctx context.Context, target string, paths []string, record string) error {
	in := activities.TryChecksInput{}
	size := 0
	for _, path := range paths {
		sources, err := rules.Read(path)
		if err != nil {
			return invalidRules(err)
		}
		in.Rules = append(in.Rules, sources...)
		for _, source := range sources {
			size += len(source.Text)
		}
	}
	if size > maxTriedBytes {
		return cli.BadInput("the rule files have %d bytes, and a trial takes at most %d; name fewer", size, maxTriedBytes)
	}
	if len(paths) > 0 {
		_, warnings, err := rules.Parse(in.Rules)
		for _, warning := range warnings {
			a.note("%s", warning)
		}
		if err != nil {
			return invalidRules(err)
		}
	}
	if record != "" && len(paths) == 0 {
		return cli.BadInput("--record writes tests of rules; name their files with -f")
	}
	b, err := a.connection(ctx)
	if err != nil {
		return err
	}
	if in.ID, in.APIVersion, err = chosen(ctx, b, target); err != nil {
		return err
	}
	result, err := b.TryChecks(ctx, backend.NewRunID(workflows.TryIDPrefix), in)
	switch {
	case err != nil:
		return err
	case result.Verdict.Stops():
		return cli.Failed("%s %s: %s", in.ID.Type(), in.ID.Short(), result.Verdict.Text())
	case len(result.Trials) == 0 && len(paths) > 0:
		return cli.Failed("none of these rules is for %s", in.ID.Type())
	}
	for _, line := range result.Lines() {
		a.printf("%s\n", line)
	}
	if record != "" {
		err = a.recordTrials(record, result)
	}
	if failed := result.Failed(); failed > 0 {
		err = errors.Join(err, cli.Failed("%s of %d failed: a pass stops where a check cannot decide", cli.Count(failed, "check"), len(result.Trials)))
	}
	return err
}

// chosen returns the resource that an argument names, with the api-version of an ID.
func chosen(ctx context.Context, b *connection, target string) (resource.ID, string, error) {
	inputs, names, err := importer.ParseArgs([]string{target}, "", false)
	if err != nil {
		return resource.ID{}, "", err
	}
	if len(inputs) == 1 {
		return inputs[0].ID, inputs[0].APIVersion, nil
	}
	records, err := backend.Targets(ctx, b, backend.Selection{Names: names})
	if err != nil {
		return resource.ID{}, "", err
	}
	if len(records) != 1 || records[0].ID.IsZero() {
		return resource.ID{}, "", cli.Failed("%s is not one managed resource; use the resource ID", target)
	}
	return records[0].ID, "", nil
}

// recordTrials writes tests of the trials into a new file.
func (a *app) recordTrials(path string, result activities.TryChecksResult) error {
	recording := rules.Recording{
		ID: result.ID, Labels: result.Labels, Desired: result.Desired, Observed: result.Observed, Owner: result.Owner, Now: result.Now,
	}
	trials := make([]rules.Trial, len(result.Trials))
	for i, trial := range result.Trials {
		trials[i] = trial.Trial
	}
	text, count, err := recording.Tests(trials)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644) //nolint:gosec // a file that its user commits
	if err == nil {
		_, err = file.Write(text)
		err = errors.Join(err, file.Close())
	}
	if errors.Is(err, fs.ErrExist) {
		return cli.BadInput("%s exists; name a new file", path)
	}
	if err != nil {
		return fmt.Errorf("record tests: %w", err)
	}
	a.note("wrote %s to %s; remove what they do not need, and run armature rules test", cli.Count(count, "test"), path)
	return nil
}
