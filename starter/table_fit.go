package main

import (
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/armature-io/armature/resource"
)

// layout says which columns a list of resources has and how long their texts
// may be, in characters.
type layout struct {
	without []string
	typeOf  func(resource.ID) string
	// name and reason are the longest ones, 0 = as they are; message is the
	// longest message, 0 = no column for it.
	name, reason, message int
}

// fullLayout is that of a list which nothing bounds.
func fullLayout() layout { return layout{typeOf: resource.ID.Type, message: messageMax} }

// messageLeast is how much of a message is worth a column.
const messageLeast = 20

// narrowLayouts are those that a terminal of a width is tried with, the fullest
// first; the message gets what is left. Phase and reason are in all of them: they
// are what a list is read for.
func narrowLayouts(width int) []layout {
	name := max(12, width/3)
	return []layout{
		{typeOf: kind},
		{without: []string{"TYPE"}},
		{without: []string{"TYPE", "NEXT-TRY"}},
		{without: []string{"TYPE", "NEXT-TRY"}, name: name},
		{without: []string{"TYPE", "NEXT-TRY", "SINCE"}, name: name},
		{without: []string{"TYPE", "NEXT-TRY", "SINCE"}, name: name, reason: max(12, width/4)},
	}
}

// fittingTable is the fullest list that a width has room for, with some words of
// the message if that can be had without cutting a reason. What is too long for
// the narrowest one is cut.
func (a *app) fittingTable(views []view, width int) string {
	lines := a.tableText(views, fullLayout())
	if widest(lines) <= width {
		return lines
	}
	least, now := 1, a.now()
	for _, v := range views {
		least = max(least, min(messageLeast, text.StringWidth(cut(v.condition(now).Message, messageMax))))
	}
	bare := ""
	for _, l := range narrowLayouts(width) {
		lines = a.tableText(views, l)
		taken := widest(lines)
		if room := width - taken - len(columnGap); room >= least && l.reason == 0 {
			l.message = min(room, messageMax)
			return a.tableText(views, l)
		}
		if bare == "" && taken <= width {
			bare = lines
		}
	}
	if bare != "" {
		return bare
	}
	list := strings.Split(lines, "\n")
	for i, line := range list {
		list[i] = text.Snip(line, max(10, width), "…")
	}
	return strings.Join(list, "\n")
}

// tableText is a list by a layout.
func (a *app) tableText(views []view, l layout) string {
	w := table.NewWriter()
	header := []string{"NAME", "TYPE", "PHASE", "REASON", "SINCE", "NEXT-TRY", "MESSAGE"}
	w.AppendHeader(l.row(header, header))
	now := a.now()
	for _, v := range views {
		c := v.condition(now)
		typeName := ""
		if l.typeOf != nil {
			typeName = l.typeOf(v.ID)
		}
		w.AppendRow(l.row(header, []string{
			tailOf(v.called(), l.name), typeName, a.phase(v), headOf(string(c.Reason), l.reason),
			since(c.LastTransitionTime, now), until(v.nextTry(), now), cut(c.Message, l.message),
		}))
	}
	return plainText(w)
}

// row leaves out the columns that the layout has not.
func (l layout) row(header, values []string) table.Row {
	var row table.Row
	for i, value := range values {
		if !slices.Contains(l.without, header[i]) && (l.message > 0 || header[i] != "MESSAGE") {
			row = append(row, value)
		}
	}
	return row
}

// tailOf cuts the front of a long name: its end tells it from its siblings.
func tailOf(name string, most int) string {
	if runes := []rune(name); most > 0 && len(runes) > most {
		return "…" + string(runes[len(runes)-most+1:])
	}
	return name
}

// headOf cuts the end of a long word.
func headOf(word string, most int) string {
	if most == 0 {
		return word
	}
	return cut(word, most)
}
