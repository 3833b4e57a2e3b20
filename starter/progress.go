package main

import (
	"fmt"
	"os"
	"strings"
	"time"

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

// brief is state for a line of a terminal, where the message needs the room of
// the reason.
func (p *progress) brief(o outcome) string {
	message := o.view.condition(p.app.now()).Message
	if o.hopeless != "" {
		message = o.hopeless
	}
	if message == "" || o.done {
		return phaseWord(o.view)
	}
	return phaseWord(o.view) + ": " + message
}

// draw replaces the block: first what is not settled, as much as fits.
func (p *progress) draw(outcomes []outcome) {
	width, height := p.size()
	nameWidth := 0
	done := 0
	for _, o := range outcomes {
		nameWidth = max(nameWidth, len([]rune(described(o.view.ID))))
		if o.done {
			done++
		}
	}
	nameWidth = min(nameWidth, width/2)
	var lines []string
	for _, settled := range []bool{false, true} {
		for _, o := range outcomes {
			if o.settled() != settled {
				continue
			}
			name := fmt.Sprintf("%-*s  ", nameWidth, cut(described(o.view.ID), nameWidth))
			lines = append(lines, name+p.app.paint(cut(p.brief(o), max(10, width-nameWidth-3)), o.view))
		}
	}
	if room := max(1, height-3); len(lines) > room {
		lines = append(lines[:room], fmt.Sprintf("… and %d more", len(lines)-room))
	}
	lines = append(lines, fmt.Sprintf("%d of %d %s", done, len(outcomes), p.goal.word()))
	up := ""
	if p.drawn > 0 {
		up = fmt.Sprintf("\x1b[%dA\r", p.drawn)
	}
	p.app.printf("%s\x1b[J%s\n", up, strings.Join(lines, "\n"))
	p.drawn = len(lines)
}

// size is the size of the terminal in characters.
func (p *progress) size() (width, height int) {
	if file, ok := p.app.out.(*os.File); ok {
		if width, height, err := term.GetSize(int(file.Fd())); err == nil && width > 0 && height > 0 {
			return width, height
		}
	}
	return 80, 24
}
