package starter

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/starter/internal/project"
	"github.com/armature-io/armature/starter/internal/wait"
	"github.com/armature-io/armature/workflows"
	"github.com/spf13/cobra"
)

// applyOptions are the flags of an apply.
type applyOptions struct {
	once   bool
	wait   waitOptions
	prune  project.Prune
	output cli.Format
	// stdout is the output of the command where that is for programs; progress then goes
	// to stderr.
	stdout io.Writer
	// skipped are what a plan file has and the apply leaves out.
	skipped []resource.Desired
	// kept is the error at the end if a prune kept going although Azure or a policy keeps
	// resources.
	kept error
}

func (a *app) applyCommand() *cobra.Command {
	var (
		from     project.Flags
		how      applyOptions
		planFile string
	)
	c := &cobra.Command{
		Use:        "apply -f PATH...",
		SuggestFor: []string{"create", "deploy", "up"},
		Short:      "Create and update resources from manifests",
		Long: `apply checks all manifests first, also against the published resource types; one
fault means that nothing is started. Warnings are printed and stop nothing. Then
each resource gets a durable workflow, or its workflow gets the new spec. It is
safe to repeat: unchanged manifests change nothing, but an apply takes back a
deletion for which no DELETE was sent. All workflows start at once;
owners, references and dependsOn order what follows.

--wait ends as wait does: with exit code 1, also when only a person helps. If another
apply replaced a spec meanwhile, it waits for the later one and names its user.

-o json and -o yaml print one document at the end, {resources, error}: of each resource
id, name, result (managed, configured, unchanged, refused, failed, unsent or skipped; of
--prune deleting, detached or deleted), generation and message; with --wait also phase,
condition and supersededBy. Progress goes to stderr. There is no document where nothing
was started.

With --prune -l SELECTOR it then deletes the managed resources that have the labels
of the selector and no manifest. All manifests must have these labels.

With --target NAME it applies only that manifest, and its owners and references among
the manifests. A name that no manifest has is looked up among the managed resources: in
the resource group of the manifest, or by all of its labels.

With --plan-file FILE it applies exactly what plan --out FILE showed. It plans once
more first, and starts nothing if anything differs by now.

` + cli.ExitHelp,
		Example: "  armature apply -f examples --wait\n  armature apply -f stack --prune -l stack=prod\n" +
			"  armature plan -f stack --out stack.plan; armature apply --plan-file stack.plan --wait\n" +
			"  cat db.yaml | armature apply -f - --resource-group rg1 --subscription 11111111-2222-3333-4444-555555555555",
		Args: cli.NoArgs("pass manifests with -f PATH"),
		RunE: func(c *cobra.Command, _ []string) error {
			a.divertProgress(&how)
			if planFile != "" {
				return a.applyPlan(c.Context(), c.Flags(), planFile, how)
			}
			if len(from.Files) == 0 {
				return cli.BadInput("apply needs -f PATH (a file, a folder, or - for stdin)")
			}
			if err := how.prune.Check(how.once, from.HasTarget()); err != nil {
				return err
			}
			set, err := from.LoadValid(c.Context(), a.loader())
			if err != nil {
				return err
			}
			return a.apply(c.Context(), set, how)
		},
	}
	from.Add(c)
	from.AddTarget(c)
	from.AddValidation(c)
	c.Flags().BoolVar(&how.once, "once", false, "end the workflow when the resource is Ready; it is then no longer managed")
	how.wait.add(c, "wait until every resource is Ready")
	c.Flags().StringVar(&planFile, "plan-file", "", "apply exactly the plan in this `file` (armature plan --out)")
	cli.AddFormats(c, &how.output, []string{string(cli.FormatTable), string(cli.FormatJSON), string(cli.FormatYAML)})
	how.prune.Add(c.Flags())
	a.addSigningKey(c)
	a.completeFlag(c, "selector", a.completeLabels)
	return c
}

func (a *app) apply(ctx context.Context, set manifest.Set, how applyOptions) error {
	if err := how.prune.CheckLabels(set); err != nil {
		return err
	}
	b, err := a.connection(ctx)
	if err != nil {
		return err
	}
	stale, err := a.findStale(ctx, b, &how, set)
	if err != nil {
		return err
	}
	return a.start(ctx, b, set.Resources, stale, how)
}

