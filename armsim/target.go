package armsim

import (
	"net/url"
	"regexp"
	"strings"
)

// kind is the kind of thing that a path addresses.
type kind string

const (
	kindSubscriptions  kind = "subscriptions"
	kindSubscription   kind = "subscription"
	kindGroup          kind = "group"
	kindGroups         kind = "groups"
	kindResource       kind = "resource"
	kindCollection     kind = "collection"
	kindResources      kind = "resources" // the flat list of a group or subscription
	kindProvider       kind = "provider"
	kindProviders      kind = "providers"
	kindProviderAction kind = "providerAction"
	kindAction         kind = "action"
	kindOperation      kind = "operation"
	kindToken          kind = "token"
	kindVault          kind = "vault"
	kindQueue          kind = "queue"
	kindMetadata       kind = "metadata"
	kindMove           kind = "move" // moveResources of a group
)

const groupType = "Microsoft.Resources/resourceGroups"

// target is a parsed request path. Names are unescaped and keep their case.
type target struct {
	kind         kind
	id           string // of the resource; a collection's ends with its type
	subscription string
	group        string
	namespace    string
	types        []string // type segments after the last provider
	names        []string
	scope        string // ID before the last "/providers/"; "" for the tenant
	action       string // of kindAction and kindProviderAction
}

// resourceType returns the full type, in the case of the request.
func (t target) resourceType() string {
	if t.kind == kindGroup || t.kind == kindGroups {
		return groupType
	}
	if t.namespace == "" {
		return ""
	}
	return t.namespace + "/" + strings.Join(t.types, "/")
}

func (t target) name() string {
	if t.kind == kindGroup {
		return t.group
	}
	if len(t.names) == 0 {
		return ""
	}
	return t.names[len(t.names)-1]
}

// nestedName returns the namespace, then types and names pairwise, as ARM's messages
// have them: "ns/type/name/childtype/childname".
func (t target) nestedName() string {
	path := t.namespace
	for i, name := range t.names {
		path += "/" + t.types[i] + "/" + name
	}
	return path
}

// isExtension reports whether the resource is attached to another resource.
func (t target) isExtension() bool {
	return strings.Contains(strings.ToLower(t.scope), "/providers/")
}

// parentID returns the ID of the resource that must exist first: the ARM parent of a
// child, else the scope.
func (t target) parentID() string {
	if len(t.types) > 1 {
		cut := len(t.id)
		for range 2 {
			if i := strings.LastIndexByte(t.id[:cut], '/'); i >= 0 {
				cut = i
			}
		}
		if t.kind == kindCollection { // a collection's ID ends with a type
			cut = strings.LastIndexByte(t.id, '/')
		}
		return t.id[:cut]
	}
	if t.kind == kindGroup {
		return "/subscriptions/" + t.subscription
	}
	return t.scope
}

func key(id string) string { return strings.ToLower(strings.TrimRight(id, "/")) }

