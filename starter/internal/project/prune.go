package project

import (
	"context"
	"errors"
	"slices"
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
	// MaxStaleShown bounds the resources that the refusal of a prune lists.
	MaxStaleShown = 8
)

// Prune are the flags of a prune: delete the managed resources that have the
// labels and no manifest.
type Prune struct {
	On       bool
	Selector string
	Max      int
	Yes      bool
	// KeepGoing deletes the rest if a resource may not be deleted.
	KeepGoing bool
	// In are the subscriptions and environments in which it may delete.
	In []string
}

// Add adds the flags.
func (p *Prune) Add(flags *pflag.FlagSet) {
	p.AddChoice(flags, "delete resources with the labels of -l and no manifest (asks; needs -l)")
	flags.IntVar(&p.Max, "prune-max", defaultPruneMax, "refuse to prune more resources than this")
	flags.BoolVar(&p.KeepGoing, "keep-going", false, "let --prune delete the rest if a resource may not be deleted")
	flags.BoolVarP(&p.Yes, "yes", "y", false, "do not ask before --prune deletes")
}

// AddChoice adds the flags that choose what a prune deletes; usage is the help of --prune.
func (p *Prune) AddChoice(flags *pflag.FlagSet, usage string) {
	flags.BoolVar(&p.On, "prune", false, usage)
	flags.StringVarP(&p.Selector, "selector", "l", "", "label selector of --prune: key=value,key=value (all of them)")
	flags.StringArrayVar(&p.In, "prune-in", nil, inUsage)
}

// Check returns an error for flags that contradict each other. target is set with
// --target.
func (p *Prune) Check(once, target bool) error {
	if !p.On && p.Selector != "" {
		return cli.BadInput("-l chooses what --prune may delete; add --prune, or omit -l")
	}
	return p.CheckChoice(once, target)
}

// CheckChoice is Check for a plan, in which -l without --prune only names what has no manifest.
func (p *Prune) CheckChoice(once, target bool) error {
	switch {
	case p.On && target:
		return cli.BadInput("--prune and --target cannot be combined: what a target leaves out would look like it has no manifest; prune with all manifests")
	case p.On && p.Selector == "":
		return cli.BadInput("--prune needs -l key=value: it chooses the resources that belong to these manifests")
	case !p.On && len(p.In) > 0:
		return cli.BadInput("--prune-in names where --prune may delete; add --prune, or omit it")
	case p.On && once:
		return cli.BadInput("--prune and --once cannot be combined: --prune compares with managed resources, and --once manages none; choose one of them")
	case p.Max < 0:
		return cli.BadInput("--prune-max %d is negative; use 0 to prune nothing, or more", p.Max)
	}
	return nil
}

// CheckLabels returns an error for manifests without the labels of the selector: the
// next prune would not know that they belong to this folder, or the prune of another
// folder would delete them.
func (p *Prune) CheckLabels(set manifest.Set) error {
	if !p.On {
		return nil
	}
	labels, err := backend.ParseSelector(p.Selector)
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
		p.Selector, cli.Count(len(issues), "issue"), strings.Join(issues, "\n  "))
}

// Stale returns the managed resources with the labels and without a manifest, and those
// of them that a prune keeps because deleting them ends a scope. It is an error if the
// labels reach over subscriptions or environments that the user did not name.
func (p *Prune) Stale(ctx context.Context, b backend.Reader, set manifest.Set) (stale, kept []backend.Record, err error) {
	if !p.On {
		return nil, nil, nil
	}
	records, err := backend.Running(ctx, b, p.Selector)
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
	return stale, kept, p.checkReach(set, stale)
}

// Orphans returns the managed resources without a manifest of the labels of -l, else of the
// environment of the project, and what they belong to. Without either it returns none: the
// manifests of a command are seldom all that there are.
func (p *Prune) Orphans(ctx context.Context, b backend.Reader, set manifest.Set) (orphans []resource.ID, of string, err error) {
	chosen, of := backend.Selection{Selector: p.Selector}, p.Selector
	if p.On {
		return nil, "", nil
	}
	r := reach{set: set}
	i := slices.IndexFunc(set.Environments, func(env manifest.Environment) bool { return env.Name == set.Environment })
	switch {
	case p.Selector != "":
	case i < 0:
		return nil, "", nil
	default:
		env := set.Environments[i]
		of = "the environment " + env.Name
		chosen = backend.Selection{Selector: strings.Join(env.Labels, ","), All: len(env.Labels) == 0, Where: backend.Filter{Group: env.ResourceGroup}}
		if len(env.Labels) > 0 {
			chosen.Where.Group = ""
		} else if env.ResourceGroup == "" {
			return nil, "", nil
		}
	}
	records, err := backend.Targets(ctx, b, chosen)
	if err != nil {
		return nil, "", err
	}
	for _, record := range records {
		_, hasManifest := set.Sources[record.ID.Key()]
		isOwn := p.Selector != "" || r.owns(set.Environments[max(i, 0)], record)
		if !hasManifest && isOwn && !record.ID.IsZero() && record.Phase != workflows.PhaseDeleting {
			orphans = append(orphans, record.ID)
		}
	}
	return orphans, of, nil
}

// StaleLines returns a line for each of at most maxLines resources that a prune
// deletes.
func StaleLines(stale []backend.Record, maxLines int) []string {
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

// Skipped adds to the error of an apply that nothing was pruned.
func (p *Prune) Skipped(stale []backend.Record, err error) error {
	if len(stale) == 0 {
		return err
	}
	pruned := cli.Failed("nothing was pruned: %s without a manifest stay until an apply succeeds", cli.Count(len(stale), "resource"))
	return &cli.ExitError{Code: cli.ExitCode(backend.WithExitCode(err)), Err: errors.Join(err, pruned)}
}

// DeletionOrder returns the positions of records in waves: first the records that no
// other one needs, then those that only these need, and so on. Records that need each
// other in a cycle come last, together.
func DeletionOrder(records []backend.Record) [][]int {
	var waves [][]int
	remaining := make([]int, len(records))
	for i := range remaining {
		remaining[i] = i
	}
	for len(remaining) > 0 {
		needed := map[string]bool{}
		for _, i := range remaining {
			for _, key := range records[i].NeedKeys() {
				needed[key] = needed[key] || key != records[i].Key()
			}
			for above := records[i].ID.Owner(); !above.IsZero(); above = above.Owner() {
				needed[workflows.WaitingKey(above)] = true
			}
		}
		var wave, later []int
		for _, i := range remaining {
			if needed[records[i].Key()] {
				later = append(later, i)
			} else {
				wave = append(wave, i)
			}
		}
		if len(wave) == 0 {
			wave, later = remaining, nil
		}
		waves, remaining = append(waves, wave), later
	}
	return waves
}
