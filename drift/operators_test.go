package drift_test

import (
	"encoding/json"
	"math/big"
	"reflect"
	"strings"
	"unicode"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// mutation is one change of one side.
type mutation struct {
	operator, side    string
	desired, observed map[string]any
	// invisible is the reason why no comparison can detect it.
	invisible string
}

// operator changes a value, or reports that it does not apply; keep = false removes
// the value.
type operator struct {
	name string
	// only is "desired" or "observed" for an operator of one side.
	only   string
	change func(s site, value any) (changed any, keep, applies bool)
}

func operators() []operator {
	return []operator{
		{"another-value", "", anotherValue},
		{"case-of-free-text", "", otherCase},
		{"case-of-free-key", "", otherKeyCase},
		{"scalar-items-swapped", "", swapped},
		{"number-by-one", "", byOne},
		{"string-to-empty", "", toEmpty},
		{"list-to-empty", "", listToEmpty},
		{"list-item-removed", "", lastItemRemoved},
		{"list-item-added", "", itemAdded},
		{"subtree-removed", "observed", subtreeRemoved},
		{"key-removed-from-manifest", "desired", keyRemoved},
	}
}

// mutations returns all changes of one site.
func (s site) mutations() []mutation {
	var all []mutation
	for _, op := range operators() {
		for side, name := range []string{"desired", "observed"} {
			if op.only != "" && op.only != name || side == 1 && !s.shown || !isStated(s.values[0]) {
				continue
			}
			changed, keep, applies := op.change(s, s.values[side])
			if !applies || keep && s.shown && reflect.DeepEqual(changed, s.values[1-side]) {
				continue // it makes both sides equal
			}
			m := mutation{operator: op.name, side: name, desired: s.roots[0], observed: s.roots[1], invisible: s.invisible(op.name, name)}
			root := edited(s.roots[side], s.at[side], func(any) (any, bool) { return changed, keep })
			if side == 0 {
				m.desired = root
			} else {
				m.observed = root
			}
			all = append(all, m)
		}
	}
	return all
}

// invisible returns the reason why no comparison can detect a change, by the rules
// of ARM, or "".
func (s site) invisible(operator, side string) string {
	switch first := strings.ToLower(s.path[0].Name); first {
	case "name", "id", "type", "etag", "systemdata", "apiversion":
		return "the resource's address: ARM takes it from the request"
	}
	name, free := lastNameOf(s.path), underUserKeyedMap(s.path)
	text, isText := s.values[0].(string)
	switch {
	case s.shape != nil && (side == "observed" || operator == "key-removed-from-manifest") && types.OneShotOf(s.shape.Type, s.shape.Version).Cover(s.path):
		return "a creation's: how a resource was made is compared when the manifest changes it"
	case side == "observed" && isText && !free && resource.SecretName(name):
		return "a secret: a GET does not show its value"
	case operator == "case-of-free-text" && !free && len(s.path) > 1 && strings.EqualFold(s.path[len(s.path)-2].Name, "sku"):
		return "Azure defines the names of SKUs"
	case operator == "case-of-free-text" && isText && s.shape != nil && s.shape.IsValue(s.path, text):
		return "a published value of an enumeration: Azure ignores its case"
	case operator == "case-of-free-text" && isText && caseless(text):
		return "IDs, locations, types and GUIDs ignore case in ARM"
	}
	return ""
}

func caseless(text string) bool {
	return strings.HasPrefix(text, "/") || strings.Count(text, "-") == 4 && len(text) == 36
}

func lastNameOf(path resource.Path) string {
	for i := len(path) - 1; i >= 0; i-- {
		if path[i].Name != "" {
			return path[i].Name
		}
	}
	return ""
}

func underUserKeyedMap(path resource.Path) bool {
	for _, step := range path {
		if isUserKeyedMap(step.Name) {
			return true
		}
	}
	return false
}

func anotherValue(s site, value any) (any, bool, bool) {
	switch v := value.(type) {
	case string:
		return v + "x9", true, v != ""
	case bool:
		return !v, true, true
	}
	return nil, true, false
}

// otherCase applies below tags, labels and similar maps, and to names.
func otherCase(s site, value any) (any, bool, bool) {
	text, isText := value.(string)
	name := strings.ToLower(lastNameOf(s.path))
	if !isText || !underUserKeyedMap(s.path) && !strings.HasSuffix(name, "name") || strings.Contains(name, "location") || strings.Contains(name, "region") {
		return nil, true, false
	}
	swapped := strings.Map(func(r rune) rune {
		if unicode.IsUpper(r) {
			return unicode.ToLower(r)
		}
		return unicode.ToUpper(r)
	}, text)
	return swapped, true, swapped != text
}

// otherKeyCase changes the case of one key of a map with user-defined keys.
func otherKeyCase(s site, value any) (any, bool, bool) {
	object, _ := value.(map[string]any)
	if !underUserKeyedMap(s.path) || len(object) == 0 {
		return nil, true, false
	}
	again := make(map[string]any, len(object))
	changed := false
	for i, name := range names(object) {
		if own, _ := s.values[0].(map[string]any); i == 0 && strings.ToUpper(name) != name && isStated(own[name]) {
			again[strings.ToUpper(name)], changed = object[name], true
			continue
		}
		again[name] = object[name]
	}
	return again, true, changed
}

func swapped(_ site, value any) (any, bool, bool) {
	list, _ := value.([]any)
	for i := 1; i < len(list); i++ {
		_, isObject := list[i].(map[string]any)
		if !isObject && !reflect.DeepEqual(list[i], list[i-1]) {
			again := append([]any(nil), list...)
			again[i], again[i-1] = again[i-1], again[i]
			return again, true, true
		}
	}
	return nil, true, false
}

func byOne(_ site, value any) (any, bool, bool) {
	number, isNumber := value.(json.Number)
	sum, ok := new(big.Rat).SetString(string(number))
	if !isNumber || !ok {
		return nil, true, false
	}
	return json.Number(strings.TrimSuffix(sum.Add(sum, big.NewRat(1, 1)).FloatString(2), ".00")), true, true
}

func toEmpty(_ site, value any) (any, bool, bool) {
	text, isText := value.(string)
	return "", true, isText && text != ""
}

func listToEmpty(_ site, value any) (any, bool, bool) {
	list, _ := value.([]any)
	return []any{}, true, len(list) > 0
}

// lastItemRemoved removes the last item of a list that has more than one; a single
// item is listToEmpty's case. In observed it removes an item that desired states.
func lastItemRemoved(s site, value any) (any, bool, bool) {
	own, _ := s.values[0].([]any)
	list, _ := value.([]any)
	if len(list) < 2 || len(own) == 0 {
		return nil, true, false
	}
	at := len(list) - 1
	if !reflect.DeepEqual(own, value) {
		if at = counterpart(own, list, len(own)-1); at < 0 {
			return nil, true, false
		}
	}
	return append(append([]any(nil), list[:at]...), list[at+1:]...), true, true
}

// itemAdded adds an item to a list that the manifest states. Its names are new.
func itemAdded(s site, value any) (any, bool, bool) {
	own, _ := s.values[0].([]any)
	list, _ := value.([]any)
	if len(own) == 0 || len(list) == 0 {
		return nil, true, false
	}
	return append(append([]any(nil), list...), renamed(list[len(list)-1])), true, true
}

func renamed(value any) any {
	switch v := value.(type) {
	case string:
		return v + "x9"
	case map[string]any:
		again := make(map[string]any, len(v))
		for name, member := range v {
			if text, isText := member.(string); isText {
				member = text + "x9"
			}
			again[name] = member
		}
		return again
	}
	return value
}

func subtreeRemoved(_ site, value any) (any, bool, bool) {
	object, _ := value.(map[string]any)
	return nil, false, len(object) > 0
}

// keyRemoved removes a member with a value that is not empty.
func keyRemoved(s site, value any) (any, bool, bool) {
	return nil, false, s.path[len(s.path)-1].Name != "" && isStated(value)
}

func isStated(value any) bool {
	switch v := value.(type) {
	case nil:
		return false
	case map[string]any:
		for _, member := range v {
			if isStated(member) {
				return true
			}
		}
		return false
	case []any:
		for _, item := range v {
			if isStated(item) {
				return true
			}
		}
		return false
	}
	return true
}