// splitPath returns the unescaped segments of a path. ok is false for a path that ARM's
// gateway does not route: empty or dot segments, or a slash inside a name.
func splitPath(u *url.URL) (segments []string, ok bool) {
	raw := strings.Trim(u.EscapedPath(), "/")
	if raw == "" {
		return nil, true
	}
	for _, part := range strings.Split(raw, "/") {
		name, err := url.PathUnescape(part)
		if err != nil || name == "" || name == "." || name == ".." || strings.ContainsAny(name, `/\`) {
			return nil, false
		}
		segments = append(segments, name)
	}
	return segments, true
}

// parseTarget parses ARM's path grammar; false means that no resource can have this
// path.
func parseTarget(segments []string) (target, bool) {
	t := target{}
	rest, prefix := segments, ""
	if len(rest) > 0 && strings.EqualFold(rest[0], "subscriptions") {
		if len(rest) == 1 {
			t.kind = kindSubscriptions
			return t, true
		}
		t.subscription, prefix, rest = rest[1], "/"+rest[0]+"/"+rest[1], rest[2:]
		if len(rest) > 0 && strings.EqualFold(rest[0], "resourceGroups") {
			if len(rest) == 1 {
				t.kind, t.id = kindGroups, prefix
				return t, true
			}
			t.group, prefix, rest = rest[1], prefix+"/"+rest[0]+"/"+rest[1], rest[2:]
		}
		if done := t.scopeOnly(rest, prefix); done {
			return t, true
		}
	}
	return t.providers(rest, prefix)
}

func (t *target) scopeOnly(rest []string, prefix string) bool {
	t.id = prefix
	switch {
	case len(rest) == 0 && t.group != "":
		t.kind, t.scope = kindGroup, "/subscriptions/"+t.subscription
	case len(rest) == 0:
		t.kind = kindSubscription
	case len(rest) == 1 && strings.EqualFold(rest[0], "resources"):
		t.kind = kindResources
	case len(rest) == 1 && strings.EqualFold(rest[0], "moveResources") && t.group != "":
		t.kind, t.scope = kindMove, "/subscriptions/"+t.subscription
	case len(rest) == 1 && strings.EqualFold(rest[0], "providers") && t.group == "":
		t.kind = kindProviders
	default:
		return false
	}
	return true
}

// providers parses (/providers/{ns}(/{type}/{name})+)+ and what may follow.
func (t target) providers(rest []string, prefix string) (target, bool) {
	id := prefix
	for len(rest) > 0 {
		if !strings.EqualFold(rest[0], "providers") || len(rest) < 2 {
			return t, false
		}
		t.scope, t.namespace, t.types, t.names = id, rest[1], nil, nil
		id, rest = id+"/"+rest[0]+"/"+rest[1], rest[2:]
		for len(rest) > 0 && !strings.EqualFold(rest[0], "providers") {
			if len(rest) == 1 {
				return t.collection(id, rest[0])
			}
			t.types, t.names = append(t.types, rest[0]), append(t.names, rest[1])
			id, rest = id+"/"+rest[0]+"/"+rest[1], rest[2:]
		}
		if len(t.types) == 0 {
			t.kind, t.id = kindProvider, id
			return t, len(rest) == 0
		}
	}
	t.kind, t.id = kindResource, id
	return t, id != ""
}

// collection returns the target of a path that ends with a single segment: a
// collection, or for a POST (see toAction) an action.
func (t target) collection(id, last string) (target, bool) {
	t.action = last
	t.kind, t.id = kindCollection, id+"/"+last
	t.types = append(t.types, last)
	return t, true
}

// toAction turns the target of a POSTed collection path into an action on a resource.
func (t target) toAction() target {
	t.types = t.types[:len(t.types)-1]
	t.id = t.id[:strings.LastIndexByte(t.id, '/')]
	t.kind = kindAction
	if len(t.types) == 0 {
		t.kind = kindProviderAction
	}
	return t
}

// escapePath returns the URL path of an unescaped ID.
func escapePath(id string) string { return (&url.URL{Path: id}).EscapedPath() }

var (
	guidPattern = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)
	// groupNamePattern is ARM's rule for names of resource groups; a group also may not
	// end with a period.
	groupNamePattern = regexp.MustCompile(`^[-\p{L}\p{N}_.()]{1,90}$`)
	namespacePattern = regexp.MustCompile(`^[A-Za-z0-9]+(\.[A-Za-z0-9]+)+$`)
	versionPattern   = regexp.MustCompile(`^(\d{4}-\d{2}-\d{2})(-(preview|alpha|beta|rc|privatepreview))?$`)
)

func splitID(id string) ([]string, bool) {
	trimmed := strings.Trim(id, "/")
	return strings.Split(trimmed, "/"), trimmed != ""
}

// parseID parses an unescaped resource ID.
func parseID(id string) (target, bool) {
	segments, ok := splitID(id)
	if !ok {
		return target{}, false
	}
	return parseTarget(segments)
}

// globMatch reports whether s matches, without regard to case: * matches any run of
// characters, ? any one character. An empty pattern matches everything.
func globMatch(pattern, s string) bool {
	if pattern == "" || pattern == "*" {
		return true
	}
	p, s := strings.ToLower(pattern), strings.ToLower(s)
	star, mark, i, j := -1, 0, 0, 0
	for j < len(s) {
		switch {
		case i < len(p) && p[i] == '*':
			star, mark = i, j
			i++
		case i < len(p) && (p[i] == '?' || p[i] == s[j]):
			i++
			j++
		case star >= 0:
			mark++
			i, j = star+1, mark
		default:
			return false
		}
	}
	for i < len(p) && p[i] == '*' {
		i++
	}
	return i == len(p)
}
