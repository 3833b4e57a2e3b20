package drift

import (
	"encoding/json"
	"fmt"
	"math/big"
	"regexp"
	"strings"

	"github.com/armature-io/armature/resource"
)

// rule is one reason for which two values that are not the same mean the same.
type rule struct {
	name  string
	equal func(place) bool
}

// rules is the table, in the order in which they are asked. A new quirk of
// Azure is a new row, a function and a file in testdata.
func rules() []rule {
	return []rule{
		{"identity", isIdentity},
		{"not-stated", isNotStated},
		{"secret", isSecret},
		{"empty", isEmptyOnBothSides},
		{"number", isSameNumber},
		{"location", isSameLocation},
		{"resource-id", isSameResourceID},
		{"relative-id", isRelativeID},
		{"url", isSameURL},
		{"slash", isSamePath},
		{"time", isSameTime},
		{"markup", isSameMarkup},
		{"guid-case", isSameGUID},
		{"boolean-text", isSameBoolean},
		{"enum-case", isSameEnum},
	}
}

// isIdentity: name, id and type at the top are the resource's address; the GET
// spells them its own way ("cluster/db").
func isIdentity(p place) bool {
	if len(p.path) != 1 {
		return false
	}
	switch strings.ToLower(p.path[0].Name) {
	case "name", "id", "type":
		return true
	}
	return false
}

// isNotStated: null leaves the value to Azure.
func isNotStated(p place) bool { return p.desired == nil && len(p.path) > 0 }

// isSecret: a $secret marker has no value to compare, and Azure leaves secrets
// out of a GET.
func isSecret(p place) bool {
	if isMarker(p.desired) {
		return true
	}
	_, isText := p.desired.(string)
	return isText && (!p.present || p.observed == nil) && resource.SecretName(lastName(p.path)) && !chosenByPeople(p.path)
}

func isMarker(value any) bool {
	object, ok := value.(map[string]any)
	_, marked := object[resource.SecretMarker]
	return ok && marked
}

// isEmptyOnBothSides: what states nothing equals nothing. An empty list or
// object against something that is not empty stays a difference.
func isEmptyOnBothSides(p place) bool {
	if len(p.path) == 0 {
		return false
	}
	return statesNothing(p.desired) && (!p.present || isEmpty(p.observed))
}

func statesNothing(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case []any:
		return len(v) == 0
	case map[string]any:
		if isMarker(v) {
			return true
		}
		for _, member := range v {
			if !statesNothing(member) {
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

// isSameNumber: 1, 1.0 and 1e0 are one number.
func isSameNumber(p place) bool {
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
	// An exponent of many digits would make a number of as many: such a text
	// is compared as it stands.
	if text == "" || len(text) > 40 || hugeExponent.MatchString(text) {
		return nil, false
	}
	return new(big.Rat).SetString(text)
}

var hugeExponent = regexp.MustCompile(`[eE][+-]?\d{3,}`)
