package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"
)

// progress shows a wait: a block of lines that is redrawn on a terminal, and
// elsewhere one line for each change.
type progress struct {
	app  *app
	goal goal
	// last is the changeKey of what was printed of each resource; drawn the height of the block.
	last  map[int]string
	drawn int
}

func newProgress(a *app, g goal) *progress {
	return &progress{app: a, goal: g, last: map[int]string{}}
}

func (p *progress) show(outcomes []outcome) {
	if p.app.terminal {
		p.draw(outcomes)
		return
	}
	for i, o := range outcomes {
		key := changeKey(o)
		if p.last[i] == key {
			continue
		}
		p.last[i] = key
		p.app.printf("%s  %s  %s\n", p.app.now().Format(time.TimeOnly), described(o.view.ID), p.state(o))
	}
}

// changeKey is what must change for a new line. The message is not in it: it
// tells ages and counts, which change with every pass.
func changeKey(o outcome) string {
	v := o.view
	return fmt.Sprint(v.Phase, v.Condition.Reason, v.Paused, v.Deleting, v.Gone, v.WaitingFor, v.Operation, o.hopeless)
}

// state is what a line tells of one resource.
func (p *progress) state(o outcome) string {
	if o.done && p.goal == goalDeleted {
		return phaseWord(o.view)
	}
	return summary(o.view, p.app.now())
}

// brief is state for a line of a terminal: since when, whom it waits for, and
// the message, where the room of the reason goes.
func (p *progress) brief(o outcome) string {
	v, now := o.view, p.app.now()
	line := phaseWord(v)
	if o.done {
		return line
	}
	c := v.condition(now)
	if v.Operation != "" && !v.Gone {
		c.LastTransitionTime, c.Message = v.OperationSince, "its "+v.Operation+" goes on in Azure"
	}
	if !c.LastTransitionTime.IsZero() && !v.Gone {
		line += " " + span(now.Sub(c.LastTransitionTime))
	}
	message := c.Message
	switch {
	case o.hopeless != "":
		message = o.hopeless
	case len(v.WaitingFor) > 0 && v.Operation == "":
		line += ", waits for " + v.WaitingFor[0].Short()
		if more := len(v.WaitingFor) - 1; more > 0 {
			line += fmt.Sprintf(" and %d more", more)
		}
	}
	if message == "" {
		return line
	}
	return line + ": " + message
}

// draw replaces the block: a tree by owner of as much as fits, first of all what
// holds others up.
func (p *progress) draw(outcomes []outcome) {
	width, height := p.size()
	room := max(1, height-3)
	rows := tree(outcomes, chosen(outcomes, room))
	done, nameWidth := 0, 0
	for _, o := range outcomes {
		if o.done {
			done++
		}
	}
	names := make([]string, len(rows))
	for i, r := range rows {
		id := outcomes[r.at].view.ID
		names[i] = described(id)
		if r.owned {
			names[i] = kind(id) + " " + id.Name()
		}
		names[i] = r.prefix + names[i]
		nameWidth = max(nameWidth, text.StringWidth(names[i]))
	}
	nameWidth = min(nameWidth, width/2)
	lines := make([]string, 0, len(rows)+2)
	for i, r := range rows {
		o := outcomes[r.at]
		name := text.Pad(fit(names[i], nameWidth), nameWidth, ' ')
		lines = append(lines, name+"  "+p.app.paint(fit(p.brief(o), max(10, width-nameWidth-3)), o.view))
	}
	if hidden := len(outcomes) - len(rows); hidden > 0 {
		lines = append(lines, fmt.Sprintf("… and %d more", hidden))
	}
	lines = append(lines, fmt.Sprintf("%d of %d %s", done, len(outcomes), p.goal.word()))
	up := ""
	if p.drawn > 0 {
		up = fmt.Sprintf("\x1b[%dA\r", p.drawn)
	}
	p.app.printf("%s\x1b[J%s\n", up, strings.Join(lines, "\n"))
	p.drawn = len(lines)
}

// fit shortens a text to so many columns of a terminal: wide characters take
// two.
func fit(line string, columns int) string {
	return text.Snip(visible(line), max(1, columns), "…")
}

// size is the size of the terminal in characters.
func (p *progress) size() (width, height int) { return p.app.size() }

// terminalSize is the size of the terminal at standard output.
func terminalSize() (width, height int) {
	if width, height, err := term.GetSize(int(os.Stdout.Fd())); err == nil && width > 0 && height > 0 {
		return width, height
	}
	return 80, 24
}
