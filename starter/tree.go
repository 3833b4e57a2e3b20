package main

import (
	"slices"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// row is one line of a tree: the position of its outcome, what is drawn before
// its name, and whether it stands below its owner.
type row struct {
	at     int
	prefix string
	owned  bool
}

// tree lays outcomes out by owner, else by the first other resource here that
// they need; choose says which are shown, by position.
func tree(outcomes []outcome, choose []int) []row {
	positions := make(map[string]int, len(choose))
	for _, i := range choose {
		if id := outcomes[i].view.ID; !id.IsZero() {
			positions[workflows.WaitingKey(id)] = i
		}
	}
	parent := make(map[int]int, len(choose))
	owned := map[int]bool{}
	for _, i := range choose {
		if at, ok := above(outcomes[i].view, positions); ok {
			parent[i], owned[i] = at, true
		}
	}
	for _, i := range choose {
		if _, has := parent[i]; has {
			continue
		}
		for _, key := range needKeysOf(outcomes[i].view) {
			if at, here := positions[key]; here && at != i && !descends(parent, at, i) {
				parent[i] = at
				break
			}
		}
	}
	children := map[int][]int{}
	var roots []int
	for _, i := range choose {
		if at, has := parent[i]; has {
			children[at] = append(children[at], i)
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
			rows = append(rows, row{at: i, prefix: indent + branch, owned: owned[i]})
			draw(children[i], indent+below, false)
		}
	}
	draw(roots, "", true)
	return rows
}

// above is the nearest owner that is shown.
func above(v view, positions map[string]int) (int, bool) {
	for id := v.ID.Owner(); !id.IsZero(); id = id.Owner() {
		if at, here := positions[workflows.WaitingKey(id)]; here {
			return at, true
		}
	}
	return 0, false
}

// needKeysOf are the keys of what a view needs, in its order where it tells it.
func needKeysOf(v view) []string {
	if len(v.Needs) == 0 {
		return v.known.Needs
	}
	keys := make([]string, len(v.Needs))
	for i, id := range v.Needs {
		keys[i] = workflows.WaitingKey(id)
	}
	return keys
}

// descends reports whether a position stands below another one.
func descends(parent map[int]int, at, below int) bool {
	for {
		if at == below {
			return true
		}
		next, has := parent[at]
		if !has {
			return false
		}
		at = next
	}
}

// chosen are the positions of at most so many outcomes, in order: first what
// holds others up, then what waits for one of these, then what is settled.
func chosen(outcomes []outcome, most int) []int {
	unsettled := map[string]bool{}
	for _, o := range outcomes {
		if !o.settled() {
			unsettled[o.view.ID.Key()] = true
		}
	}
	rank := func(i int) int {
		o := outcomes[i]
		switch {
		case o.done:
			return 2
		case o.hopeless == "" && slices.ContainsFunc(o.view.WaitingFor, func(id resource.ID) bool { return unsettled[id.Key()] }):
			return 1
		}
		return 0
	}
	order := make([]int, len(outcomes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return rank(a) - rank(b) })
	order = order[:min(most, len(order))]
	slices.Sort(order)
	return order
}
