package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"
)

// importing is what the user asked for.
type importing struct {
	apiVersion string
	children   bool
	credential string
	output     string
}

func (a *app) importCommand() *cobra.Command {
	var (
		how     importing
		targets selection
	)
	c := &cobra.Command{
		Use:   "import ID[@API-VERSION]... | NAME... | -l SELECTOR",
		Short: "Write manifests of what exists in Azure",
		Long: `import asks a worker to read resources and writes a manifest of each: what can be
stated, without read-only fields and without secrets, which a comment names. It
changes nothing, and plan of the result says that it is in sync. Without an
api-version it takes the newest stable one that the subscription offers. Names,
-l and --all are of what is managed already, in the api-version of its manifest.

` + exitHelp,
		Example: "  armature import /subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg1 --children -o stack\n" +
			"  armature import -l stack=prod -o copy",
		RunE: func(c *cobra.Command, args []string) error {
			targets.names = args
			if targets.empty() {
				return badInput("name what to import: a resource ID, or of what is managed a name, -l key=value or --all")
			}
			if err := targets.check(); err != nil {
				return err
			}
			wanted, names, err := how.wanted(args)
			if err != nil {
				return err
			}
			targets.names = names
			return a.importResources(c.Context(), wanted, targets, how)
		},
	}
	a.addChooser(c, &targets, "everything that is managed")
	c.Flags().StringVar(&how.apiVersion, "api-version", "", "api-version of the IDs that name none, and of their children")
	c.Flags().BoolVar(&how.children, "children", false, "import also what is in them")
	c.Flags().StringVar(&how.credential, "credential", "", "credential of the worker's config to read with, also for the manifests")
	c.Flags().StringVarP(&how.output, "output", "o", "-", "folder for one file each, or - for standard output")
	return c
}

// wanted are the resource IDs among the arguments; names are the others.
func (how importing) wanted(args []string) (wanted []activities.ImportResourceInput, names []string, err error) {
	for _, arg := range args {
		if !strings.HasPrefix(arg, "/") {
			names = append(names, arg)
			continue
		}
		text, version, at := strings.Cut(arg, "@")
		id, err := resource.ParseID(text)
		switch {
		case err != nil:
			return nil, nil, badInput("%w", err)
		case at && version == "":
			return nil, nil, badInput("%q has no api-version behind the @; write it like @2023-08-15, or leave the @ out for the newest stable one", arg)
		}
		wanted = append(wanted, activities.ImportResourceInput{ID: id, APIVersion: cmp.Or(version, how.apiVersion), Children: how.children})
	}
	return wanted, names, nil
}

// managed are the targets of an import that are managed already.
func (b *backend) managed(ctx context.Context, targets selection, how importing) ([]activities.ImportResourceInput, error) {
	if targets.empty() {
		return nil, nil
	}
	records, err := b.targets(ctx, targets)
	if err != nil {
		if exitCode(err) == exitFailed && len(targets.names) > 0 {
			err = failed("%w; what nobody manages is imported by its resource ID", err)
		}
		return nil, err
	}
	if len(records) == 0 {
		return nil, noneChosen(targets)
	}
	var wanted []activities.ImportResourceInput
	for _, r := range records {
		if !r.ID.IsZero() {
			wanted = append(wanted, activities.ImportResourceInput{ID: r.ID, APIVersion: cmp.Or(how.apiVersion, r.APIVersion), Children: how.children})
		}
	}
	return wanted, nil
}

func (t *temporalClient) importResource(ctx context.Context, workflowID string, in activities.ImportResourceInput) (activities.ImportResourceResult, error) {
	var result activities.ImportResourceResult
	err := t.dryRun(ctx, client.StartWorkflowOptions{
		ID: workflowID, StaticSummary: cutBytes("import of "+in.ID.Type()+" "+in.ID.Short(), summaryMax),
	}, workflows.ImportResourceWorkflow, in, &result)
	return result, err
}

