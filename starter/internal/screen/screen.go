// Package screen draws the states of resources: lists, pages, trees, outputs and a block that
// is redrawn on a terminal. It reads views and knows neither Temporal nor flags.
package screen

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/workflows"
	"github.com/jedib0t/go-pretty/v6/text"
)

// Painter draws views as of a time.
type Painter struct {
	Now time.Time
	Ink cli.Ink
	// TaskQueue is shown for resources without a known task queue.
	TaskQueue string
}

// phase returns the phase in its color: with a question mark if no worker confirmed
// it, and marked if the resource is overdue.
func (p Painter) phase(v backend.View) string {
	phase := v.PhaseName()
	if v.Stale && !v.Unmanaged && v.Record.Unreadable == "" {
		phase += "?"
	}
	if v.Overdue && !v.Unmanaged {
		phase += " (overdue)"
	}
	return p.paint(phase, v)
}

// paint colors a text: green is Ready, red needs an operator, yellow waits.
func (p Painter) paint(s string, v backend.View) string {
	color := text.FgYellow
	switch {
	case v.Record.Unreadable != "", v.Record.StuckStep != "":
		color = text.FgRed
	case v.Condition.Ready && !v.Paused && !v.Deleting && v.Operation == "":
		color = text.FgGreen
	case v.Phase == workflows.PhaseFailed || v.Overdue:
		color = text.FgRed
	}
	return p.Ink.Paint(color, s)
}

// Summary returns phase, reason and message in one line.
func Summary(v backend.View, now time.Time) string {
	line := v.PhaseName()
	if v.Deleting && v.Condition.Ready && v.Operation == "" && !v.Unmanaged {
		return line // the first pass of the deletion has not ended: the condition is older
	}
	c := v.CurrentCondition(now)
	if c.Reason != "" && string(c.Reason) != line {
		line += "  " + cli.OneLine(string(c.Reason))
	}
	if c.Message != "" {
		line += ": " + cli.OneLine(c.Message)
	}
	return line
}

// ChangeKey returns what must change for a new line in a log. The message is not part
// of it, because it has ages and counts that change with every pass.
func ChangeKey(v backend.View) string {
	return fmt.Sprint(v.Phase, v.Condition.Reason, v.Paused, v.Deleting, v.Unmanaged, v.WaitingFor, v.Operation, v.Record.Unreadable != "", v.Record.StuckStep != "")
}

// Item is a view in JSON and YAML. Its names do not change.
type Item struct {
	workflows.Status
	Interval string `json:"interval"`
	// RetryWithin is in a list instead of the next try.
	RetryWithin backend.Within `json:"retryWithin,omitzero"`
	// Stale means that no worker responded: the item comes from search attributes.
	Stale bool `json:"stale,omitempty"`
	// Stuck describes how the workflow task, or a step of the pass, keeps failing.
	Stuck string `json:"stuck,omitempty"`
	// Unreadable is why its workflow cannot be read here, with the remedy.
	Unreadable string `json:"unreadable,omitempty"`
	// Ended is how the workflow ended, if it no longer runs.
	Ended string `json:"ended,omitempty"`
}

// Items returns views for JSON and YAML.
func Items(views []backend.View) []Item {
	items := make([]Item, len(views))
	for i, v := range views {
		items[i] = Item{Status: v.Status, Interval: interval(v.Interval), RetryWithin: v.Attempt().RetryWithin, Stale: v.Stale, Stuck: cmp.Or(v.Record.Stuck, v.Record.StuckStep), Unreadable: v.Record.Unreadable, Ended: v.Ended}
	}
	return items
}

func interval(d time.Duration) string {
	if d == 0 {
		return "0"
	}
	return cli.Span(d)
}

// Block is a block of lines on a terminal that the next Draw replaces.
type Block struct {
	text   string
	height int
}

// Draw replaces the block. It writes nothing if nothing changed.
func (b *Block) Draw(out io.Writer, ink cli.Ink, lines []string) {
	joined := strings.Join(lines, "\n")
	if joined == b.text {
		return
	}
	up := ""
	if b.height > 0 {
		up = ink.Control(fmt.Sprintf("\x1b[%dA", b.height)) + ink.Control("\r")
	}
	fmt.Fprintf(out, "%s%s%s\n", up, ink.Control("\x1b[J"), joined)
	b.text, b.height = joined, len(lines)
}

// Fit returns a line cut to a number of terminal columns; wide characters take two.
func Fit(line string, columns int) string {
	return text.Snip(cli.OneLine(line), max(1, columns), "…")
}

// Crop returns the lines of a text cut to a terminal.
func Crop(s string, width, height int) []string {
	lines := strings.Split(strings.TrimSuffix(s, "\n"), "\n")
	if maxLines := max(2, height-2); len(lines) > maxLines {
		lines = append(lines[:maxLines-1], fmt.Sprintf("… and %d more lines", len(lines)-maxLines+1))
	}
	for i, line := range lines {
		lines[i] = text.Snip(line, max(10, width-1), "…")
	}
	return lines
}
