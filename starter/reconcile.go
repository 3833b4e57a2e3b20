package starter

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/starter/internal/plan"
	"github.com/armature-io/armature/starter/internal/wait"
	"github.com/armature-io/armature/workflows"
	"github.com/spf13/cobra"
)

// reconcileOptions are the flags of a reconcile.
type reconcileOptions struct {
	workflows.ReconcileInput
	wait waitOptions
	yes  bool
}

func (a *app) reconcileCommand() *cobra.Command {
	var (
		how     reconcileOptions
		targets backend.Selection
	)
	c := &cobra.Command{
		Use:        "reconcile NAME|ID... | -l SELECTOR | -f PATH...",
		SuggestFor: []string{"refresh", "sync"},
		Short:      "Start a pass now instead of at the next try",
		Long: `reconcile starts a pass now. --force skips, in that pass only, the owner check and
the guard against operations in flight; the workflow's history records who did it
and why. With --force, --drop-baseline or --recreate, -l and --all ask first (--yes
answers; it is needed without a terminal).

--recreate approves to create again what was deleted outside Armature: a type that is
not recreated by itself (reason Disappeared), or a resource that the
disappearance-budget holds (reason Held). Owners are created before what is in them.
The approval counts until a read shows the resource. Restore first what Azure can
restore: armature why names the command.

A resource whose manifest states recreate: on-immutable and that Azure refuses to change
is deleted and created again, with the managed resources in it. reconcile first shows
what that means for all chosen resources, as armature plan does, and asks once (--yes
answers; it is needed without a terminal). It sends nothing if one of the replacements is
refused: the name stays taken, a new resource would lack data, something in it would not
come back, or others need it.

` + cli.ExitHelp,
		Example: "  armature reconcile adx --wait\n  armature reconcile -l stack=prod\n  armature reconcile --recreate -l stack=prod --wait\n  armature reconcile adx/telemetry --force --reason \"the cluster hangs in Updating, INC-42\"",
		RunE: func(c *cobra.Command, _ []string) error {
			if how.Force && how.Reason == "" {
				return cli.BadInput("--force needs --reason: the history records it with your name")
			}
			how.By = a.by
			return a.reconcile(c.Context(), targets, how)
		},
	}
	c.Flags().BoolVar(&how.Force, "force", false, "skip owner check and in-flight guard once (needs --reason)")
	c.Flags().BoolVar(&how.DropBaseline, "drop-baseline", false, "write again what Azure keeps different from the manifest")
	c.Flags().BoolVar(&how.Recreate, "recreate", false, "approve to create again what was deleted outside Armature, or what Azure cannot change")
	addReason(c, &how.Reason, "why, for the history")
	a.addTargets(c, &targets, "every managed resource")
	c.Flags().BoolVarP(&how.yes, "yes", "y", false, "do not ask")
	a.addSigningKey(c)
	how.wait.add(c, "wait until that pass made the resource Ready")
	return c
}

// question returns what is asked before many resources lose a guard at once.
func (how reconcileOptions) question(s backend.Selection, records []backend.Record) question {
	q := question{lines: idLines(records), yes: how.yes || !s.IsQuery() || !how.Force && !how.DropBaseline && !how.Recreate, required: true, unchanged: "nothing was sent"}
	what := cli.Count(len(records), "resource")
	switch {
	case how.Force:
		q.action, q.text = "--force with "+s.Flags()+" skips the guards of "+what, "Skip owner check and in-flight guard of "+what+"?"
	case how.Recreate:
		q.action, q.text = "--recreate with "+s.Flags()+" creates again what was deleted of "+what, "Create again what was deleted of "+what+"?"
	default:
		q.action, q.text = "--drop-baseline with "+s.Flags()+" overwrites what Azure keeps in "+what, "Overwrite what Azure keeps in "+what+"?"
	}
	return q
}

func (a *app) reconcile(ctx context.Context, s backend.Selection, how reconcileOptions) error {
	var replaced []plan.Row
	return a.sendSelected(ctx, request{
		targets: s, goal: wait.Ready, wait: how.wait,
		confirm: func(ctx context.Context, b *connection, records []backend.Record) ([]backend.Record, error) {
			if how.Recreate {
				var err error
				if replaced, err = a.planReplacements(ctx, b, records); err != nil {
					return nil, err
				}
			}
			if len(replaced) == 0 {
				return records, a.ask(how.question(s, records))
			}
			return records, a.agreeToReplace(replaced, how)
		},
		send: func(ctx context.Context, b *connection, w *wait.Resource) (string, error) {
			var result workflows.ReconcileResult
			input := how.ReconcileInput
			key, err := a.signer(b)
			if err == nil {
				err = backend.SignApproval(key, w.ID, &input, slices.ContainsFunc(replaced, func(c plan.Row) bool {
					return c.ID.Equal(w.ID) && len(c.Replacement.Falling) > 0
				}))
			}
			if err != nil {
				return "", err
			}
			err = b.Update(ctx, w.WorkflowID, backend.Message{Name: workflows.ReconcileUpdate, Input: input, Result: &result})
			w.MinPass = result.Pass
			return fmt.Sprintf("reconciling (pass %d)", result.Pass) + pausedText(result.Paused), err
		},
	})
}

// planReplacements returns the replacements that an approval would begin: of resources that
// Azure refuses to change, and whose manifest allows to replace them.
func (a *app) planReplacements(ctx context.Context, b *connection, records []backend.Record) ([]plan.Row, error) {
	p, err := plan.Drift(ctx, b, records, backend.NewRunID(workflows.PlanIDPrefix))
	switch {
	case errors.Is(err, backend.ErrInterrupted):
		return nil, cli.Failed("interrupted; nothing was sent")
	case err != nil:
		return nil, err
	}
	return slices.DeleteFunc(p.Replacements(), func(c plan.Row) bool { return !c.MayReplace() }), nil
}

// agreeToReplace shows replacements and asks once for all. It refuses all if one is refused.
func (a *app) agreeToReplace(replaced []plan.Row, how reconcileOptions) error {
	refused, again := 0, 0
	for _, c := range replaced {
		a.printf("%s", c.Text(a.painter().Ink))
		again += len(c.Replacement.Falling)
		if len(c.Refusals) > 0 {
			refused++
		}
	}
	if refused > 0 {
		return cli.Failed("nothing was sent: %s (see above)", cli.CountAre(refused, "replacement")+" refused")
	}
	what := cli.Count(len(replaced), "resource")
	if again > 0 {
		what += fmt.Sprintf(" and %d in it", again)
	}
	return a.ask(question{
		yes: how.yes, required: true, unchanged: "nothing was sent",
		action: "--recreate deletes " + what + " and creates it again", text: "Delete " + what + ", and create it again?",
	})
}