// maxParallelStarts bounds the workflows that are started at one time: more would
// only wait for the worker, up to the timeout of the call.
const maxParallelStarts = 32

// divertProgress sends progress to stderr where the output is for programs.
func (a *app) divertProgress(how *applyOptions) {
	if how.output.IsMachine() {
		how.stdout, a.out, a.terminal = a.out, a.err, false
	}
}

// start sends the specs, then deletes what is stale, waits if --wait is set, and prints
// the document of an output for programs.
func (a *app) start(ctx context.Context, b *connection, resources []resource.Desired, stale []backend.Record, how applyOptions) error {
	document := newApplyDocument(resources, stale)
	err := cmp.Or(a.send(ctx, b, resources, stale, how, document), how.kept)
	if !how.output.IsMachine() {
		return err
	}
	document.End(err, how.skipped)
	if problem := how.output.Write(how.stdout, document); err == nil {
		return problem
	}
	return err
}

// send is start without the document.
func (a *app) send(ctx context.Context, b *connection, resources []resource.Desired, stale []backend.Record, how applyOptions, document *applyDocument) error {
	records := recordsOf(resources)
	expected := wait.All(records)
	unchanged := make([]bool, len(records))
	key, err := a.signer(b)
	if err != nil {
		return err
	}
	err = a.sendAll(ctx, records, maxParallelStarts, func(ctx context.Context, i int) (string, error) {
		desired, err := key.Spec(resources[i])
		if err != nil {
			return "", err
		}
		var result workflows.ApplyResult
		input := workflows.ApplyInput{Desired: desired, Once: how.once, By: a.by}
		err = b.UpdateWithStart(ctx, desired, backend.Message{Name: workflows.ApplyUpdate, Input: input, Result: &result})
		expected[i].MinGeneration, expected[i].Changed = result.Generation, result.Changed
		document.Sent(i, result, err)
		if unchanged[i] = err == nil && !result.Changed && !result.Paused && !result.TakenBack; unchanged[i] {
			return "", nil
		}
		return applyText(result), err
	})
	a.printUnchanged(records, expected, unchanged)
	if err != nil {
		return how.prune.Skipped(stale, err)
	}
	if err := a.prune(ctx, b, stale, resources, how.prune, document); err != nil || !how.wait.on {
		return err
	}
	if len(expected) > 0 {
		outcomes, err := a.follow(ctx, b, expected, wait.Ready, how.wait.timeout)
		replacements := wait.Replacements(ctx, b, expected, outcomes)
		for _, i := range slices.Sorted(maps.Keys(replacements)) {
			a.printf("%s  generation %d was superseded: %s\n", cli.KindAndName(records[i].ID), expected[i].MinGeneration, cli.OneLine(replacements[i].Text()))
		}
		if document.Waited(outcomes, replacements); err != nil {
			return err
		}
	}
	if len(stale) == 0 {
		return nil
	}
	outcomes, err := a.follow(ctx, b, wait.All(stale), wait.Deleted, how.wait.timeout)
	document.WaitedForDeletions(outcomes)
	return err
}

// printUnchanged prints one line about the resources that an apply did not change.
func (a *app) printUnchanged(records []backend.Record, expected []wait.Resource, unchanged []bool) {
	n := 0
	for _, is := range unchanged {
		if is {
			n++
		}
	}
	switch n {
	case 0:
	case 1:
		i := slices.Index(unchanged, true)
		a.printf("%s  unchanged (generation %d)\n", cli.OneLine(backend.RecordName(records[i])), expected[i].MinGeneration)
	default:
		a.printf("%s unchanged\n", cli.CountAre(n, "resource"))
	}
}

// applyText returns the result of an apply. Generation 1 is the first
// spec of the workflow; the resource may exist in Azure already.
func applyText(result workflows.ApplyResult) string {
	action := "configured"
	switch {
	case !result.Changed:
		action = "unchanged"
	case result.Generation == 1:
		action = "now managed"
	}
	text := fmt.Sprintf("%s (generation %d)", action, result.Generation) + pausedText(result.Paused)
	if result.TakenBack {
		text += "; " + takenBackText(result.DeletedWith)
	}
	return text
}

// pausedText returns a note that a request has no effect yet, "" without a pause.
func pausedText(paused bool) string {
	if !paused {
		return ""
	}
	return "; the resource is paused: nothing starts until `armature resume`"
}
