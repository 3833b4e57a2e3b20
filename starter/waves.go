package main

import (
	"slices"

	"github.com/armature-io/armature/workflows"
)

// deletionWaves sorts records for a deletion: the positions of those that nothing here
// needs, then of those that only these need, and so on. What needs each other in
// a ring comes last, together.
func deletionWaves(records []record) [][]int {
	positions := make(map[string]int, len(records))
	for i, r := range records {
		positions[selfKey(r)] = i
	}
	needed := make([]int, len(records))
	below := make([][]int, len(records))
	for i, r := range records {
		for _, key := range needKeys(r) {
			if at, here := positions[key]; here && at != i {
				needed[at]++
				below[i] = append(below[i], at)
			}
		}
	}
	var list [][]int
	left := len(records)
	var wave []int
	for i := range records {
		if needed[i] == 0 {
			wave = append(wave, i)
		}
	}
	for len(wave) > 0 {
		list = append(list, wave)
		left -= len(wave)
		var next []int
		for _, i := range wave {
			for _, at := range below[i] {
				if needed[at]--; needed[at] == 0 {
					next = append(next, at)
				}
			}
		}
		slices.Sort(next)
		wave = next
	}
	if left > 0 {
		list = append(list, ringed(needed))
	}
	return list
}

// ringed are the positions that no wave reached.
func ringed(needed []int) []int {
	var rest []int
	for i, n := range needed {
		if n > 0 {
			rest = append(rest, i)
		}
	}
	return rest
}

// needKeys are the keys of what a record needs, each once: what its search
// attribute says, and its owner.
func needKeys(r record) []string {
	keys := slices.Clone(r.Needs)
	if owner := r.ID.Owner(); !owner.IsZero() {
		keys = append(keys, workflows.WaitingKey(owner))
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}
