package worlds

import "slices"

// shrink returns the steps of a failing script that it needs to fail: it leaves out halves,
// quarters and so on to single steps, if the rest fails too, until more returns false.
func shrink(s script, more func() bool, fails func(script) bool) script {
	for size := (len(s) + 1) / 2; size > 0; {
		shorter := false
		for from := 0; from < len(s); {
			rest := slices.Delete(slices.Clone(s), from, min(from+size, len(s)))
			if !more() {
				return s
			}
			if fails(rest) {
				s, shorter = rest, true
				continue
			}
			from += size
		}
		if size == 1 && !shorter {
			break
		}
		size = max(1, size/2)
	}
	return s
}
