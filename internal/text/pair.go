package text

// contextShown is the number of equal characters that CutPair shows before the first one
// that differs.
const contextShown = 30

// CutPair shortens two texts to at most maxRunes characters each, 60 or more. Both then
// begin at the same place and show where they differ first: different texts never become
// equal. An ellipsis stands for what is left out on either side.
func CutPair(a, b string, maxRunes int) (shortA, shortB string) {
	left, right := []rune(a), []rune(b)
	longest := max(len(left), len(right))
	if longest <= maxRunes {
		return a, b
	}
	same := 0
	for same < min(len(left), len(right)) && left[same] == right[same] {
		same++
	}
	// Where the texts end soon, there is room for more of what comes before.
	begin := max(0, min(same-contextShown, longest-maxRunes+1))
	return cutFrom(left, begin, maxRunes), cutFrom(right, begin, maxRunes)
}

// cutFrom returns at most maxRunes characters from a position.
func cutFrom(runes []rune, begin, maxRunes int) string {
	if begin == 0 {
		return Cut(string(runes), maxRunes)
	}
	return Cut("…"+string(runes[min(begin, len(runes)):]), maxRunes)
}
