package main

import (
	"context"
	"errors"
	"strings"

	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/workflows"
	"github.com/spf13/pflag"
)

const (
	// defaultPruneMax is the default of --prune-max: more deletions hint at a wrong
	// folder.
	defaultPruneMax = 20
	// maxPruneShown bounds the resources that the refusal of a prune lists.
	maxPruneShown = 8
)

// pruneOptions are the flags of a prune: delete the managed resources that have the
// labels and no manifest.
type pruneOptions struct {
	on       bool
	selector string
	max      int
	yes      bool
}

func (p *pruneOptions) add(flags *pflag.FlagSet) {
	flags.BoolVar(&p.on, "prune", false, "delete resources with the labels of -l and no manifest (asks; needs -l)")
	flags.StringVarP(&p.selector, "selector", "l", "", "label selector of --prune: key=value,key=value (all of them)")
	flags.IntVar(&p.max, "prune-max", defaultPruneMax, "refuse to prune more resources than this")
	flags.BoolVarP(&p.yes, "yes", "y", false, "do not ask before --prune deletes")
}

// check returns an error for flags that contradict each other.
func (p *pruneOptions) check(once bool) error {
	switch {
	case p.on && p.selector == "":
		return cli.BadInput("--prune needs -l key=value: it chooses the resources that belong to these manifests")
	case !p.on && p.selector != "":
		return cli.BadInput("-l chooses what --prune may delete; add --prune, or omit -l")
	case p.on && once:
		return cli.BadInput("--prune and --once cannot be combined: --prune compares with managed resources, and --once manages none; choose one of them")
	case p.max < 0:
		return cli.BadInput("--prune-max %d is negative; use 0 to prune nothing, or more", p.max)
	}
	return nil
}

// checkLabels returns an error for manifests without the labels of the selector: the
// next prune would not know that they belong to this folder, or the prune of another
// folder would delete them.
func (p *pruneOptions) checkLabels(set manifest.Set) error {
	if !p.on {
		return nil
	}
	labels, err := backend.ParseSelector(p.selector)
	if err != nil {
		return err
	}
	var issues []string
	for _, desired := range set.Resources {
		for _, label := range labels {
			key, value, _ := strings.Cut(label, "=")
			if actual, stated := desired.Labels[key]; !stated || actual != value {
				issues = append(issues, set.Sources[desired.ID.Key()].String()+": labels: "+desired.Name+" has no label "+label)
			}
		}
	}
	if len(issues) == 0 {
		return nil
	}
	return cli.BadInput("cannot prune by %s, nothing was started: every manifest must have the labels, otherwise a later prune does not know it; add them (%s):\n  %s",
		p.selector, cli.Count(len(issues), "issue"), strings.Join(issues, "\n  "))
}

// find returns what a prune deletes after the apply, once the user has agreed.
func (p *pruneOptions) find(ctx context.Context, a *app, b *connection, set manifest.Set) ([]backend.Record, error) {
	if !p.on {
		return nil, nil
	}
	stale, kept, err := p.stale(ctx, b, set)
	for _, r := range kept {
		a.note("not pruned: %s; deleting it ends a subscription or management group, so it needs `armature delete ID --end-scope`", r.ID)
	}
	what := cli.Count(len(stale), "resource")
	switch {
	case err != nil:
		return nil, err
	case len(stale) == 0:
		a.note("nothing to prune: every managed resource with %s has a manifest", p.selector)
		return nil, nil
	case len(stale) > p.max:
		return nil, cli.Failed("cannot prune %s, nothing was started: more than --prune-max %d have %s and no manifest; is the folder complete?\n  %s",
			what, p.max, p.selector, strings.Join(pruneLines(stale, maxPruneShown), "\n  "))
	}
	a.printf("without a manifest:\n  %s\n", strings.Join(pruneLines(stale, len(stale)), "\n  "))
	if !p.yes && !a.interactive {
		return nil, cli.BadInput("cannot prune %s, nothing was started: there is no terminal to ask on; add --yes, or omit --prune", what)
	}
	return stale, a.ask(question{text: "Apply, and delete " + what + " in Azure?", yes: p.yes, unchanged: "nothing was started"})
}

// stale returns the managed resources with the labels and without a manifest, and those
// of them that a prune keeps because deleting them ends a scope.
func (p *pruneOptions) stale(ctx context.Context, b *connection, set manifest.Set) (stale, kept []backend.Record, err error) {
	if !p.on {
		return nil, nil, nil
	}
	records, err := backend.Running(ctx, b, p.selector)
	if err != nil {
		return nil, nil, err
	}
	for _, r := range records {
		_, hasManifest := set.Sources[r.ID.Key()]
		switch {
		case hasManifest || r.ID.IsZero() || r.Phase == workflows.PhaseDeleting:
		case resource.EndsScope(r.ID.Type()):
			kept = append(kept, r)
		default:
			stale = append(stale, r)
		}
	}
	return stale, kept, nil
}

// pruneLines returns a line for each of at most maxLines resources that a prune
// deletes.
func pruneLines(stale []backend.Record, maxLines int) []string {
	lines := make([]string, 0, len(stale))
	for i, r := range stale {
		if i == max(1, maxLines) {
			return append(lines, "… and "+cli.Count(len(stale)-i, "other"))
		}
		line := r.ID.String()
		switch {
		case r.Policy.Detaches():
			line += "  (policy " + string(r.Policy) + ": it is kept in Azure)"
		case r.Policy == resource.PolicyProtect:
			line += "  (policy protect: the deletion will be refused)"
		}
		lines = append(lines, line)
	}
	return lines
}

// skipped adds to the error of an apply that nothing was pruned.
func (p *pruneOptions) skipped(stale []backend.Record, err error) error {
	if len(stale) == 0 {
		return err
	}
	pruned := cli.Failed("nothing was pruned: %s without a manifest stay until an apply succeeds", cli.Count(len(stale), "resource"))
	return &cli.ExitError{Code: cli.ExitCode(backend.WithExitCode(err)), Err: errors.Join(err, pruned)}
}

// prune deletes stale resources, dependents first.
func (a *app) prune(ctx context.Context, b *connection, stale []backend.Record) error {
	if len(stale) == 0 {
		return nil
	}
	return a.sendWaves(ctx, stale, deletionOrder(stale), backend.MaxParallel, func(ctx context.Context, i int) (string, error) {
		text, err := a.sendDelete(ctx, b, stale[i], workflows.DeleteInput{})
		if errors.Is(err, backend.ErrNotManaged) {
			return "no longer managed", nil
		}
		return text, err
	})
}
