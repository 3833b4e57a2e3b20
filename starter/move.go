package starter

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/workflows"
	"github.com/spf13/cobra"
)

func (a *app) moveCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "move OLD NEW",
		Short: "Continue to manage a resource at the place to which Azure moved it",
		Long: `move ends the management of a resource at its old ID and continues it at its new one,
with what Armature remembers of it: its labels, its spec, and what other tools set. It
changes nothing in Azure: move the resource there first. OLD is a managed name or an ID,
NEW is an ID.

A worker proves the move: the old ID is absent, and the resource at the new ID has the
identity that was read at the old one (vmId, resourceGuid, principalId, ...). An equal
name proves nothing. Without that proof move refuses; apply a manifest with the new
place then, and run armature forget OLD.

What is managed in the resource goes with it. Where the applied spec does not fit the new
place, as when it names other resources that were moved too, the resource is paused:
apply its changed manifest, then resume it. Change the manifests before the next apply
of them: one with the old place would create the resource there again.

` + cli.ExitHelp,
		Example: "  armature move vm1 /subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg2/providers/Microsoft.Compute/virtualMachines/vm1",
		Args:    cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			to, err := resource.ParseID(args[1])
			if err != nil {
				return cli.BadInput("%w", err)
			}
			b, err := a.connection(c.Context())
			if err != nil {
				return err
			}
			m := mover{app: a, connection: b, runID: backend.NewRunID(workflows.MoveIDPrefix)}
			return m.move(c.Context(), args[0], to)
		},
	}
}

// mover has the workflows of the new place of a resource that Azure moved take over from
// the workflows of the old place. A worker proves the move before.
type mover struct {
	app        *app
	connection *connection
	runID      string
}

func (m mover) move(ctx context.Context, name string, to resource.ID) error {
	targets, err := backend.Targets(ctx, m.connection, backend.Selection{Names: []string{name}})
	if err != nil {
		return err
	}
	from := targets[0].ID
	if !targets[0].Running {
		return cli.Failed("%s is not managed any more: apply a manifest with the new place", from)
	}
	proven, err := m.prove(ctx, activities.MoveResourceInput{Old: from, New: to})
	if err != nil {
		return err
	}
	inside, err := m.inside(ctx, from)
	if err != nil {
		return err
	}
	left := 0
	for _, id := range inside {
		result, err := m.prove(ctx, activities.MoveResourceInput{Old: from, New: to, ID: id})
		if cli.ExitCode(err) == cli.ExitFailed {
			left++
			m.app.printf("%s  left: %v\n", cli.KindAndName(id), err)
			continue
		}
		if err == nil {
			err = m.carry(ctx, result)
		}
		if err != nil {
			return err
		}
	}
	if err := m.carry(ctx, proven); err != nil {
		return err
	}
	if left > 0 {
		return cli.Failed("%s of %s left at the old place (see above)", cli.CountOf(left, "resource was", "resources were"), from.Short())
	}
	return nil
}

// prove returns what a worker found, and an error where nothing proves the move.
func (m mover) prove(ctx context.Context, in activities.MoveResourceInput) (activities.MoveResourceResult, error) {
	workflowID := m.runID
	if !in.ID.IsZero() {
		workflowID += in.ID.WorkflowID()
	}
	result, err := m.connection.Move(ctx, workflowID, in)
	switch {
	case err != nil:
		return result, err
	case result.Verdict.Stops():
		return result, cli.Failed("%s", result.Verdict.Text())
	case result.Desired == nil || result.Carried == nil:
		return result, cli.Failed("the worker returned nothing to carry over; is it older than this armature?")
	}
	return result, nil
}

// inside returns the managed resources in another one, the outer ones first.
func (m mover) inside(ctx context.Context, owner resource.ID) ([]resource.ID, error) {
	records, err := backend.Running(ctx, m.connection, "")
	if err != nil {
		return nil, err
	}
	var found []resource.ID
	for _, r := range records {
		if activities.Contains(owner, r.ID) {
			found = append(found, r.ID)
		}
	}
	slices.SortFunc(found, func(a, b resource.ID) int { return strings.Compare(a.Key(), b.Key()) })
	return found, nil
}

// carry starts the workflow of the new place, then ends the old one. After a
// crash in between both exist; the old one writes nothing, and the command is repeated.
func (m mover) carry(ctx context.Context, result activities.MoveResourceResult) error {
	desired, from := *result.Desired, result.Carried.From
	text := "continues at " + desired.ID.String()
	if len(result.Identity) > 0 {
		text += " (the same " + result.Identity.String() + ")"
	}
	var applied workflows.ApplyResult
	err := m.connection.UpdateWithStart(ctx, desired, backend.Message{
		Name: workflows.ApplyUpdate, Input: workflows.ApplyInput{Desired: desired, By: m.app.by, Carried: result.Carried}, Result: &applied,
	})
	refusal, refused := errors.AsType[*backend.RefusedError](err)
	switch {
	case refused && refusal.Kind == workflows.RefusedManaged:
		text += ", which was managed already and keeps its own memory"
	case err != nil:
		return err
	case len(result.Differences) > 0:
		first := result.Differences[0]
		text += fmt.Sprintf("; paused, because %s is %s there, desired %s: apply the changed manifest, then run armature resume %s",
			first.Path, first.Observed, first.Desired, desired.ID)
	case applied.Paused:
		text += "; still paused"
	}
	var forgotten workflows.ForgetResult
	err = m.connection.Update(ctx, from.WorkflowID(), backend.Message{
		Name: workflows.ForgetUpdate, Input: workflows.ForgetInput{Reason: "moved to " + desired.ID.String(), By: m.app.by}, Result: &forgotten,
	})
	if err != nil && !errors.Is(err, backend.ErrNotManaged) {
		return err
	}
	m.app.printf("%s  %s\n", cli.KindAndName(from), text)
	return nil
}
