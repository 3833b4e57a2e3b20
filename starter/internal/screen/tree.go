package screen

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/workflows"
	"github.com/jedib0t/go-pretty/v6/text"
)

// Progress is how far one resource of a wait is.
type Progress struct {
	View backend.View
	// Done means that the goal is reached. Blocker is why it will not be reached
	// without the user, "" if it may be.
	Done    bool
	Blocker string
	// Pending is what a Ready resource must still do, "" for every other one.
	Pending string
}

// IsSettled reports whether a wait need not watch the resource any longer.
func (p Progress) IsSettled() bool { return p.Done || p.Blocker != "" }

// Tree returns the lines of a tree for a terminal: as many resources as fit, those
// that block others first.
func (p Painter) Tree(list []Progress, width, height int) []string {
	rows := tree(list, choose(list, max(1, height-3)))
	nameWidth := 0
	names := make([]string, len(rows))
	for i, r := range rows {
		id := list[r.index].View.ID
		names[i] = cli.KindAndName(id)
		if r.owned {
			names[i] = cli.Kind(id) + " " + id.Name()
		}
		names[i] = r.prefix + names[i]
		nameWidth = max(nameWidth, text.StringWidth(names[i]))
	}
	nameWidth = min(nameWidth, width/2)
	lines := make([]string, 0, len(rows)+2)
	for i, r := range rows {
		name := text.Pad(fitName(names[i], nameWidth), nameWidth, ' ')
		lines = append(lines, name+"  "+p.paint(Fit(p.brief(list[r.index]), max(10, width-nameWidth-3)), list[r.index].View))
	}
	if hidden := len(list) - len(rows); hidden > 0 {
		lines = append(lines, fmt.Sprintf("… and %d more", hidden))
	}
	return lines
}

// fitName returns a name cut like Fit, but keeps the blanks that draw the tree.
func fitName(name string, columns int) string { return text.Snip(name, max(1, columns), "…") }

// brief returns a line of the tree: phase, since when, what the resource waits for,
// and the message in place of the reason.
func (p Painter) brief(r Progress) string {
	v := r.View
	line := v.PhaseName()
	if r.Done {
		return line
	}
	c := v.CurrentCondition(p.Now)
	if v.Operation != "" && !v.Unmanaged {
		c.LastTransitionTime, c.Message = v.OperationSince, v.Operation+" in progress in Azure"
	}
	if !c.LastTransitionTime.IsZero() && !v.Unmanaged {
		line += " " + cli.Ago(c.LastTransitionTime, p.Now)
	}
	message := c.Message
	switch {
	case r.Blocker != "" || r.Pending != "":
		message = cmp.Or(r.Blocker, r.Pending)
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

// row is one line of a tree: the index of its resource, the prefix that draws the
// branches, and whether it is below its owner.
type row struct {
	index  int
	prefix string
	owned  bool
}

// tree arranges resources below their owner, or below the first other resource
// that they need. indexes chooses the resources that are shown.
func tree(list []Progress, indexes []int) []row {
	byKey := make(map[string]int, len(indexes))
	for _, i := range indexes {
		if id := list[i].View.ID; !id.IsZero() {
			byKey[workflows.WaitingKey(id)] = i
		}
	}
	parents, owned := make(map[int]int, len(indexes)), map[int]bool{}
	for _, i := range indexes {
		if owner, ok := ownerOf(list[i].View, byKey); ok {
			parents[i], owned[i] = owner, true
		}
	}
	children := map[int][]int{}
	var roots []int
	for _, i := range indexes {
		for _, key := range needKeys(list[i].View) {
			if need, shown := byKey[key]; shown && !owned[i] && need != i && !isBelow(parents, need, i) {
				parents[i] = need
				break
			}
		}
		if parent, ok := parents[i]; ok {
			children[parent] = append(children[parent], i)
		} else {
			roots = append(roots, i)
		}
	}
	var rows []row
	var draw func(list []int, indent string, top bool)
	draw = func(list []int, indent string, top bool) {
		for n, i := range list {
			branch, below := "├ ", "│ "
			if n == len(list)-1 {
				branch, below = "└ ", "  "
			}
			if top {
				branch, below = "", ""
			}
			rows = append(rows, row{index: i, prefix: indent + branch, owned: owned[i]})
			draw(children[i], indent+below, false)
		}
	}
	draw(roots, "", true)
	return rows
}

// ownerOf returns the index of the nearest owner that is shown.
func ownerOf(v backend.View, byKey map[string]int) (int, bool) {
	for id := v.ID.Owner(); !id.IsZero(); id = id.Owner() {
		if index, shown := byKey[workflows.WaitingKey(id)]; shown {
			return index, true
		}
	}
	return 0, false
}

// needKeys returns the keys of what a view needs, in the manifest's order if the
// worker responded.
func needKeys(v backend.View) []string {
	if len(v.Needs) == 0 {
		return v.Record.Needs
	}
	keys := make([]string, len(v.Needs))
	for i, id := range v.Needs {
		keys[i] = workflows.WaitingKey(id)
	}
	return keys
}

// isBelow reports whether an index is below another one, or the same.
func isBelow(parents map[int]int, index, top int) bool {
	for index != top {
		parent, ok := parents[index]
		if !ok {
			return false
		}
		index = parent
	}
	return true
}

// choose returns the indexes of at most maxRows resources, in order: first those
// that may block others, then those that wait for one of these, then those that are
// done.
func choose(list []Progress, maxRows int) []int {
	unsettled := map[string]bool{}
	for _, p := range list {
		if !p.IsSettled() {
			unsettled[p.View.ID.Key()] = true
		}
	}
	rank := func(p Progress) int {
		switch {
		case p.Done:
			return 2
		case p.Blocker == "" && slices.ContainsFunc(p.View.WaitingFor, func(id resource.ID) bool { return unsettled[id.Key()] }):
			return 1
		}
		return 0
	}
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return rank(list[a]) - rank(list[b]) })
	order = order[:min(maxRows, len(order))]
	slices.Sort(order)
	return order
}
