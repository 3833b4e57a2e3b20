// Package nearest finds the known name that a misspelled one stands for. It
// imports nothing of this module, so that every package may suggest a name by the
// same rule.
package nearest

import (
	"slices"
	"strings"
)

// Match returns the candidate with the smallest edit distance to name, ignoring
// case, or "" if none is close enough: at most a third of the bytes of name may
// differ, or one byte of a short name. The first of equally close candidates wins.
func Match(name string, candidates []string) string {
	best, bestDistance := "", max(len(name)/3, 1)+1
	for _, candidate := range candidates {
		if d := Distance(strings.ToLower(name), strings.ToLower(candidate)); d < bestDistance {
			best, bestDistance = candidate, d
		}
	}
	return best
}

// Suggest returns " (did you mean X?)" for the candidate that Match finds, or "".
func Suggest(name string, candidates []string) string {
	if match := Match(name, candidates); match != "" {
		return " (did you mean " + match + "?)"
	}
	return ""
}

// Distance returns the edit distance of two texts in bytes: insertions, deletions,
// replacements and swaps of neighbors.
func Distance(a, b string) int {
	var previous []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		beforePrevious := previous
		previous = slices.Clone(row)
		row[0] = i + 1
		for j := range len(b) {
			cost := previous[j]
			if a[i] != b[j] {
				cost++
			}
			row[j+1] = min(cost, row[j]+1, previous[j+1]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], beforePrevious[j-1]+1)
			}
		}
	}
	return row[len(b)]
}
