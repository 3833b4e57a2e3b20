package sample

import (
	"fmt"
	"slices"
	"testing"
)

// TestChosen checks that a seed chooses about a tenth of the names, the same each time, and that
// another seed chooses others.
func TestChosen(t *testing.T) {
	t.Parallel()
	choose := func(seed string) (names []int) {
		for i := range 1000 {
			if chosen(seed, 10, fmt.Sprintf("negate f: n == %d", i)) {
				names = append(names, i)
			}
		}
		return names
	}
	one, other := choose("4beb1be3"), choose("8237a885")
	if len(one) < 70 || len(one) > 130 || !slices.Equal(one, choose("4beb1be3")) {
		t.Errorf("chose %d of 1000", len(one))
	}
	if both := slices.DeleteFunc(slices.Clone(other), func(i int) bool { return !slices.Contains(one, i) }); len(both) > 30 {
		t.Errorf("two seeds share %d of %d", len(both), len(one))
	}
}
