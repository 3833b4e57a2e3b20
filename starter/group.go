package main

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/armature-io/armature/resource"
)

// Bounds of the answer about a stack: how many causes are asked for details, and
// how many names a cause lists.
const (
	causesAsked = 16
	causesShown = 24
	namesShown  = 4
)

// explained is one cause of a stack for machines.
type explained struct {
	Count int `json:"count"`
	// Cause is the root; absent where only its members are known.
	Cause *link `json:"cause,omitempty"`
	// Waiting is set when the members wait for the cause, and not where they are
	// the cause themselves.
	Waiting   bool          `json:"waiting"`
	Text      string        `json:"text"`
	Resources []resource.ID `json:"resources"`

	// first is the name of the first of them.
	first string
}

// whyMany groups what is not Ready by root cause: lists tell who waits for whom,
// and only the roots are asked.
func (a *app) whyMany(ctx context.Context, b *backend, selector string, output format) (frame, error) {
	records, err := b.running(ctx, selector)
	if err != nil {
		return frame{}, err
	}
	s, err := b.stackOf(ctx, records, selector)
	if err != nil {
		return frame{}, err
	}
	list, several := s.groups(records)
	asker := &causeAsker{stack: s, viewer: &viewer{reader: b, patience: chainPatience}, taskQueue: a.taskQueue, now: a.now()}
	out := make([]explained, len(list))
	for i, g := range list {
		if out[i], err = asker.explain(ctx, g, i < causesAsked); err != nil {
			return frame{}, err
		}
	}
	ready := 0
	for _, r := range records {
		if r.clear() {
			ready++
		}
	}
	key := fmt.Sprintln(ready, len(records))
	for _, e := range out {
		key += fmt.Sprintln(e.Resources, e.Waiting)
		if e.Cause != nil {
			key += e.Cause.key()
		}
	}
	return frame{key: key, render: func(a *app) error {
		a.noteStale(asker.asked)
		for i := range out {
			out[i].Text = a.causeText(out[i])
		}
		if output.machine() {
			return a.write(output, map[string]any{"causes": out, "ready": ready, "total": len(records)})
		}
		a.printGroups(out, counted{ready: ready, total: len(records), several: several}, output == formatWide)
		return nil
	}}, nil
}

// counted are the numbers below the causes of a stack; several counts what
// stands under more than one cause.
type counted struct{ ready, total, several int }

// stackOf adds to what was listed the rest of what is managed, where something
// waits for what was not listed.
func (b *backend) stackOf(ctx context.Context, records []record, selector string) (stack, error) {
	s := stack{known: byWaitingKey(records)}
	if selector == "" {
		return s, nil
	}
	for _, r := range records {
		for _, key := range r.WaitingFor {
			if _, known := s.known[key]; known || r.clear() {
				continue
			}
			all, err := b.running(ctx, "")
			if err != nil {
				return stack{}, err
			}
			return stack{known: byWaitingKey(all)}, nil
		}
	}
	return s, nil
}

func (a *app) printGroups(out []explained, n counted, wide bool) {
	causes, names := causesShown, namesShown
	if wide {
		causes, names = math.MaxInt, math.MaxInt
	}
	for i, e := range out {
		if i == causes {
			a.printf("… and %s more: `armature why -o wide`\n", count(len(out)-i, "cause"))
			break
		}
		a.printf("%s\n", e.Text)
		if e.Count == 1 && !e.Waiting {
			continue
		}
		var shown []string
		for _, id := range e.Resources[:min(names, len(e.Resources))] {
			shown = append(shown, id.Short())
		}
		line := strings.Join(shown, ", ")
		if more := e.Count - len(shown); more > 0 {
			line += fmt.Sprintf(", … and %d more", more)
		}
		a.printf("  %s\n", line)
	}
	switch {
	case n.total == 0:
		a.note("nothing is managed here")
	case len(out) == 0:
		a.printf("nothing is in the way: %s Ready\n", isAre(n.total, "resource"))
	default:
		a.printf("%d of %s Ready\n", n.ready, isAre(n.total, "resource"))
	}
	if n.several > 0 {
		a.printf("%s counted under more than one cause\n", isAre(n.several, "resource"))
	}
}

// causeText is the sentence about a cause.
func (a *app) causeText(e explained) string {
	switch {
	case e.Cause == nil:
		return waitFor(e.Count) + " something that is not managed; `armature describe " + e.first + "` names it"
	case len(e.Cause.Cycle) > 0:
		return fmt.Sprintf("%s held up by %s", isAre(e.Count, "resource"), a.rootText(e.Cause, ": "))
	case e.Waiting:
		return waitFor(e.Count) + " " + a.rootText(e.Cause, ": ")
	case e.Count == 1:
		return "1 resource: " + a.rootText(e.Cause, " ")
	}
	return fmt.Sprintf("%s like %s", isAre(e.Count, "resource"), a.rootText(e.Cause, ": "))
}

// waitFor is "1 resource waits for", "2 resources wait for".
func waitFor(n int) string {
	if n == 1 {
		return "1 resource waits for"
	}
	return count(n, "resource") + " wait for"
}
