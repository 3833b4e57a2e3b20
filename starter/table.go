package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/armature-io/armature/workflows"
	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// messageMax is how much of the message a table shows, in characters; wide
// shows all of it.
const messageMax = 60

// table writes a line for each view, and on a terminal as much of each as its
// width has room for.
func (a *app) table(views []view, wide bool) error {
	if len(views) == 0 {
		a.note("nothing is managed here; `armature apply -f PATH` begins")
		return nil
	}
	width, _ := a.size()
	switch {
	case wide:
		a.printf("%s", a.wideTable(views))
	case a.terminal:
		a.printf("%s", a.fittingTable(views, width))
	default:
		a.printf("%s", a.tableText(views, fullLayout()))
	}
	return nil
}

// widest is the width of the widest line in columns of a terminal.
func widest(lines string) int {
	most := 0
	for _, line := range strings.Split(lines, "\n") {
		most = max(most, text.StringWidthWithoutEscSequences(line))
	}
	return most
}

// wideTable has a column for whatever there is to know, however long.
func (a *app) wideTable(views []view) string {
	w := table.NewWriter()
	w.AppendHeader(table.Row{"NAME", "TYPE", "PHASE", "REASON", "SINCE", "NEXT-TRY", "WAITS-FOR", "POLICY", "INTERVAL", "GENERATION", "PASS", "API-VERSION", "MESSAGE", "ID"})
	now := a.now()
	for _, v := range views {
		c := v.condition(now)
		w.AppendRow(table.Row{
			v.called(), v.ID.Type(), a.phase(v), string(c.Reason), since(c.LastTransitionTime, now), until(v.nextTry(), now),
			v.waitsFor(), string(v.Policy), interval(v.Interval), fmt.Sprint(v.Generation), fmt.Sprint(v.Pass), v.APIVersion,
			cut(c.Message, 10*messageMax), v.ID.String(),
		})
	}
	return plainText(w)
}

// plainText draws a table without what would only fill the ends of its lines.
func plainText(w table.Writer) string {
	w.SetStyle(plainStyle())
	var b strings.Builder
	for _, line := range strings.Split(w.Render(), "\n") {
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

// waitsFor is the name of the first resource that a view waits for, and how many
// more there are.
func (v view) waitsFor() string {
	switch n := len(v.WaitingFor); {
	case n == 0 || v.Gone:
		return "-"
	case n > 1:
		return fmt.Sprintf("%s +%d", v.WaitingFor[0].Short(), n-1)
	}
	return v.WaitingFor[0].Short()
}

// columnGap is what stands between two columns.
const columnGap = "  "

// plainStyle is columns of text, two blanks apart: easy to read and to cut.
func plainStyle() table.Style {
	style := table.StyleDefault
	style.Name = "plain"
	style.Box.PaddingLeft, style.Box.PaddingRight = "", columnGap
	style.Options = table.OptionsNoBordersAndSeparators
	style.Format.Header = text.FormatDefault
	return style
}

// phase is phaseWord, colored by what it asks for, with a question mark where
// no worker confirmed it.
func (a *app) phase(v view) string {
	word := phaseWord(v)
	if v.Stale && !v.Gone {
		word += "?"
	}
	if v.Overdue && !v.Gone {
		word += " (overdue)"
	}
	return a.paint(word, v)
}

// phaseWord is the phase of a view for people. What a deletion or a pause
// overrules is not shown, and a run that ended on its own (--once) says so.
func phaseWord(v view) string {
	switch {
	case v.detached():
		return "Detached"
	case v.Gone && (v.Deleted || v.Ended == ""):
		return "Gone"
	case v.Gone:
		return string(v.Phase) + " (ended)"
	case v.Deleting:
		return string(workflows.PhaseDeleting)
	case v.Paused:
		return string(workflows.PhasePaused)
	}
	return string(v.Phase)
}

// paint colors a word: green is Ready, red needs somebody, yellow waits.
func (a *app) paint(word string, v view) string {
	if !a.color {
		return word
	}
	color := text.FgYellow
	switch {
	case v.Condition.Ready && !v.Paused && !v.Deleting && v.Operation == "":
		color = text.FgGreen
	case v.Phase == workflows.PhaseFailed || v.Overdue:
		color = text.FgRed
	}
	return color.EscapeSeq() + word + text.Reset.EscapeSeq()
}

// shown is a view for machines: the status with durations as text.
type shown struct {
	workflows.Status
	Interval string `json:"interval"`
	// Stale: from search attributes, because no worker answered.
	Stale bool `json:"stale,omitempty"`
	// Stuck says in words that its workflow task fails.
	Stuck string `json:"stuck,omitempty"`
	// Ended is how the workflow ended, where it does not run any more.
	Ended string `json:"ended,omitempty"`
}

func shownOf(views []view) []shown {
	out := make([]shown, len(views))
	for i, v := range views {
		out[i] = shown{Status: v.Status, Interval: interval(v.Interval), Stale: v.Stale, Stuck: v.known.Stuck, Ended: v.Ended}
	}
	return out
}

func interval(d time.Duration) string {
	if d == 0 {
		return "0"
	}
	return span(d)
}
