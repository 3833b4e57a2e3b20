package drift

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// texts returns both sides of a cursor if a rule about the spelling of strings may
// apply: both are strings, and users do not choose the spelling.
func texts(p cursor) (desired, observed string, ok bool) {
	desired, okD := p.desired.(string)
	observed, okO := p.observed.(string)
	return desired, observed, okD && okO && !resource.Masked(observed) && !p.userDefined
}

// isSameLocation reports whether both texts are the same location: "westus2" is
// "West US 2", in any property of a location or region.
func isSameLocation(p cursor) bool {
	a, b, ok := texts(p)
	if !ok || !resource.LocationName(lastName(p.path)) {
		return false
	}
	return resource.NormalLocation(a) == resource.NormalLocation(b)
}

// isSameResourceID reports whether both IDs name the same resource. ARM compares
// IDs ignoring case, except among keys and values of users. Built-in role and policy definitions belong to the tenant and
// are visible in every subscription, so both IDs name them.
func isSameResourceID(p cursor) bool {
	a, okA := p.desired.(string)
	b, okB := p.observed.(string)
	if !okA || !okB || !isFullID(a) || p.userDefined && !p.subject.hasFixedMembers(p.path) {
		return false
	}
	a, b = strings.ToLower(strings.Trim(a, "/")), strings.ToLower(strings.Trim(b, "/"))
	oneInTenant := strings.HasPrefix(a, "providers/") != strings.HasPrefix(b, "providers/")
	return a == b || oneInTenant && underTenant(a) == underTenant(b)
}

// underTenant removes the subscription from the ID of a resource directly below it.
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

// isRelativeID reports whether one text is the full ID of the other: "/apis" is the
// ID of apis below the resource or one of its owners.
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

// isSameResourceType reports whether both texts are the same resource type.
// Namespaces, types and their operations ignore case in ARM, whatever the name of
// the property.
func isSameResourceType(p cursor) bool {
	a, b, ok := texts(p)
	return ok && strings.EqualFold(a, b) && resourceType.MatchString(a)
}

// isSameURL reports whether both URLs are equivalent: scheme and host ignore case,
// an empty path is "/", a default port may be omitted.
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

// isSamePath reports whether two paths differ only in leading or trailing slashes.
func isSamePath(p cursor) bool {
	a, b, ok := texts(p)
	return ok && strings.HasSuffix(strings.ToLower(lastName(p.path)), "path") &&
		strings.Trim(a, "/") != "" && strings.Trim(a, "/") == strings.Trim(b, "/")
}

// isSameMarkup reports whether two markup texts differ only in the white space
// between tags.
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

// isSameEnum reports whether both texts are the same value of an enumeration, which
// the provider returns in its own case: a published value of the property, or a text
// that looks like one. The case of user-defined names and values counts.
func isSameEnum(p cursor) bool {
	a, okA := p.desired.(string)
	b, okB := p.observed.(string)
	if !okA || !okB || a == b || !strings.EqualFold(a, b) {
		return false
	}
	return enumWord.MatchString(a) && !p.userDefined && !isUserText(p.path) || isPublishedValue(p, a)
}

// isPublishedValue reports whether a text is a published value of the property.
func isPublishedValue(p cursor, text string) bool {
	shape := types.Lookup(p.subject.resourceType, p.subject.apiVersion)
	return shape != nil && shape.IsValue(p.path, text)
}

// isSameEnumWords reports whether both texts are the same set of enumeration values
// ("SystemAssigned, UserAssigned"), which the provider returns with other spaces
// and in the order of its flags.
func isSameEnumWords(p cursor) bool {
	a, b, ok := texts(p)
	if !ok || !strings.Contains(a, ",") || isUserText(p.path) {
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

// isSameGUID reports whether both GUIDs are equal; hex digits have no case.
func isSameGUID(p cursor) bool {
	a, b, ok := texts(p)
	return ok && guid.MatchString(a) && strings.EqualFold(a, b)
}

// isSameBoolean reports whether both strings are the same truth value, which .NET
// writes as "True".
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
