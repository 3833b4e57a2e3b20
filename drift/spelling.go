package drift

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/armature-io/armature/resource"
)

// texts are both sides of a place where a rule about the spelling of strings
// may apply: not where people choose the spelling.
func texts(p cursor) (desired, observed string, ok bool) {
	desired, okD := p.desired.(string)
	observed, okO := p.observed.(string)
	return desired, observed, okD && okO && !resource.Masked(observed) && !p.userDefined
}

// isSameLocation: "westus2" is "West US 2", in any property that holds a
// location or region.
func isSameLocation(p cursor) bool {
	a, b, ok := texts(p)
	if !ok || !isLocationName(lastName(p.path)) {
		return false
	}
	return strings.EqualFold(strings.ReplaceAll(a, " ", ""), strings.ReplaceAll(b, " ", ""))
}

// isLocationName reports whether a property holds a location by its name.
func isLocationName(name string) bool {
	lower := strings.ToLower(name)
	return strings.Contains(lower, "location") || strings.Contains(lower, "region")
}

// isSameResourceID: ARM compares IDs ignoring case. A definition that comes with
// Azure lies in the tenant and is seen from every subscription, so both IDs name
// it: role and policy definitions.
func isSameResourceID(p cursor) bool {
	a, b, ok := texts(p)
	if !ok || !isFullID(a) {
		return false
	}
	a, b = strings.ToLower(strings.Trim(a, "/")), strings.ToLower(strings.Trim(b, "/"))
	oneInTenant := strings.HasPrefix(a, "providers/") != strings.HasPrefix(b, "providers/")
	return a == b || oneInTenant && underTenant(a) == underTenant(b)
}

// underTenant takes the subscription from the ID of a resource right below it.
func underTenant(id string) string {
	parts := strings.SplitN(id, "/", 3)
	if len(parts) == 3 && parts[0] == "subscriptions" && strings.HasPrefix(parts[2], "providers/microsoft.authorization/") {
		return parts[2]
	}
	return id
}

func isFullID(text string) bool {
	lower := strings.ToLower(text)
	return strings.HasPrefix(lower, "/subscriptions/") || strings.HasPrefix(lower, "/providers/")
}

// isRelativeID: "/apis" is the full ID of apis below the resource or one of its
// owners.
func isRelativeID(p cursor) bool {
	a, b, ok := texts(p)
	if !ok || p.subject.id.IsZero() || isFullID(a) == isFullID(b) {
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
	for at := p.subject.id; !at.IsZero(); at = at.Owner() {
		if strings.EqualFold(at.String()+relative, strings.TrimSuffix(full, "/")) {
			return true
		}
	}
	return false
}

// isSameResourceType: namespaces, types and the operations on them ignore case
// in ARM, whatever the property is called.
func isSameResourceType(p cursor) bool {
	a, b, ok := texts(p)
	return ok && strings.EqualFold(a, b) && resourceType.MatchString(a)
}

// isSameURL: scheme and host ignore case, an empty path is "/", a default port
// may be left out.
func isSameURL(p cursor) bool {
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
func isSamePath(p cursor) bool {
	a, b, ok := texts(p)
	return ok && strings.HasSuffix(strings.ToLower(lastName(p.path)), "path") &&
		strings.Trim(a, "/") != "" && strings.Trim(a, "/") == strings.Trim(b, "/")
}

// isSameMarkup: markup comes back with other white space between its tags.
func isSameMarkup(p cursor) bool {
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
func isSameEnum(p cursor) bool {
	a, b, ok := texts(p)
	return ok && a != b && strings.EqualFold(a, b) && enumWord.MatchString(a) && !namesSomething(p.path)
}

// isSameEnumWords: a set of words in one string ("SystemAssigned, UserAssigned")
// comes back with other spaces and in the order of the provider's flags.
func isSameEnumWords(p cursor) bool {
	a, b, ok := texts(p)
	if !ok || !strings.Contains(a, ",") || namesSomething(p.path) {
		return false
	}
	wordsA, okA := enumWords(a)
	wordsB, okB := enumWords(b)
	return okA && okB && slices.Equal(wordsA, wordsB)
}

func enumWords(text string) ([]string, bool) {
	words := strings.Split(strings.ToLower(text), ",")
	for i, word := range words {
		words[i] = strings.TrimSpace(word)
		if !plainWord.MatchString(words[i]) {
			return nil, false
		}
	}
	slices.Sort(words)
	return words, true
}

// isSameGUID: hex digits have no case.
func isSameGUID(p cursor) bool {
	a, b, ok := texts(p)
	return ok && guid.MatchString(a) && strings.EqualFold(a, b)
}

// isSameBoolean: a truth value in a string comes back as .NET writes it, "True".
func isSameBoolean(p cursor) bool {
	a, b, ok := texts(p)
	return ok && strings.EqualFold(a, b) && (strings.EqualFold(a, "true") || strings.EqualFold(a, "false"))
}

var (
	spaces       = regexp.MustCompile(`\s+`)
	tagGaps      = regexp.MustCompile(`\s*([<>])\s*`)
	slashGap     = regexp.MustCompile(`\s+/>`)
	enumWord     = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.+-]{0,63}$`)
	plainWord    = regexp.MustCompile(`^[a-z]+$`)
	resourceType = regexp.MustCompile(`^[A-Za-z]+(\.[A-Za-z]+)+(/[A-Za-z]+)+$`)
	guid         = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)
)
