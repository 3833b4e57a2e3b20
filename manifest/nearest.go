package manifest

import (
	"slices"
	"strings"
)

// Nearest is the known name that a misspelt one most likely means, "" when none
// is near: at most a third of the letters differ, or one.
func Nearest(name string, known []string) string {
	best, bestDistance := "", max(len(name)/3, 1)+1
	for _, candidate := range known {
		if d := distance(strings.ToLower(name), strings.ToLower(candidate)); d < bestDistance {
			best, bestDistance = candidate, d
		}
	}
	return best
}

// distance is the edit distance (insert, delete, replace, swap of neighbours) of
// two texts in bytes.
func distance(a, b string) int {
	var before []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		older := before
		before = slices.Clone(row)
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], older[j-1]+1)
			}
		}
	}
	return row[len(b)]
}
