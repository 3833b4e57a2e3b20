package drift

import (
	"encoding/json"
	"fmt"
	"math/big"
	"regexp"

	"github.com/armature-io/armature/internal/jsontree"
	"github.com/armature-io/armature/resource"
)

// rule is one way in which two different values are equivalent.
type rule struct {
	name  string
	equal func(cursor) bool
}

// rules in the order of their evaluation. A new quirk of Azure is a new row, a
// function and a file in testdata. docs/contributing/drift.md has the evidence of each.
var rules = [...]rule{
	{"identity", isIdentity},
	{"not-stated", isWithoutValue},
	{"empty", isEmptyOnBothSides},
	{"number", isSameNumber},
	{"location", isSameLocation},
	{"resource-id", isSameResourceID},
	{"relative-id", isRelativeID},
	{"resource-type", isSameResourceType},
	{"url", isSameURL},
	{"slash", isSamePath},
	{"time", isSameTime},
	{"duration", isSameDuration},
	{"address", isSameAddress},
	{"markup", isSameMarkup},
	{"json", isSameJSON},
	{"line-ends", isSameLines},
	{"guid-case", isSameGUID},
	{"boolean-text", isSameBoolean},
	{"enum-case", isSameEnum},
	{"enum-words", isSameEnumWords},
	{"alias", isAlias},
}

// equal evaluates the rules after the plain comparison, which decides most values.
func equal(p cursor) bool {
	switch desired := p.desired.(type) {
	case string:
		if observed, ok := p.observed.(string); ok && observed == desired {
			return true
		}
	case bool:
		if observed, ok := p.observed.(bool); ok && observed == desired {
			return true
		}
	case json.Number:
		if observed, ok := p.observed.(json.Number); ok && observed == desired {
			return true
		}
	}
	for i := range rules {
		if rules[i].equal(p) {
			return true
		}
	}
	return false
}

// isIdentity reports whether the value is part of the resource's address or set by
// ARM: name, id and type at the top, which the GET spells differently
// ("cluster/db"), etag and systemData.
func isIdentity(p cursor) bool {
	return len(p.path) == 1 && setByARM(p.path[0].Name)
}

// isWithoutValue reports whether desired is an element of a list without a value, which
// leaves it to Azure. A property that is null is stated: it is to be absent.
func isWithoutValue(p cursor) bool {
	return p.desired == nil && len(p.path) > 0 && p.path[len(p.path)-1].Name == ""
}

// isReference reports whether a value refers to another resource.
func isReference(value any) bool {
	text, isText := value.(string)
	if object, isMap := value.(map[string]any); isMap {
		_, id, _ := jsontree.Member(object, "id")
		text, isText = id.(string)
	}
	return isText && isFullID(text)
}

func isMarker(value any) bool {
	object, ok := value.(map[string]any)
	_, marked := object[resource.SecretMarker]
	return ok && marked
}

// isEmptyOnBothSides reports whether both values are empty. An empty list or object
// against a non-empty one remains a difference.
func isEmptyOnBothSides(p cursor) bool {
	if len(p.path) == 0 {
		return false
	}
	return isUnset(p.desired) && (!p.present || isEmpty(p.observed) || p.desired == nil && p.observed == "")
}

func isUnset(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case []any:
		return len(v) == 0
	case map[string]any:
		for _, member := range v {
			if !isUnset(member) {
				return false
			}
		}
		return true
	}
	return false
}

func isEmpty(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

// isSameNumber reports whether both numbers are equal: 1, 1.0 and 1e0 are.
func isSameNumber(p cursor) bool {
	a, okA := number(p.desired)
	b, okB := number(p.observed)
	return okA && okB && a.Cmp(b) == 0
}

func number(value any) (*big.Rat, bool) {
	var text string
	switch v := value.(type) {
	case json.Number:
		text = v.String()
	case int, int64, float64:
		text = fmt.Sprint(v)
	}
	// An exponent of many digits would create a number of as many; such a text is
	// compared unchanged.
	if text == "" || len(text) > 40 || hugeExponent.MatchString(text) {
		return nil, false
	}
	return new(big.Rat).SetString(text)
}

var hugeExponent = regexp.MustCompile(`[eE][+-]?\d{3,}`)
