// Package cells has the parts that the tables of perturbations share: which cells run, how many
// there are, and bodies of resources that two runs can compare. It must not know how a cell runs.
package cells

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/armature-io/armature/internal/testonly/sample"
)

// Name returns the name of a cell, without its harness: a kind of pass, a point of its run and a
// disturbance.
func Name(kind string, point fmt.Stringer, disturbance string) string {
	return fmt.Sprintf("%s/%s/%s", kind, strings.ReplaceAll(point.String(), "/", ":"), disturbance)
}

// Variable is the environment variable with the pattern of the cells that run.
const Variable = "PERTURB"

// Selected returns which cells run, by their names: those that match PERTURB, and without it one
// of every cells, which the seed of all samples chooses.
func Selected(t *testing.T, every uint32) func(name string) bool {
	t.Helper()
	if selected := os.Getenv(Variable); selected != "" {
		pattern, err := regexp.Compile(selected)
		if err != nil {
			t.Fatal(err)
		}
		return pattern.MatchString
	}
	t.Logf("one cell of %d: make perturb SEED=%q repeats a tenth, make perturb runs all", every, os.Getenv(sample.SeedVariable))
	return func(name string) bool { return sample.Chosen(every, name) }
}

// Tally counts cells. The zero value is empty.
type Tally struct {
	mu sync.Mutex
	by map[string]map[string]int
}

// Columns are the columns of a [Tally] in order.
const (
	Run    = "run"
	Missed = "missed"
	All    = "all"
)

// Add counts a cell in a column, for its harness, kind and disturbance.
func (t *Tally) Add(column, harness, kind, disturbance string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.by == nil {
		t.by = map[string]map[string]int{}
	}
	for _, row := range []string{"harness: " + harness, "kind: " + kind, "disturbance: " + disturbance} {
		if t.by[row] == nil {
			t.by[row] = map[string]int{}
		}
		t.by[row][column]++
	}
}

// Count returns the number of cells of a harness in a column.
func (t *Tally) Count(column, harness string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.by["harness: "+harness][column]
}

// String returns the table of counts.
func (t *Tally) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	columns := []string{Run, Missed, All}
	var b strings.Builder
	fmt.Fprintf(&b, "%-60s", "cells")
	for _, column := range columns {
		fmt.Fprintf(&b, " %6s", column)
	}
	for _, row := range slices.Sorted(maps.Keys(t.by)) {
		fmt.Fprintf(&b, "\n%-60s", row)
		for _, column := range columns {
			fmt.Fprintf(&b, " %6d", t.by[row][column])
		}
	}
	return b.String()
}
