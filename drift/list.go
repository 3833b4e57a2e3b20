package drift

import (
	"strings"

	"github.com/armature-io/armature/resource"
)

// matching pairs desired list elements with observed ones.
type matching struct {
	// key is the property that identifies the elements, "" if there is none.
	key string
	// observed[i] is the index of the element that matches desired element i, or
	// -1.
	observed []int
}

// step returns the path step of desired element i: its key if the key may be
// displayed, else its index.
func (m matching) step(i int, item any) resource.Step {
	value := keyOf(item, m.key)
	if m.key == "" || value == "" || resource.SecretName(m.key) || strings.ContainsAny(value, "]") {
		return resource.Step{Index: i, IsIndex: true}
	}
	return resource.Step{Key: m.key, Value: value}
}

// matchItems pairs the elements of two lists of objects: by the key that identifies
// all of them on both sides, if there is one, else each desired element with an equal
// observed one and the rest by order. Other writers added the observed elements that
// remain.
func matchItems(key string, desired, observed []any, equal func(desired, observed any) bool) matching {
	if key != "" {
		return matching{key: key, observed: matchByKey(desired, observed, key)}
	}
	return matching{observed: matchByValue(desired, observed, equal)}
}

func matchByKey(desired, observed []any, key string) []int {
	indexes := make(map[string]int, len(observed))
	for i, item := range observed {
		value := normalKey(key, keyText(item, key))
		if _, taken := indexes[value]; !taken {
			indexes[value] = i
		}
	}
	matched := make([]int, len(desired))
	for i, item := range desired {
		at, ok := indexes[normalKey(key, keyText(item, key))]
		if !ok {
			at = -1
		}
		matched[i] = at
	}
	return matched
}

// maxPairing bounds the comparison of elements without a key: longer lists are
// paired by order.
const maxPairing = 100

func matchByValue(desired, observed []any, equal func(desired, observed any) bool) []int {
	matched := make([]int, len(desired))
	taken := make(map[int]bool, len(observed))
	for i, item := range desired {
		matched[i] = -1
		if len(desired) > maxPairing || len(observed) > maxPairing {
			continue
		}
		for offset := range observed {
			at := (i + offset) % len(observed)
			if !taken[at] && equal(item, observed[at]) {
				matched[i], taken[at] = at, true
				break
			}
		}
	}
	next := 0
	for i := range desired {
		if matched[i] >= 0 {
			continue
		}
		for next < len(observed) && taken[next] {
			next++
		}
		if next < len(observed) {
			matched[i], taken[next] = next, true
		}
	}
	return matched
}

// identifyingKey returns the property with a different non-empty string in every
// desired element that is present in every observed one: name, id, key, or a name
// that ends with one of these words. It returns "" if there is none.
func identifyingKey(desired, observed []any) string {
	if len(desired) == 0 || len(observed) == 0 {
		return ""
	}
	first, _ := desired[0].(map[string]any)
	best, rank := "", len(keyWords)
	for name := range inOrder(first) {
		if r := keyRank(name); r < rank && identifies(name, desired, true) && identifies(name, observed, false) {
			best, rank = name, r
		}
	}
	return best
}

// keyWords in order of preference: exact names first, then suffixes.
var keyWords = [...]string{"name", "id", "key", "*name", "*id", "*key"}

func keyRank(name string) int {
	lower := strings.ToLower(name)
	for rank, word := range keyWords {
		if suffix, isSuffix := strings.CutPrefix(word, "*"); isSuffix && strings.HasSuffix(lower, suffix) || lower == word {
			return rank
		}
	}
	return len(keyWords)
}

func identifies(name string, items []any, unique bool) bool {
	var seen map[string]bool
	if unique {
		seen = make(map[string]bool, len(items))
	}
	for _, item := range items {
		value := normalKey(name, keyOf(item, name))
		if value == "" || seen[value] {
			return false
		}
		if unique {
			seen[value] = true
		}
	}
	return true
}

// keyOf returns the identifying string of an element, or "".
func keyOf(item any, key string) string {
	object, _ := item.(map[string]any)
	value, _ := resource.Step{Name: key}.Get(object)
	text, _ := value.(string)
	return text
}

// normalKey returns one spelling for all spellings of a key: IDs and names ignore
// case in ARM, and a key may be a location.
func normalKey(name, value string) string {
	value = strings.ToLower(value)
	if isLocationName(name) {
		return strings.ReplaceAll(value, " ", "")
	}
	return value
}

func allObjects(items []any) bool {
	for _, item := range items {
		if _, ok := item.(map[string]any); !ok {
			return false
		}
	}
	return true
}
