package why

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/armature-io/armature/docs"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/workflows"
)

// Bounds of the texts.
const (
	maxMessageRunes = 160
	maxRootsShown   = 4
)

// Text returns the chain as a tree, and a line for each root cause. wide shortens
// nothing.
func (c Chain) Text(now time.Time, wide bool) string {
	p := printer{now: now, wide: wide}
	p.printf("%s\n", p.line(c.Link, 4*maxMessageRunes))
	p.branches(c.Link, "")
	if c.Clear {
		p.printf("nothing blocks %s\n", cli.KindAndName(c.ID))
	}
	for _, owned := range c.Owned {
		p.printf("kept: %s\n", cli.OneLine(owned))
	}
	for i, root := range c.Roots {
		if i == maxRootsShown && !wide {
			p.printf("root cause: … and %d more\n", len(c.Roots)-i)
			break
		}
		p.printf("root cause: %s\n", rootText(root.Link, " ", now))
	}
	var roots []*Link
	for _, root := range c.Roots {
		roots = append(roots, root.Link)
	}
	return p.out.String() + explainText(roots)
}

// printer writes a chain.
type printer struct {
	now  time.Time
	wide bool
	out  strings.Builder
}

func (p *printer) printf(format string, args ...any) { fmt.Fprintf(&p.out, format, args...) }

// branches draws what a link waits for.
func (p *printer) branches(l *Link, indent string) {
	for i, next := range l.WaitsFor {
		branch, below := "├ ", "│ "
		if i == len(l.WaitsFor)-1 && l.More == 0 {
			branch, below = "└ ", "  "
		}
		maxRunes := maxMessageRunes
		if len(next.WaitsFor) == 0 {
			maxRunes *= 4
		}
		p.printf("%s%s%s%s\n", indent, branch, l.Verb(), p.line(next, maxRunes))
		p.branches(next, indent+below)
	}
	if l.More > 0 {
		p.printf("%s└ %s%d more\n", indent, l.Verb(), l.More)
	}
}

// Verb joins a link to what it waits for.
func (l *Link) Verb() string {
	switch l.Reason {
	case resource.ReasonWaitingForSibling:
		return "waits for its turn behind "
	case resource.ReasonWaitingForDependents:
		return "waits for the deletion of "
	case resource.ReasonWaitingForOwnerDelete:
		return "is deleted with "
	}
	return "waits for "
}

// line returns one line of a chain, its message cut unless wide.
func (p *printer) line(l *Link, maxRunes int) string {
	switch {
	case len(l.Cycle) > 0:
		return cli.KindAndName(l.ID) + ": a cycle"
	case l.Cut != "":
		return cli.KindAndName(l.ID) + "  " + l.Cut
	}
	line := cli.KindAndName(l.ID) + "  " + stateText(l, p.now)
	message := joinNonEmpty(": ", string(l.Reason), l.Message)
	if l.Stale || string(l.Reason) == l.State {
		// The reason of a stale link is older than its message, which is about the worker.
		message = l.Message
	}
	if l.Origin != "" && !l.Stale {
		message += " [" + l.Origin + "]"
	}
	if l.WaiterMessage != "" {
		message = joinNonEmpty("; ", message, l.waiter+" reports: "+l.WaiterMessage)
	}
	if p.wide {
		maxRunes = math.MaxInt
	}
	line = joinNonEmpty("  ", line, cli.Cut(message, maxRunes))
	if !l.NoTry() {
		line += "; next try " + l.TryText(p.now)
	}
	return line
}

// stateText returns the state and since when.
func stateText(l *Link, now time.Time) string {
	state := l.State
	if !l.Since.IsZero() {
		state += " since " + cli.Clock(l.Since, now) + " (" + cli.Ago(l.Since, now) + ")"
	}
	if l.Overdue {
		state += ", overdue: not Ready for " + cli.Ago(l.NotReadySince, now)
	}
	return state
}

