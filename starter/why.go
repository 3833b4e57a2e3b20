package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/armature-io/armature/workflows"
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

// rootsShown bounds the last lines of an answer: beyond, nobody acts on them
// one by one.
const rootsShown = 4

func (a *app) printChain(r reasoned, wide bool) {
	a.printf("%s\n", a.linkText(r.link, lineMax*4, wide))
	a.printCauses(r.link, "", wide)
	if r.Clear {
		a.printf("nothing is in the way of %s\n", described(r.ID))
	}
	for i, root := range r.Roots {
		if i == rootsShown && !wide {
			a.printf("root: … and %d more\n", len(r.Roots)-i)
			break
		}
		a.printf("root: %s\n", root.Text)
	}
}

// printCauses draws what a link waits for, as branches.
func (a *app) printCauses(l *link, indent string, wide bool) {
	for i, next := range l.WaitsFor {
		last := i == len(l.WaitsFor)-1 && l.More == 0
		branch, below := "├ ", "│ "
		if last {
			branch, below = "└ ", "  "
		}
		length := lineMax
		if len(next.WaitsFor) == 0 {
			length = 4 * lineMax
		}
		a.printf("%s%s%s%s\n", indent, branch, l.verb(), a.linkText(next, length, wide))
		a.printCauses(next, indent+below, wide)
	}
	if l.More > 0 {
		a.printf("%s└ %s%d more\n", indent, l.verb(), l.More)
	}
}

// linkText is one line of a chain, its message cut to a length unless wide.
func (a *app) linkText(l *link, length int, wide bool) string {
	switch {
	case len(l.Cycle) > 0:
		return described(l.ID) + ": a cycle"
	case l.Cut != "":
		return described(l.ID) + "  " + l.Cut
	}
	text := described(l.ID) + "  " + a.standing(l)
	words := reasonAnd(string(l.Reason), l.Message)
	if l.Stale {
		// The reason is the last that was written; the message is about the worker.
		words = l.Message
	}
	if l.Saw != "" {
		words = strings.TrimPrefix(words+"; "+l.waiter+" saw: "+l.Saw, "; ")
	}
	if wide {
		length = math.MaxInt
	}
	if words = cut(words, length); words != "" {
		text += "  " + words
	}
	if !l.NextTry.IsZero() {
		text += "; next look " + until(l.NextTry, a.now())
	}
	return text
}

// standing is the state and since when.
func (a *app) standing(l *link) string {
	now := a.now()
	text := l.State
	if !l.Since.IsZero() {
		text += " since " + clock(l.Since, now) + " (" + span(now.Sub(l.Since)) + ")"
	}
	if l.Overdue {
		text += ", overdue: not Ready for " + span(now.Sub(l.NotReadySince))
	}
	return text
}

// reasonAnd is "Reason: message", or the one of both that there is.
func reasonAnd(reason, message string) string {
	if reason == "" || message == "" {
		return reason + message
	}
	return reason + ": " + message
}

// rootText is the sentence about a root: what it is and what to do. between
// stands between its name and its state.
func (a *app) rootText(l *link, between string) string {
	if len(l.Cycle) > 0 {
		return ring(l)
	}
	if between == " " && (l.State == stateNotManaged || l.State == stateDeleted || l.State == stateEnded) {
		between = " is "
	}
	text := described(l.ID) + between + a.standing(l)
	switch paused := l.State == string(workflows.PhasePaused); {
	case l.Reason != "" && paused:
	case l.Reason != "" && !l.Stale:
		text += " (" + string(l.Reason) + ")"
	case l.Message != "":
		text += ", " + cut(l.Message, lineMax)
	}
	if l.Alike > 0 {
		text += fmt.Sprintf(", nor %d more", l.Alike)
	}
	if l.Saw != "" {
		text += ", and " + l.waiter + " saw: " + cut(l.Saw, lineMax)
	}
	if !l.NextTry.IsZero() {
		text += ", next look " + until(l.NextTry, a.now())
	}
	if l.Todo != "" {
		text += "; " + l.Todo
	}
	return text
}

// ring is the sentence about resources that wait for each other.
func ring(l *link) string {
	text, way := "", "take one of these references out of its manifest and apply it"
	for i, name := range l.Cycle {
		if i > 0 {
			text += ", "
		}
		text += name + " waits for " + l.Cycle[(i+1)%len(l.Cycle)]
	}
	if l.deleting {
		// Nobody may apply to what is being deleted.
		way = "cancel the workflow of one in Temporal, which leaves it in Azure, and delete it there"
	}
	if len(l.Cycle) == 1 {
		return strings.Replace(text, " waits for "+l.Cycle[0], " waits for itself", 1) + "; take the reference out of its manifest and apply it"
	}
	return "a cycle: " + text + "; " + way
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
