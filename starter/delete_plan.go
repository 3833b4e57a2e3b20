package starter

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/starter/internal/plan"
	"github.com/armature-io/armature/starter/internal/project"
	"github.com/armature-io/armature/workflows"
)

// deletion is the choice of a user to delete resources.
type deletion struct {
	records []backend.Record
	consent plan.Consent
	// specs are the manifests of a deletion by manifest, and applied the manifests that are
	// applied before the deletion, by their keys.
	specs, applied map[string]*resource.Desired
}

// plan plans the deletion.
func (d deletion) plan(ctx context.Context, b *connection) (plan.Plan, error) {
	deletables, err := d.ask(ctx, b)
	return plan.New(nil, nil, deletables, d.consent), err
}

// ask asks workers for the facts on which the deletion depends: of the records, dependents first,
// and of the resources that a cascade adds. A dependent does not count if its applied manifest no
// longer needs the resource.
func (d deletion) ask(ctx context.Context, b *connection) ([]plan.Deletable, error) {
	run := backend.NewRunID(workflows.PlanIDPrefix)
	var all, batch []plan.Deletable
	queues, unread, ended := map[string]string{}, map[string]string{}, map[string]bool{}
	for _, i := range slices.Concat(project.DeletionOrder(d.records)...) {
		r := d.records[i]
		batch = append(batch, plan.Deletable{ID: r.ID, Desired: d.specs[r.ID.Key()]})
		queues[r.ID.Key()], unread[r.ID.Key()], ended[r.ID.Key()] = r.TaskQueue, r.Unreadable, !r.IsManaged()
	}
	for len(batch) > 0 {
		first := len(all)
		err := backend.ForEach(ctx, len(batch), maxParallelDryRuns, func(ctx context.Context, i int) error {
			id := batch[i].ID
			if reason := unread[id.Key()]; reason != "" {
				batch[i].Facts = activities.PlanDeletionResult{Managed: true, Unknown: []string{"its manifest: it is " + reason}}
				return nil
			}
			in := activities.PlanDeletionInput{ID: id, Desired: batch[i].Desired, EndScope: d.consent.EndScope}
			var err error
			batch[i].Facts, err = b.PlanDeletion(ctx, fmt.Sprintf("%s:%d", run, first+i+1), queues[id.Key()], in)
			// A worker answers from the memory of a workflow that has ended, too.
			batch[i].Facts.Managed = batch[i].Facts.Managed && !ended[id.Key()]
			batch[i].Facts.Dependents = slices.DeleteFunc(batch[i].Facts.Dependents, func(dependent activities.Dependent) bool {
				spec := d.applied[dependent.ID.Key()]
				return spec != nil && !activities.Contains(id, dependent.ID) && !slices.ContainsFunc(spec.Needs(), id.Equal)
			})
			return backend.WithName(cli.KindAndName(id), err)
		})
		if errors.Is(err, backend.ErrInterrupted) {
			return nil, cli.Failed("interrupted; nothing was deleted")
		}
		if err != nil {
			return nil, err
		}
		all = append(all, batch...)
		batch = plan.Added(all, d.consent)
	}
	return all, nil
}

// sent returns the records whose deletion is to be requested.
func (d deletion) sent(p plan.Plan) []backend.Record {
	return slices.DeleteFunc(slices.Clone(d.records), func(r backend.Record) bool { return !p.Row(r.ID).Sends() })
}

// agree shows what a deletion does, and returns the records of those whose deletion is to be
// requested. It refuses all if one may not be deleted, unless the user wants to keep going.
func (a *app) agree(p plan.Plan, d deletion, how deleteOptions, s backend.Selection) ([]backend.Record, error) {
	if p.Refused() {
		a.printf("%s", p.Text(false, a.painter().Ink))
		if !d.consent.KeepGoing {
			return nil, cli.Failed("nothing was deleted: %s refused (see above); --keep-going deletes the rest", cli.CountAre(p.Summary[plan.ActionRefused], "resource"))
		}
	}
	sent := d.sent(p)
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
func (a *app) accompany(ctx context.Context, b *connection, p plan.Plan) (accompanied, error) {
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
func keptError(p plan.Plan) error {
	if !p.Refused() {
		return nil
	}
	return cli.Failed("%s refused and %d kept because of that (see above)", cli.CountAre(p.Summary[plan.ActionRefused], "resource"), p.Kept())
}

// planDeletions is `plan --delete`.
func (a *app) planDeletions(ctx context.Context, s backend.Selection, set manifest.Set, how planOptions) error {
	b, err := a.connection(ctx)
	if err != nil {
		return err
	}
	d := deletion{records: recordsOf(set.Resources), specs: specsOf(set.Resources), consent: how.consent}
	if len(set.Resources) == 0 {
		if d.records, err = backend.Targets(ctx, b, s); err == nil {
			err = checkManaged(d.records, request{ends: true})
		}
		if err == nil && len(d.records) == 0 {
			err = s.NoMatch()
		}
		d.records = slices.DeleteFunc(d.records, func(r backend.Record) bool { return !r.Running })
	}
	if err != nil {
		return err
	}
	p, err := d.plan(ctx, b)
	if err != nil {
		return err
	}
	p.Findings = set.Warnings
	return a.savePlan(p, how, "delete")
}

// specsOf returns manifests by their keys.
func specsOf(resources []resource.Desired) map[string]*resource.Desired {
	specs := map[string]*resource.Desired{}
	for i := range resources {
		specs[resources[i].ID.Key()] = &resources[i]
	}
	return specs
}

// plannedDeletion returns the deletion of a plan file, with the current records.
func plannedDeletion(ctx context.Context, b *connection, file plan.File) (deletion, error) {
	ids, manifests := file.Selected()
	d := deletion{records: make([]backend.Record, len(ids)), specs: specsOf(manifests), consent: file.Consent}
	for i, id := range ids {
		r, err := b.Record(ctx, id.WorkflowID())
		switch {
		case errors.Is(err, backend.ErrNotManaged):
			// A deletion by manifest starts the workflow.
			r = backend.RecordOf(id)
			r.Running = d.specs[id.Key()] != nil
		case err != nil:
			return deletion{}, backend.WithName(cli.KindAndName(id), err)
		}
		d.records[i] = r
	}
	return d, nil
}

// planAgain returns the plan of a file as it is now, with its deletion.
func planAgain(ctx context.Context, b *connection, file plan.File) (deletion, plan.Plan, error) {
	d, err := plannedDeletion(ctx, b, file)
	if err != nil {
		return d, plan.Plan{}, err
	}
	set := file.Set()
	if len(set.Resources) == 0 {
		now, err := d.plan(ctx, b)
		return d, now, err
	}
	now, err := makePlan(ctx, b, set, d, activities.PlanCompare)
	return d, now, err
}

// deletePlanned deletes exactly the resources of a plan file, or nothing if something that the
// plan shows differs by now.
func (a *app) deletePlanned(ctx context.Context, path string, how deleteOptions) error {
	file, err := plan.ReadFile(path)
	if err != nil {
		return err
	}
	if len(file.Set().Resources) > 0 {
		return cli.BadInput("%s is the plan of an apply; run `armature apply --plan-file %s`", path, path)
	}
	b, err := a.connection(ctx)
	if err != nil {
		return err
	}
	d, now, err := planAgain(ctx, b, file)
	if err != nil {
		return err
	}
	if err := a.checkStale(file, now, "nothing was deleted"); err != nil {
		return err
	}
	how.consent = d.consent
	return a.deleteAgreed(ctx, b, now, d, how, backend.Selection{})
}
