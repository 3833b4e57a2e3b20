package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	"github.com/spf13/cobra"
)

// exitChanges is plan's code for "there are changes"; its errors are always
// exitFailed, so that no script takes one for the other.
const exitChanges = 2

const planExitHelp = `Exit codes of plan:
  0  no changes
  2  changes, or a blocked resource of which nobody knows
  1  an error: bad flags or manifests, Temporal or Azure out of reach, a refused read`

// parallelPlans bounds the dry runs under way at one time.
const parallelPlans = 16

// change is what a plan says of one resource.
type change struct {
	ID   resource.ID `json:"id"`
	Name string      `json:"name"`
	activities.PlanResourceResult
	// policy is that of what is to be deleted.
	policy resource.Policy
}

// outline is a whole plan: the resources of the manifests in dependency order,
// then what is pruned.
type outline struct {
	Resources []change                      `json:"resources"`
	Summary   map[activities.PlanAction]int `json:"summary"`
}

func (a *app) planCommand() *cobra.Command {
	var (
		from   sources
		prune  pruning
		output format
		file   string
	)
	c := &cobra.Command{
		Use:   "plan -f PATH...",
		Short: "Show what apply would change, and change nothing",
		Long: `plan asks a worker what a pass would do with each manifest: create, update (each
path with its old and new value, and what the PUT takes away), nothing, or wait
for whom. It sends no PUT and no DELETE, and touches no running workflow. With
--prune -l SELECTOR it also lists what apply --prune would delete. With --out FILE
it writes the plan, for apply --plan-file: the manifests, without any secret.

table leaves out what is in sync; wide names it too. json and yaml are {resources,
summary}: of each resource id, name, action (create, update, none, delete, blocked
or error), message, differences and what the PUT drops; of the summary how many
have each action.

` + planExitHelp,
		Example: "  armature plan -f examples\n  armature plan -f stack --prune -l stack=prod -o json\n  armature plan -f stack --out stack.plan",
		RunE: func(c *cobra.Command, args []string) error {
			return planFault(func() error {
				switch {
				case len(args) > 0:
					return badInput("plan takes no arguments, found %q; manifests are given with -f PATH; see `%s --help`", args[0], c.CommandPath())
				case len(from.files) == 0:
					return badInput("plan needs -f PATH (a file, a folder, or - for stdin)")
				}
				if err := prune.check(false); err != nil {
					return err
				}
				set, err := from.load(a)
				if err != nil {
					return err
				}
				return a.plan(c.Context(), set, planned{prune: prune, output: output, file: file})
			}())
		},
	}
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return failed("%s", flagFault(c, err)) })
	from.add(c.Flags())
	c.Flags().BoolVar(&prune.on, "prune", false, "show also what apply --prune would delete (needs -l)")
	c.Flags().StringVarP(&prune.selector, "selector", "l", "", "label selector of --prune: key=value,key=value (all of them)")
	a.completeFlag(c, "selector", a.completeLabels)
	a.addOutput(c, &output)
	c.Flags().StringVar(&file, "out", "", "write the plan to a `file`, for apply --plan-file")
	return c
}

// planFault gives every error of plan the same code.
func planFault(err error) error {
	var f *fault
	if err == nil || errors.As(err, &f) && f.code == exitChanges && f.Error() == "" {
		return err
	}
	return &fault{code: exitFailed, err: err}
}

// planned is what the user asked for.
type planned struct {
	prune  pruning
	output format
	file   string
}

func (a *app) plan(ctx context.Context, set manifest.Set, how planned) error {
	if err := how.prune.checkLabels(set); err != nil {
		return err
	}
	b, err := a.connect(ctx, a)
	if err != nil {
		return err
	}
	defer b.close()
	o, err := b.outline(ctx, set, how.prune)
	if err != nil {
		return err
	}
	if how.output.machine() {
		err = a.write(how.output, o)
	} else {
		a.showPlan(o, how.output == formatWide)
	}
	if err != nil {
		return err
	}
	verdict := o.verdict()
	if how.file != "" {
		err = a.writePlan(how.file, set, o)
	}
	return cmp.Or(err, verdict)
}

// verdict is the exit code of a plan.
func (o outline) verdict() error {
	switch {
	case o.Summary[activities.PlanError] > 0:
		return failed("%s could not be planned, see above", count(o.Summary[activities.PlanError], "resource"))
	case len(o.Resources) > o.Summary[activities.PlanNone]:
		return &fault{code: exitChanges, err: errors.New("")}
	}
	return nil
}

// outline plans the manifests, and what a prune would delete.
func (b *backend) outline(ctx context.Context, set manifest.Set, prune pruning) (outline, error) {
	o := outline{Resources: make([]change, len(set.Resources)), Summary: map[activities.PlanAction]int{}}
	run := planRun()
	err := each(ctx, len(set.Resources), parallelPlans, func(ctx context.Context, i int) error {
		desired := set.Resources[i]
		result, err := b.plan(ctx, fmt.Sprintf("%s:%d", run, i+1), activities.PlanResourceInput{
			Desired: desired, Together: together(desired, set),
		})
		if err != nil {
			return wrapName(described(desired.ID), err)
		}
		o.Resources[i] = change{ID: desired.ID, Name: desired.Name, PlanResourceResult: result}
		return nil
	})
	switch {
	case errors.Is(err, errInterrupted):
		return o, failed("interrupted; a plan changes nothing")
	case err != nil:
		return o, err
	}
	if prune.on {
		stale, err := prune.stale(ctx, b, set)
		if err != nil {
			return o, err
		}
		for _, r := range stale {
			o.Resources = append(o.Resources, pruned(r))
		}
	}
	for _, c := range o.Resources {
		o.Summary[c.Action]++
	}
	return o, nil
}

// planRun begins the workflow IDs of one plan.
func planRun() string { return workflows.PlanIDPrefix + randomHex() }

// randomHex tells two runs of a command apart.
func randomHex() string {
	var random [8]byte
	_, _ = rand.Read(random[:]) // it never fails
	return hex.EncodeToString(random[:])
}

// together are the manifests of a set that a resource needs.
func together(desired resource.Desired, set manifest.Set) []resource.ID {
	return slices.DeleteFunc(desired.Needs(), func(id resource.ID) bool {
		_, named := set.Sources[id.Key()]
		return !named
	})
}

// pruned is the plan of what no manifest names any more. Its policy decides what
// a deletion means.
func pruned(r record) change {
	c := change{ID: r.ID, Name: r.Name, policy: r.Policy}
	c.Action, c.APIVersion, c.Managed = activities.PlanDelete, r.APIVersion, true
	switch {
	case r.Policy.Leaves():
		c.Message = "it stays in Azure and is no longer managed (policy " + string(r.Policy) + ")"
	case r.Policy == resource.PolicyProtect:
		c.Action, c.Reason = activities.PlanBlocked, resource.ReasonProtected
		c.Message = "no manifest names it any more, but its policy is protect: the deletion would be refused"
	}
	return c
}
