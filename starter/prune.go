package starter

import (
	"context"
	"strings"

	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/starter/internal/plan"
	"github.com/armature-io/armature/starter/internal/project"
	"github.com/armature-io/armature/workflows"
)

// findStale returns what a prune deletes after the apply, once the user has agreed.
func (a *app) findStale(ctx context.Context, b *connection, how *applyOptions, set manifest.Set) ([]backend.Record, error) {
	p := &how.prune
	if !p.On {
		return nil, nil
	}
	stale, kept, err := p.Stale(ctx, b, set)
	for _, r := range kept {
		a.note("not pruned: %s; deleting it ends a subscription or management group, so it needs `armature delete ID --end-scope`", r.ID)
	}
	what := cli.Count(len(stale), "resource")
	switch {
	case err != nil:
		return nil, err
	case len(stale) == 0:
		a.note("nothing to prune: every managed resource with %s has a manifest", p.Selector)
		return nil, nil
	case len(stale) > p.Max:
		return nil, cli.Failed("cannot prune %s, nothing was started: more than --prune-max %d have %s and no manifest; is the folder complete?\n  %s",
			what, p.Max, p.Selector, strings.Join(project.StaleLines(stale, project.MaxStaleShown), "\n  "))
	}
	planned, err := a.planPrune(ctx, b, stale, set.Resources, p.KeepGoing)
	if err != nil {
		return nil, err
	}
	if planned.Refused() {
		a.printf("%s", planned.Text(false, a.painter().Ink))
		stale, how.kept = deletion{records: stale}.sent(planned), keptError(planned)
		what = cli.Count(len(stale), "resource")
	}
	if len(stale) == 0 {
		a.note("nothing to prune: every resource is refused or kept (see above)")
		return nil, nil
	}
	a.printf("without a manifest:\n  %s\n", strings.Join(project.StaleLines(stale, len(stale)), "\n  "))
	if !p.Yes && !a.interactive {
		return nil, cli.BadInput("cannot prune %s, nothing was started: there is no terminal to ask on; add --yes, or omit --prune", what)
	}
	return stale, a.ask(question{text: "Apply, and delete " + what + " in Azure?", yes: p.Yes, unchanged: "nothing was started"})
}

// planPrune plans the deletions of a prune. Unless it keeps going, it is an error if one of the
// resources may not be deleted. A dependent does not count if its manifest no longer needs the
// resource: the apply frees it.
func (a *app) planPrune(ctx context.Context, b *connection, stale []backend.Record, applied []resource.Desired, keepGoing bool) (plan.Plan, error) {
	p, err := deletion{records: stale, applied: specsOf(applied), consent: plan.Consent{KeepGoing: keepGoing}}.plan(ctx, b)
	if err != nil || !p.Refused() || keepGoing {
		return p, err
	}
	a.printf("%s", p.Text(false, a.painter().Ink))
	return p, cli.Failed("cannot prune, nothing is deleted: %s refused (see above); add --keep-going to delete the rest, omit --prune, or mend that first",
		cli.CountAre(p.Summary[plan.ActionRefused], "resource"))
}

// prune deletes stale resources, dependents first.
func (a *app) prune(ctx context.Context, b *connection, stale []backend.Record, applied []resource.Desired, how project.Prune, document *applyDocument) error {
	if len(stale) == 0 {
		return nil
	}
	p, err := a.planPrune(ctx, b, stale, applied, how.KeepGoing)
	if err != nil {
		return err
	}
	with, err := a.accompany(ctx, b, p)
	if err != nil {
		return err
	}
	return a.sendWaves(ctx, stale, project.DeletionOrder(stale), backend.MaxParallel, func(ctx context.Context, i int) (string, error) {
		if row := p.Row(stale[i].ID); !row.Sends() {
			err := &backend.RefusedError{Text: "it may no longer be deleted: " + strings.TrimSpace(row.Text(a.painter().Ink))}
			document.Pruned(i, stale[i].Policy, err)
			return "", err
		}
		text, err := a.sendDelete(ctx, b, stale[i], with.request(stale[i].ID, workflows.DeleteInput{}), how.Selector)
		if backend.IsNotManaged(err) {
			text, err = "no longer managed", nil
		}
		document.Pruned(i, stale[i].Policy, err)
		return text, err
	})
}
