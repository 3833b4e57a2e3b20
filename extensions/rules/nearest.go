package rules

import "strings"

// meant says which known name may have been meant, or "".
func meant(name string, known []string) string {
	best, least := "", 3
	for _, candidate := range known {
		if d := distance(strings.ToLower(name), strings.ToLower(candidate)); d < least {
			best, least = candidate, d
		}
	}
	if best == "" {
		return ""
	}
	return " (is " + best + " meant?)"
}

// distance is how many letters have to be changed, added or left out.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			diagonal, row[j] = row[j], min(row[j]+1, row[j-1]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
