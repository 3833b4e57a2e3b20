package main

import (
	"bufio"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	"github.com/spf13/pflag"
)

// pruneMax is how many resources a prune deletes unless --prune-max says
// otherwise: more is a wrong folder rather than a wish.
const pruneMax = 20

// pruneNamed is how many of too many a refusal names.
const pruneNamed = 8

// pruning is what the user asked for beside an apply: delete what has the labels
// and no manifest any more.
type pruning struct {
	on       bool
	selector string
	most     int
	yes      bool
}

func (p *pruning) add(flags *pflag.FlagSet) {
	flags.BoolVar(&p.on, "prune", false, "delete what has the labels of -l and no manifest (asks; needs -l)")
	flags.StringVarP(&p.selector, "selector", "l", "", "label selector of --prune: key=value,key=value (all of them)")
	flags.IntVar(&p.most, "prune-max", pruneMax, "refuse to prune more resources than this")
	flags.BoolVarP(&p.yes, "yes", "y", false, "do not ask before --prune deletes")
}

// check refuses flags that contradict each other.
func (p *pruning) check(once bool) error {
	switch {
	case p.on && p.selector == "":
		return badInput("--prune needs -l key=value: it says which resources belong to these manifests")
	case !p.on && p.selector != "":
		return badInput("-l says what --prune may delete; give --prune too, or leave -l out")
	case p.on && once:
		return badInput("--prune deletes what is managed and has no manifest, and --once keeps nothing managed; choose one")
	case p.most < 0:
		return badInput("--prune-max %d is negative; write 0 to prune nothing, or more", p.most)
	}
	return nil
}

// checkLabels refuses manifests that the selector does not choose: the next
// prune would not know that they belong to the folder, or another one's prune
// would delete them.
func (p *pruning) checkLabels(set manifest.Set) error {
	if !p.on {
		return nil
	}
	labels, err := readSelector(p.selector)
	if err != nil {
		return err
	}
	var faults []string
	for _, desired := range set.Resources {
		for _, l := range labels {
			if value, stated := desired.Labels[l.key]; !stated || value != l.value {
				faults = append(faults, set.Sources[desired.ID.Key()].String()+": labels: "+desired.Name+" has no label "+l.key+"="+l.value)
			}
		}
	}
	if len(faults) == 0 {
		return nil
	}
	return badInput("refuse to prune by %s, nothing was started: every manifest must have the labels, else a later prune does not know it; add them (%s):\n  %s",
		p.selector, count(len(faults), "fault"), strings.Join(faults, "\n  "))
}

// find is what a prune deletes once the manifests are applied; the user agreed.
func (p *pruning) find(ctx context.Context, a *app, b *backend, set manifest.Set) ([]record, error) {
	if !p.on {
		return nil, nil
	}
	stale, err := p.stale(ctx, b, set)
	switch {
	case err != nil:
		return nil, err
	case len(stale) == 0:
		a.note("nothing to prune: every managed resource with %s has a manifest", p.selector)
		return nil, nil
	case len(stale) > p.most:
		return nil, failed("refuse to prune %s, nothing was started: more than --prune-max %d have %s and no manifest; is the folder complete?\n  %s",
			count(len(stale), "resource"), p.most, p.selector, strings.Join(pruneLines(stale, pruneNamed), "\n  "))
	}
	return stale, p.confirm(a, stale)
}

// stale are the managed resources with the labels that no manifest names.
func (p *pruning) stale(ctx context.Context, b *backend, set manifest.Set) ([]record, error) {
	records, err := b.running(ctx, p.selector)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(records, func(r record) bool {
		_, named := set.Sources[r.ID.Key()]
		return named || r.ID.IsZero() || r.Phase == workflows.PhaseDeleting
	}), nil
}

// pruneLines are the lines of a list of what a prune deletes, at most so many.
func pruneLines(stale []record, most int) []string {
	lines := make([]string, 0, len(stale))
	for i, r := range stale {
		if i == max(1, most) {
			return append(lines, "… and "+count(len(stale)-i, "other"))
		}
		line := r.ID.String()
		switch {
		case r.Policy.Leaves():
			line += "  (policy " + string(r.Policy) + ": it stays in Azure)"
		case r.Policy == resource.PolicyProtect:
			line += "  (policy protect: the deletion will be refused)"
		}
		lines = append(lines, line)
	}
	return lines
}

// confirm lists what would be deleted and asks; where nobody can be asked, --yes
// must be given.
func (p *pruning) confirm(a *app, stale []record) error {
	a.printf("no manifest any more:\n  %s\n", strings.Join(pruneLines(stale, len(stale)), "\n  "))
	switch {
	case p.yes:
		return nil
	case !a.asks:
		return badInput("refuse to prune %s, nothing was started: nobody can be asked here; give --yes, or leave --prune out", count(len(stale), "resource"))
	}
	a.printf("Apply, and delete %s in Azure? [y/N] ", count(len(stale), "resource"))
	answer, _ := bufio.NewReader(a.in).ReadString('\n')
	if !agreed(answer) {
		return failed("nothing was started: the question was not answered with y")
	}
	return nil
}

// skipped adds to the error of an apply that nothing was pruned.
func (p *pruning) skipped(stale []record, err error) error {
	if len(stale) == 0 {
		return err
	}
	return &fault{code: exitCode(asFault(err)), err: errors.Join(err, failed("nothing was pruned: %s without a manifest stay until an apply succeeds", count(len(stale), "resource")))}
}

// prune deletes, in reverse order.
func (a *app) prune(ctx context.Context, b *backend, stale []record) error {
	if len(stale) == 0 {
		return nil
	}
	ids := make([]resource.ID, len(stale))
	for i, r := range stale {
		ids[i] = r.ID
	}
	return a.sendWaves(ctx, ids, deletionWaves(stale), parallel, func(ctx context.Context, i int) (string, error) {
		answer, err := a.sendDelete(deletion{}, func(m message) error { return b.update(ctx, stale[i].WorkflowID, m) }, nil)
		if errors.Is(err, errNotManaged) {
			return "is not managed any more", nil
		}
		return answer, err
	})
}