func (a *app) importResources(ctx context.Context, wanted []activities.ImportResourceInput, targets selection, how importing) error {
	b, err := a.connect(ctx, a)
	if err != nil {
		return err
	}
	defer b.close()
	managed, err := b.managed(ctx, targets, how)
	if err != nil {
		return err
	}
	wanted = append(wanted, managed...)
	found, failures, err := a.readAll(ctx, b, wanted, how)
	if err != nil {
		return err
	}
	slices.SortFunc(found, func(x, y activities.ImportResourceResult) int { return strings.Compare(x.ID.Key(), y.ID.Key()) })
	texts := make([]string, len(found))
	for i, result := range found {
		if texts[i], err = manifestText(result, how.credential); err != nil {
			return err
		}
	}
	if how.output == "-" {
		a.printf("%s", strings.Join(texts, "---\n"))
	} else if err := a.writeManifests(how.output, found, texts); err != nil {
		return err
	}
	if failures > 0 {
		return failed("%s could not be imported, see above", count(failures, "resource"))
	}
	return nil
}

// readAll reads what is wanted and, level by level, what is in it; each resource
// once.
func (a *app) readAll(ctx context.Context, b *backend, wanted []activities.ImportResourceInput, how importing) (found []activities.ImportResourceResult, failures int, err error) {
	known := map[string]bool{}
	run, number := importRun(), 0
	for len(wanted) > 0 {
		wanted = slices.DeleteFunc(wanted, func(in activities.ImportResourceInput) bool {
			again := known[in.ID.Key()]
			known[in.ID.Key()] = true
			return again
		})
		results := make([]activities.ImportResourceResult, len(wanted))
		err := each(ctx, len(wanted), parallelPlans, func(ctx context.Context, i int) error {
			var err error
			wanted[i].Credential = how.credential
			results[i], err = b.importResource(ctx, fmt.Sprintf("%s:%d", run, number+i+1), wanted[i])
			if err != nil {
				return wrapName(described(wanted[i].ID), err)
			}
			return nil
		})
		switch {
		case errors.Is(err, errInterrupted):
			return nil, 0, failed("interrupted; an import changes nothing")
		case err != nil:
			return nil, 0, err
		}
		number += len(wanted)
		wanted = nil
		for _, result := range results {
			switch {
			case result.Verdict.Stops():
				failures++
				a.note("%s  %s: %s", described(result.ID), result.Verdict.Reason, result.Verdict.Message)
			case result.Skipped != "":
				a.note("%s  left out: %s", described(result.ID), result.Skipped)
			default:
				found = append(found, result)
			}
			for _, child := range result.Children {
				version := result.ChildAPIVersion
				if version == "" {
					version = how.apiVersion
				}
				wanted = append(wanted, activities.ImportResourceInput{ID: child, APIVersion: version, Children: true})
			}
		}
	}
	return found, failures, nil
}

func importRun() string { return workflows.ImportIDPrefix + randomHex() }

// writeManifests writes one file each into a folder and overwrites none.
func (a *app) writeManifests(folder string, found []activities.ImportResourceResult, texts []string) error {
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return failed("make the folder: %w", err)
	}
	used := map[string]int{}
	for i, result := range found {
		name := fileName(result.ID)
		if used[name]++; used[name] > 1 {
			name = fmt.Sprintf("%s-%d", name, used[name])
		}
		path := filepath.Join(folder, name+".yaml")
		file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return failed("write %s: %w; nothing is overwritten", path, err)
		}
		_, err = file.WriteString(texts[i])
		if err = errors.Join(err, file.Close()); err != nil {
			return failed("write %s: %w", path, err)
		}
		a.printf("%s  %s\n", described(result.ID), path)
	}
	return nil
}

// fileName is kind and names of a resource in characters that every file system
// takes.
func fileName(id resource.ID) string {
	text := strings.ToLower(kind(id) + "-" + id.Short())
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, text)
}
