package main

import (
	"context"
	"slices"
)

// looksMost bounds the resources of one look but the first: each costs a call, and
// another one of the worker where something happened. A stack of a thousand must
// not keep Temporal busy by being watched.
const looksMost = 100

// look refreshes what is not settled yet, what was not looked at for the longest
// time first. While Temporal is out of reach the wait goes on with what it knew.
func (a *app) look(ctx context.Context, b *backend, list []awaited, outcomes []outcome, g goal) error {
	viewer := &viewer{reader: b}
	var due []int
	first := true
	for i, o := range outcomes {
		if !o.settled() {
			due = append(due, i)
		}
		first = first && o.looks == 0
	}
	slices.SortStableFunc(due, func(i, j int) int { return outcomes[i].looks - outcomes[j].looks })
	if !first {
		due = due[:min(looksMost, len(due))]
	}
	err := each(ctx, len(due), parallel, func(ctx context.Context, at int) error {
		i := due[at]
		v, err := viewer.follow(ctx, list[i].record, outcomes[i].view)
		if err != nil {
			return err
		}
		looks := outcomes[i].looks + 1
		outcomes[i] = judge(list[i], v, g)
		outcomes[i].looks = looks
		return nil
	})
	if exitCode(err) == exitUnreachable {
		return nil
	}
	return err
}

func settled(outcomes []outcome) bool {
	for _, o := range outcomes {
		if !o.settled() {
			return false
		}
	}
	return true
}
