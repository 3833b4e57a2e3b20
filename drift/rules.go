package drift

import (
	"encoding/json"
	"math/big"
	"net/url"
	"regexp"
	"strings"
	"time"

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
	text, ok := value.(json.Number)
	// An exponent of many digits would make a number of as many: such a text
	// is compared as it stands.
	if !ok || len(text) > 40 || hugeExponent.MatchString(string(text)) {
		return nil, false
	}
	return new(big.Rat).SetString(string(text))
}

// texts are both sides of a place where a rule about the spelling of strings
// may apply: not where people choose the spelling.
func texts(p place) (desired, observed string, ok bool) {
	desired, okD := p.desired.(string)
	observed, okO := p.observed.(string)
	return desired, observed, okD && okO && !resource.Masked(observed) && !chosenByPeople(p.path)
}

// isSameLocation: "westus2" is "West US 2", in any property that holds a
// location or region.
func isSameLocation(p place) bool {
	a, b, ok := texts(p)
	name := strings.ToLower(lastName(p.path))
	if !ok || !strings.Contains(name, "location") && !strings.Contains(name, "region") {
		return false
	}
	return strings.EqualFold(strings.ReplaceAll(a, " ", ""), strings.ReplaceAll(b, " ", ""))
}

// isSameResourceID: ARM compares IDs ignoring case.
func isSameResourceID(p place) bool {
	a, b, ok := texts(p)
	return ok && isFullID(a) && strings.EqualFold(strings.TrimSuffix(a, "/"), strings.TrimSuffix(b, "/"))
}

func isFullID(text string) bool {
	lower := strings.ToLower(text)
	return strings.HasPrefix(lower, "/subscriptions/") || strings.HasPrefix(lower, "/providers/")
}

// isRelativeID: "/apis" is the full ID of apis below the resource or one of its
// owners.
func isRelativeID(p place) bool {
	a, b, ok := texts(p)
	if !ok || p.id.IsZero() || isFullID(a) == isFullID(b) {
		return false
	}
	relative, full := a, b
	if isFullID(a) {
		relative, full = b, a
	}
	if !strings.Contains(relative, "/") {
		return false
	}
	relative = "/" + strings.Trim(relative, "/")
	for at := p.id; !at.IsZero(); at = at.Owner() {
		if strings.EqualFold(at.String()+relative, strings.TrimSuffix(full, "/")) {
			return true
		}
	}
	return false
}

// isSameURL: scheme and host ignore case, an empty path is "/", a default port
// may be left out.
func isSameURL(p place) bool {
	a, b, ok := texts(p)
	if !ok || !strings.Contains(a, "://") || !strings.Contains(b, "://") {
		return false
	}
	return normalURL(a) == normalURL(b)
}

func normalURL(text string) string {
	parsed, err := url.Parse(text)
	if err != nil {
		return text
	}
	parsed.Scheme, parsed.Host = strings.ToLower(parsed.Scheme), strings.ToLower(parsed.Host)
	if port := parsed.Port(); parsed.Scheme == "https" && port == "443" || parsed.Scheme == "http" && port == "80" {
		parsed.Host = parsed.Hostname()
	}
	parsed.Path = strings.TrimSuffix(parsed.Path, "/")
	return parsed.String()
}

// isSamePath: slashes at the ends of a path say nothing.
func isSamePath(p place) bool {
	a, b, ok := texts(p)
	return ok && strings.HasSuffix(strings.ToLower(lastName(p.path)), "path") &&
		strings.Trim(a, "/") != "" && strings.Trim(a, "/") == strings.Trim(b, "/")
}

// isSameTime: one instant has many spellings.
func isSameTime(p place) bool {
	a, b, ok := texts(p)
	if !ok || len(a) < len("2006-01-02T15:04:05Z") {
		return false
	}
	atA, errA := time.Parse(time.RFC3339Nano, a)
	atB, errB := time.Parse(time.RFC3339Nano, b)
	return errA == nil && errB == nil && atA.Equal(atB)
}

var (
	spaces       = regexp.MustCompile(`\s+`)
	tagGaps      = regexp.MustCompile(`\s*([<>])\s*`)
	slashGap     = regexp.MustCompile(`\s+/>`)
	enumWord     = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.+-]{0,63}$`)
	hugeExponent = regexp.MustCompile(`[eE][+-]?\d{3,}`)
)

// isSameMarkup: markup comes back with other white space between its tags.
func isSameMarkup(p place) bool {
	a, b, ok := texts(p)
	if !ok || !strings.HasPrefix(strings.TrimSpace(a), "<") || !strings.HasPrefix(strings.TrimSpace(b), "<") {
		return false
	}
	return normalMarkup(a) == normalMarkup(b)
}

func normalMarkup(text string) string {
	text = spaces.ReplaceAllString(text, " ")
	text = slashGap.ReplaceAllString(text, "/>")
	return strings.TrimSpace(tagGaps.ReplaceAllString(text, "$1"))
}

// isSameEnum: words of a fixed vocabulary come back in the provider's case.
// Names and values that people choose keep theirs.
func isSameEnum(p place) bool {
	a, b, ok := texts(p)
	return ok && a != b && strings.EqualFold(a, b) && enumWord.MatchString(a) && !namesSomething(p.path)
}