// joinNonEmpty joins the texts that are not empty.
func joinNonEmpty(separator string, texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(text string) bool { return text == "" }), separator)
}

// rootText returns the sentence about a root cause: what it is and what to do.
// separator is written between its name and its state.
func rootText(l *Link, separator string, now time.Time) string {
	if len(l.Cycle) > 0 {
		return cycleText(l)
	}
	if separator == " " && (l.State == stateNotManaged || l.State == stateDeleted || l.State == stateEnded) {
		separator = " is "
	}
	sentence := cli.KindAndName(l.ID) + separator + stateText(l, now)
	switch paused := l.State == string(workflows.PhasePaused); {
	case l.Reason != "" && paused:
	case l.Reason != "" && !l.Stale && l.Origin != "":
		sentence += " (" + string(l.Reason) + " by " + l.Origin + ")"
	case l.Reason != "" && !l.Stale:
		sentence += " (" + string(l.Reason) + ")"
	case l.Message != "":
		sentence += ", " + cli.Cut(l.Message, maxMessageRunes)
	}
	if l.Similar > 0 {
		sentence += " (and " + cli.Count(l.Similar, "other") + ")"
	}
	if l.WaiterMessage != "" {
		sentence += ", and " + l.waiter + " reports: " + cli.Cut(l.WaiterMessage, maxMessageRunes)
	}
	if !l.NoTry() {
		sentence += ", next try " + l.TryText(now)
	}
	return joinNonEmpty("; ", sentence, l.Advice)
}

// maxReasonsNamed bounds the reasons in the advice below a chain or a list of causes.
const maxReasonsNamed = 3

// explainText returns the line that names where the reasons of root causes are explained,
// "" if they need no action.
func explainText(roots []*Link) string {
	var commands []string
	for _, l := range roots {
		if l == nil || l.Reason == "" || l.Stale || strings.HasPrefix(l.Advice, NoAction) {
			continue
		}
		command := "`armature explain " + string(l.Reason) + "`"
		if _, found := docs.FindReason(string(l.Reason)); found && !slices.Contains(commands, command) {
			commands = append(commands, command)
		}
	}
	if len(commands) == 0 {
		return ""
	}
	return "more: " + strings.Join(commands[:min(maxReasonsNamed, len(commands))], ", ") + "\n"
}

// ExplainText returns the line that names where the reasons of the causes are explained.
func (r Report) ExplainText() string {
	var roots []*Link
	for _, c := range r.Causes {
		roots = append(roots, c.Link)
	}
	return explainText(roots)
}

// cycleText returns the sentence about resources that wait for each other.
func cycleText(l *Link) string {
	if len(l.Cycle) == 1 {
		return l.Cycle[0] + " waits for itself; remove the reference from its manifest and apply it"
	}
	var waits []string
	for i, name := range l.Cycle {
		waits = append(waits, name+" waits for "+l.Cycle[(i+1)%len(l.Cycle)])
	}
	advice := "remove one of these references from its manifest and apply it"
	if l.deleting {
		advice = "run `armature forget` for one, which leaves it in Azure, and delete it there"
	}
	return "a cycle: " + strings.Join(waits, ", ") + "; " + advice
}

// text returns the sentence about a cause.
func (c *Cause) text(now time.Time) string {
	waits := cli.CountOf(c.Count, "resource waits for ", "resources wait for ")
	switch {
	case c.Link == nil:
		return waits + "something that is not managed; `armature describe " + c.members[0].DisplayName() + "` names it"
	case len(c.Link.Cycle) > 0:
		return cli.CountAre(c.Count, "resource") + " blocked by " + cycleText(c.Link)
	case c.Waiting:
		return waits + rootText(c.Link, ": ", now)
	case c.Count == 1:
		return "1 resource: " + rootText(c.Link, " ", now)
	}
	return cli.CountAre(c.Count, "resource") + " like " + rootText(c.Link, ": ", now)
}
