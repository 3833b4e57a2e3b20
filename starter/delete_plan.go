package starter

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/starter/internal/plan"
	"github.com/armature-io/armature/workflows"
)

// planDeletion asks workers what the deletion of records depends on, and judges it. specs are
// the manifests of records that a deletion by manifest names, and applied those that are
// applied before the deletion, by their keys.
func planDeletion(
	ctx context.Context, b *connection, records []backend.Record, specs map[string]*resource.Desired, consent plan.Consent, applied map[string]*resource.Desired,
) (plan.DeletionPlan, error) {
	run := backend.NewRunID(workflows.PlanIDPrefix)
	var all []plan.Deletable
	batch := make([]plan.Deletable, len(records))
	queues := map[string]string{}
	for i, r := range records {
		batch[i].ID, queues[r.ID.Key()] = r.ID, r.TaskQueue
	}
	for len(batch) > 0 {
		first := len(all)
		err := backend.ForEach(ctx, len(batch), maxParallelDryRuns, func(ctx context.Context, i int) error {
			id := batch[i].ID
			in := activities.PlanDeletionInput{ID: id, Desired: specs[id.Key()], EndScope: consent.EndScope}
			var err error
			batch[i].Facts, err = b.PlanDeletion(ctx, fmt.Sprintf("%s:%d", run, first+i+1), queues[id.Key()], in)
			batch[i].Facts.Dependents = slices.DeleteFunc(batch[i].Facts.Dependents, func(d activities.Dependent) bool {
				spec := applied[d.ID.Key()]
				return spec != nil && !activities.Contains(id, d.ID) && !slices.ContainsFunc(spec.Needs(), id.Equal)
			})
			return backend.WithName(cli.KindAndName(id), err)
		})
		if errors.Is(err, backend.ErrInterrupted) {
			return plan.DeletionPlan{}, cli.Failed("interrupted; nothing was deleted")
		}
		if err != nil {
			return plan.DeletionPlan{}, err
		}
		all = append(all, batch...)
		batch = plan.Added(all, consent)
	}
	return plan.NewDeletion(all, consent), nil
}

// agree shows what a deletion does, and returns the records of those whose deletion is to be
// requested. It refuses all if one may not be deleted, unless the user wants to keep going.
func (a *app) agree(p plan.DeletionPlan, records []backend.Record, how deleteOptions, s backend.Selection) ([]backend.Record, error) {
	if p.Refused() {
		a.printf("%s", p.Text(false))
		if !how.keepGoing {
			return nil, cli.Failed("nothing was deleted: %s refused (see above); --keep-going deletes the rest", cli.CountAre(p.Summary[plan.ResultRefused], "resource"))
		}
	}
	var sent []backend.Record
	for i, row := range p.Resources[:len(records)] {
		if row.Sends() {
			sent = append(sent, records[i])
		}
	}
	if len(sent) == 0 {
		return nil, cli.Failed("nothing was deleted: every resource is refused or kept (see above)")
	}
	return sent, a.confirmDelete(p, sent, how, s)
}

// accompanied is the workflow that accompanies the deletion of several resources, the zero value
// for none, and the keys of the locks whose deletion it lets begin.
type accompanied struct {
	id   string
	held map[string]bool
}

// accompany starts that workflow.
func (a *app) accompany(ctx context.Context, b *connection, p plan.DeletionPlan) (accompanied, error) {
	stack := p.Stack(a.by)
	if len(stack.Resources) == 0 {
		return accompanied{}, nil
	}
	with := accompanied{id: backend.NewRunID(workflows.DeleteStackIDPrefix), held: map[string]bool{}}
	for _, lock := range stack.Locks {
		with.held[lock.Desired.ID.Key()] = true
	}
	return with, b.StartStack(ctx, with.id, stack)
}

// request adds the workflow to the request for one resource.
func (w accompanied) request(id resource.ID, in workflows.DeleteInput) workflows.DeleteInput {
	in.Stack, in.Held = w.id, w.held[id.Key()]
	return in
}

// keptError is the error of a deletion that kept going.
func keptError(p plan.DeletionPlan) error {
	if !p.Refused() {
		return nil
	}
	return cli.Failed("%s refused and %d kept because of that (see above)", cli.CountAre(p.Summary[plan.ResultRefused], "resource"), p.Kept())
}

// planDeletions is `plan --delete`.
func (a *app) planDeletions(ctx context.Context, s backend.Selection, resources []resource.Desired, how planOptions) error {
	b, err := a.connection(ctx)
	if err != nil {
		return err
	}
	records, specs := recordsOf(resources), specsOf(resources)
	if len(resources) == 0 {
		if records, err = backend.Targets(ctx, b, s); err == nil {
			err = checkManaged(records, request{ends: true})
		}
		if err == nil && len(records) == 0 {
			err = s.NoMatch()
		}
		records = slices.DeleteFunc(records, func(r backend.Record) bool { return !r.Running })
	}
	if err != nil {
		return err
	}
	p, err := planDeletion(ctx, b, records, specs, how.consent, nil)
	if err != nil {
		return err
	}
	if err := p.Show(a.out, how.output); err != nil {
		return err
	}
	if p.Refused() {
		if how.file != "" {
			a.note("%s was not written: a refused deletion cannot be done", how.file)
		}
		return cli.Failed("%s refused, see above", cli.CountAre(p.Summary[plan.ResultRefused], "resource"))
	}
	if how.file != "" {
		if err := p.Write(how.file, specs, a.by, a.now()); err != nil {
			return err
		}
		a.note("the plan is in %s; `armature delete --plan-file %s` deletes exactly these resources unless something changes first", how.file, how.file)
	}
	return errChanges
}

// specsOf returns manifests by their keys.
func specsOf(resources []resource.Desired) map[string]*resource.Desired {
	specs := map[string]*resource.Desired{}
	for i := range resources {
		specs[resources[i].ID.Key()] = &resources[i]
	}
	return specs
}

// deletePlanned deletes exactly the resources of a plan file, or nothing if something that the
// plan shows differs by now.
func (a *app) deletePlanned(ctx context.Context, path string, how deleteOptions) error {
	file, err := plan.ReadDeletion(path)
	if err != nil {
		return err
	}
	b, err := a.connection(ctx)
	if err != nil {
		return err
	}
	how.consent = file.Consent
	records := make([]backend.Record, len(file.Selected))
	for i, id := range file.Selected {
		records[i] = backend.RecordOf(id)
		if r, err := b.Record(ctx, id.WorkflowID()); err == nil {
			records[i] = r
		} else if !errors.Is(err, backend.ErrNotManaged) {
			return backend.WithName(cli.KindAndName(id), err)
		}
	}
	now, err := planDeletion(ctx, b, records, file.Specs(), file.Consent, nil)
	if err != nil {
		return err
	}
	if changes := file.Changes(now); len(changes) > 0 {
		for _, change := range changes {
			a.note("%s", change)
		}
		return cli.Failed("the plan of %s by %s is stale (see above); nothing was deleted, plan again", file.Created.Format("2006-01-02T15:04:05Z"), cli.OneLine(file.By))
	}
	return a.deleteAgreed(ctx, b, now, records, file.Specs(), how, backend.Selection{})
}
