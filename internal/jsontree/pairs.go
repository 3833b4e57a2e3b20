package jsontree

import (
	"slices"
	"strings"

	"github.com/armature-io/armature/resource"
)

// Pairs are the items of a list (own) with their counterparts in another list.
type Pairs struct {
	// Key is the property that identifies the items of both lists. It is "" if there is
	// none: the items are then paired by content and order, which is a guess.
	Key string
	// At has the index of the counterpart of each own item, or -1.
	At []int
	// others is the length of the other list.
	others int
}

// Pair pairs the items of two lists. Objects are paired by the key that identifies all of
// them on both sides, if there is one (known is a key to try if no name does), else each
// own item with an equal one, and the rest by order. Other lists are paired by position.
// If there is no own list (nil), the key is the one of the others alone.
func Pair(own, others []any, known string, equal func(own, other any) bool) Pairs {
	p := Pairs{Key: keyOf(own, others, known), others: len(others)}
	switch {
	case p.Key != "":
		p.At = pairByKey(own, others, p.Key)
	case Objects(own):
		p.At = pairByContent(own, others, equal)
	default:
		p.At = pairByPosition(own, others)
	}
	return p
}

func keyOf(own, others []any, known string) string {
	if own == nil {
		own = others
	}
	if key := identifyingKey(own, others); key != "" || known == "" {
		return key
	}
	if !identified(own, known) || !identified(others, known) {
		return ""
	}
	return known
}

func pairByPosition(own, others []any) []int {
	at := slices.Repeat([]int{-1}, len(own))
	for i := range min(len(own), len(others)) {
		at[i] = i
	}
	return at
}

// Of returns the index of the counterpart of each item of the other list, or -1.
func (p Pairs) Of() []int {
	of := slices.Repeat([]int{-1}, p.others)
	for i, at := range p.At {
		if at >= 0 {
			of[at] = i
		}
	}
	return of
}

// Step returns the path step of the item with index i: its key if the key may be shown,
// else its index.
func (p Pairs) Step(i int, item any) resource.Step {
	if p.Key != "" && !resource.SecretName(p.Key) {
		if text := resource.KeyText(item, p.Key); text != "" && !strings.Contains(text, "]") {
			return resource.Step{Key: p.Key, Value: text}
		}
	}
	return resource.Step{Index: i, IsIndex: true}
}

func pairByKey(own, others []any, key string) []int {
	indexes := make(map[string]int, len(others))
	for i, item := range others {
		value := resource.ItemKey(item, key)
		if _, taken := indexes[value]; !taken {
			indexes[value] = i
		}
	}
	at := make([]int, len(own))
	for i, item := range own {
		other, found := indexes[resource.ItemKey(item, key)]
		if !found {
			other = -1
		}
		at[i] = other
	}
	return at
}

// maxCompared bounds the comparison of items without a key: longer lists are paired by
// order.
const maxCompared = 100

func pairByContent(own, others []any, equal func(own, other any) bool) []int {
	at := slices.Repeat([]int{-1}, len(own))
	taken := make([]bool, len(others))
	for i, item := range own {
		if len(own) > maxCompared || len(others) > maxCompared {
			break
		}
		for offset := range others {
			other := (i + offset) % len(others)
			if !taken[other] && equal(item, others[other]) {
				at[i], taken[other] = other, true
				break
			}
		}
	}
	next := 0
	for i := range own {
		for next < len(others) && taken[next] {
			next++
		}
		if at[i] < 0 && next < len(others) {
			at[i], taken[next] = next, true
		}
	}
	return at
}

// identifyingKey returns the property with a different text in every own item that every
// other item has too: name, id, key, a name that ends with one of these words, or the value
// that an item only wraps; "" if there is none.
func identifyingKey(own, others []any) string {
	if len(own) == 0 || len(others) == 0 {
		return ""
	}
	first, _ := own[0].(map[string]any)
	best, rank := "", len(keyWords)
	for name := range Names(first) {
		if r := keyRank(name); r < rank && identifies(name, own, true) && identifies(name, others, false) {
			best, rank = name, r
		}
	}
	return best
}

// keyWords in order of preference: exact names first, then suffixes.
var keyWords = [...]string{"name", "id", "key", "*name", "*id", "*key", "ipaddressorrange", "ipv4address", "service", "value"}

// KeyName reports whether a property of this name may identify an item.
func KeyName(name string) bool { return keyRank(name) < len(keyWords) }

func keyRank(name string) int {
	lower := strings.ToLower(name)
	for rank, word := range keyWords {
		if suffix, isSuffix := strings.CutPrefix(word, "*"); isSuffix && strings.HasSuffix(lower, suffix) || lower == word {
			return rank
		}
	}
	return len(keyWords)
}

// identifies reports whether all items have texts as a key; unique if they differ.
func identifies(key string, items []any, unique bool) bool {
	var seen map[string]bool
	if unique {
		seen = make(map[string]bool, len(items))
	}
	for _, item := range items {
		object, _ := item.(map[string]any)
		value := resource.NormalKey(key, Text(object, key))
		if value == "" || seen[value] {
			return false
		}
		if unique {
			seen[value] = true
		}
	}
	return true
}

// identified reports whether all items have different values of a key, which may be numbers.
func identified(items []any, key string) bool {
	seen := make(map[string]bool, len(items))
	for _, item := range items {
		value := resource.ItemKey(item, key)
		if value == "" || seen[value] {
			return false
		}
		seen[value] = true
	}
	return true
}

// Objects reports whether all items are objects.
func Objects(items []any) bool {
	return !slices.ContainsFunc(items, func(item any) bool {
		_, isObject := item.(map[string]any)
		return !isObject
	})
}
