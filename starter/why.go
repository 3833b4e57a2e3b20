package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

func (a *app) whyCommand() *cobra.Command {
	var (
		targets selection
		how     showing
	)
	c := &cobra.Command{
		Use:   "why [NAME|ID]... | -l SELECTOR",
		Short: "Tell what holds a resource or a stack up, down to the root",
		Long: `why follows what a resource waits for to the root: since when, when it is looked
at again, and what to do. With a label selector, or without names for everything
that is managed, it groups what is not Ready by root cause, the largest first.
When no worker answers, it shows what the search attributes tell, and says so.
It changes nothing, and an answer is exit code 0, whatever it tells.

wide cuts nothing off. json and yaml are, of names, a list of chains: id, name,
state, since, reason, message, todo, waitsFor (links alike) and roots, each with
its sentence in text; of a stack {causes, ready, total}, each cause with count,
cause (a link), waiting, text and resources.

` + exitHelp,
		Example: "  armature why adx/telemetry\n  armature why -l stack=prod\n  armature why adx -o json\n  armature why --watch",
		RunE: func(c *cobra.Command, args []string) error {
			targets.names = args
			if err := targets.check(); err != nil {
				return err
			}
			return a.show(c.Context(), how, func(ctx context.Context, b *backend) (frame, error) {
				if len(args) == 0 {
					return a.whyMany(ctx, b, targets.selector, how.output)
				}
				return a.why(ctx, b, args, how.output)
			})
		},
	}
	a.addChooser(c, &targets, "everything that is managed (the default)")
	a.addShowing(c, &how)
	return c
}

// reasoned is the chain of one resource for machines.
type reasoned struct {
	*link
	Roots []rootCause `json:"roots"`
}

// rootCause is one end of a chain and the sentence about it.
type rootCause struct {
	*link
	Text string `json:"text"`
}

func (a *app) why(ctx context.Context, b *backend, args []string, output format) (frame, error) {
	chain := newChain(a, b)
	out := make([]reasoned, len(args))
	for i, name := range args {
		r, err := b.whyRecord(ctx, name)
		if err != nil {
			return frame{}, err
		}
		l, err := chain.follow(ctx, r)
		if err != nil {
			return frame{}, err
		}
		out[i] = reasoned{link: l, Roots: []rootCause{}}
		for _, root := range l.roots() {
			out[i].Roots = append(out[i].Roots, rootCause{link: root})
		}
	}
	key := ""
	for _, r := range out {
		key += r.key()
	}
	return frame{key: key, render: func(a *app) error {
		for _, r := range out {
			for i := range r.Roots {
				r.Roots[i].Text = a.rootText(r.Roots[i].link, " ")
			}
		}
		if output.machine() {
			return errors.Join(a.write(output, out), neverApplied(out))
		}
		for i, r := range out {
			if i > 0 {
				a.printf("\n")
			}
			a.printChain(r, output == formatWide)
		}
		return neverApplied(out)
	}}, nil
}

// neverApplied makes a resource that nobody manages the exit code of every other
// command; what is to do about it was printed.
func neverApplied(out []reasoned) error {
	for _, r := range out {
		if r.State == stateNotManaged {
			return failed("%s is not managed; `armature get` lists what is", described(r.ID))
		}
	}
	return nil
}

// printJSON writes a value for machines.
func (a *app) printJSON(value any) error {
	raw, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	a.printf("%s\n", raw)
	return nil
}
