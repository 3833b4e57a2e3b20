package screen

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// Lengths of messages in a table, in characters.
const (
	maxTableMessage = 60
	// minTableMessage is the shortest that is worth a column.
	minTableMessage = 20
)

const columnGap = "  "

// WideTable returns a table with every column, nothing shortened.
func (p Painter) WideTable(views []backend.View) string {
	w := table.NewWriter()
	w.AppendHeader(table.Row{"NAME", "TYPE", "PHASE", "REASON", "SINCE", "NEXT-TRY", "WAITS-FOR", "POLICY", "INTERVAL", "GENERATION", "PASS", "API-VERSION", "DECIDED-BY", "MESSAGE", "ID"})
	names := names(views)
	for i, v := range views {
		c := v.CurrentCondition(p.Now)
		w.AppendRow(table.Row{
			cli.OneLine(names[i]), v.ID.Type(), p.phase(v), cli.OneLine(string(c.Reason)), cli.Ago(c.LastTransitionTime, p.Now), v.Attempt().TryText(p.Now),
			waitsFor(v), string(v.Policy), interval(v.Interval), fmt.Sprint(v.Generation), fmt.Sprint(v.Pass), v.APIVersion, cmp.Or(cli.OneLine(c.Origin), "-"),
			cli.Cut(c.Message, 10*maxTableMessage), v.ID.String(),
		})
	}
	return render(w)
}

// names returns the names of views, behind the resource group where they repeat.
func names(views []backend.View) []string {
	ids, displayed := make([]resource.ID, len(views)), make([]string, len(views))
	for i, v := range views {
		ids[i], displayed[i] = v.ID, v.DisplayName()
	}
	return backend.GroupNames(ids, displayed)
}

// waitsFor returns the name of the first resource that a view waits for, and the
// number of others.
func waitsFor(v backend.View) string {
	switch n := len(v.WaitingFor); {
	case n == 0 || v.Unmanaged:
		return "-"
	case n > 1:
		return fmt.Sprintf("%s +%d", v.WaitingFor[0].Short(), n-1)
	}
	return v.WaitingFor[0].Short()
}

// render draws a table as plain columns, without blanks at the ends of lines.
func render(w table.Writer) string {
	style := table.StyleDefault
	style.Name = "plain"
	style.Box.PaddingLeft, style.Box.PaddingRight = "", columnGap
	style.Options = table.OptionsNoBordersAndSeparators
	style.Format.Header = text.FormatDefault
	w.SetStyle(style)
	var b strings.Builder
	for _, line := range strings.Split(w.Render(), "\n") {
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

// layout chooses the columns of a table and the lengths of their texts.
type layout struct {
	hidden []string
	typeOf func(resource.ID) string
	// name, reason and message are maximal lengths, 0 = unlimited; noMessage hides
	// the message.
	name, reason, message int
	noMessage             bool
}

// Table returns the table for a pipe or a file.
func (p Painter) Table(views []backend.View) string {
	return p.table(views, layout{typeOf: resource.ID.Type, message: maxTableMessage})
}

// FittingTable returns the fullest table for the width of a terminal. Phase and
// reason are never hidden, because they are why a user reads the list. Lines that are
// too long for the narrowest table are cut.
func (p Painter) FittingTable(views []backend.View, width int) string {
	lines := p.Table(views)
	if textWidth(lines) <= width {
		return lines
	}
	minMessage := 1
	for _, v := range views {
		minMessage = max(minMessage, min(minTableMessage, text.StringWidth(cli.Cut(v.CurrentCondition(p.Now).Message, maxTableMessage))))
	}
	name := max(12, width/3)
	withoutMessage := ""
	for _, l := range []layout{
		{},
		{hidden: []string{"TYPE"}},
		{hidden: []string{"TYPE", "NEXT-TRY"}},
		{hidden: []string{"TYPE", "NEXT-TRY"}, name: name},
		{hidden: []string{"TYPE", "NEXT-TRY", "SINCE"}, name: name},
		{hidden: []string{"TYPE", "NEXT-TRY", "SINCE"}, name: name, reason: max(12, width/4)},
	} {
		l.noMessage, l.typeOf = true, cli.Kind
		lines = p.table(views, l)
		free := width - textWidth(lines) - len(columnGap)
		if free >= minMessage && l.reason == 0 {
			l.noMessage, l.message = false, min(free, maxTableMessage)
			return p.table(views, l)
		}
		if withoutMessage == "" && free+len(columnGap) >= 0 {
			withoutMessage = lines
		}
	}
	if withoutMessage != "" {
		return withoutMessage
	}
	list := strings.Split(lines, "\n")
	for i, line := range list {
		list[i] = text.Snip(line, max(10, width), "…")
	}
	return strings.Join(list, "\n")
}

// textWidth returns the width of the widest line, in terminal columns.
func textWidth(lines string) int { return text.LongestLineLen(lines) }

func (p Painter) table(views []backend.View, l layout) string {
	w := table.NewWriter()
	columns := []table.ColumnConfig{
		{Name: "NAME", WidthMax: l.name, WidthMaxEnforcer: cutFront},
		{Name: "REASON", WidthMax: l.reason, WidthMaxEnforcer: cli.Cut},
		{Name: "MESSAGE", Hidden: l.noMessage},
	}
	for _, name := range []string{"TYPE", "NEXT-TRY", "SINCE"} {
		columns = append(columns, table.ColumnConfig{Name: name, Hidden: slices.Contains(l.hidden, name)})
	}
	w.SetColumnConfigs(columns)
	w.AppendHeader(table.Row{"NAME", "TYPE", "PHASE", "REASON", "SINCE", "NEXT-TRY", "MESSAGE"})
	names := names(views)
	for i, v := range views {
		c := v.CurrentCondition(p.Now)
		w.AppendRow(table.Row{
			cli.OneLine(names[i]), l.typeOf(v.ID), p.phase(v), cli.OneLine(string(c.Reason)),
			cli.Ago(c.LastTransitionTime, p.Now), v.Attempt().TryText(p.Now), cli.Cut(c.Message, l.message),
		})
	}
	return render(w)
}

// cutFront cuts the front of a name: its end distinguishes it from its siblings.
func cutFront(name string, maxRunes int) string {
	if runes := []rune(name); len(runes) > maxRunes {
		return "…" + string(runes[len(runes)-maxRunes+1:])
	}
	return name
}
