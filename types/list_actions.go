package types

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/armature-io/armature/internal/nearest"
)

// changingWords are words in the name of an action, or of a member of its answer, of what
// is made anew for each request: its answers are not the same twice. A shared access
// signature, a token and a signed URL contain the time until which they are valid.
var changingWords = []string{"sas", "token", "tokens", "url", "urls", "uri", "uris", "expiry", "expiration", "expires", "expire"}

// FindListAction returns the action of a type that lists values (Shape.ListAction), and the
// api-version in which it is published: the one that is asked for, else the newest stable one
// that has it, because some types publish their actions in few versions. reads are actions of
// the type that only read although their names do not begin with "list".
func FindListAction(typ, version, name string, reads ...string) (action Action, found string, err error) {
	shape := Lookup(typ, version)
	if shape == nil {
		return Action{}, "", fmt.Errorf("%s is no published type, so it is not known whether the action %s may be repeated", typ, name)
	}
	if action, err = shape.ListAction(name, reads...); err == nil || shape.has(name) {
		return action, version, err
	}
	for _, preview := range []bool{false, true} {
		for _, other := range slices.Backward(Versions(typ)) {
			if shape := Lookup(typ, other); shape != nil && Preview(other) == preview && shape.has(name) {
				action, err := shape.ListAction(name, reads...)
				return action, other, err
			}
		}
	}
	return Action{}, "", err
}

// has reports whether the type has an action.
func (s *Shape) has(name string) bool {
	return slices.ContainsFunc(s.Actions, func(a Action) bool { return strings.EqualFold(a.Name, name) })
}

// ListAction returns a published action that lists values of a resource, by its name,
// ignoring case. The error explains why there is none that may be repeated: an action that
// may change something, that needs input, or whose answers are not the same twice.
func (s *Shape) ListAction(name string, reads ...string) (Action, error) {
	at := slices.IndexFunc(s.Actions, func(a Action) bool { return strings.EqualFold(a.Name, name) })
	if at < 0 {
		return Action{}, fmt.Errorf("%s@%s has no action %s%s", s.Type, s.Version, name, s.otherActions(name, reads))
	}
	action := s.Actions[at]
	switch word := action.changes(); {
	case !onlyReads(action.Name, reads):
		return Action{}, fmt.Errorf("the action %s of %s may change something; only actions that list are repeated%s", action.Name, s.Type, s.otherActions(name, reads))
	case action.Input.needsValues():
		return Action{}, fmt.Errorf("the action %s of %s needs input; only actions without input are repeated%s", action.Name, s.Type, s.otherActions(name, reads))
	case word != "":
		return Action{}, fmt.Errorf("the answers of the action %s of %s are not the same twice (%s), so each pass would write another value%s", action.Name, s.Type, word, s.otherActions(name, reads))
	}
	return action, nil
}

// listPrefix begins the names of the actions that ARM reserves for reads.
const listPrefix = "list"

// onlyReads reports whether an action only reads.
func onlyReads(action string, reads []string) bool {
	return strings.HasPrefix(strings.ToLower(action), listPrefix) || slices.ContainsFunc(reads, func(other string) bool { return strings.EqualFold(other, action) })
}

// otherActions returns the actions that may be meant, as the end of a message.
func (s *Shape) otherActions(name string, reads []string) string {
	var names []string
	for _, action := range s.Actions {
		if action.changes() == "" && onlyReads(action.Name, reads) && !action.Input.needsValues() {
			names = append(names, action.Name)
		}
	}
	switch near := nearest.Match(name, names); {
	case near != "":
		return "; did you mean " + near + "?"
	case len(names) == 0:
		return "; the type has no action that lists values"
	}
	return "; it has " + strings.Join(names, ", ")
}

// changes returns the name with a changing word, of the action or of a text of its answer, ""
// for none.
func (a Action) changes() string {
	if hasChangingWord(a.Name) {
		return a.Name
	}
	found := ""
	if a.Output != nil {
		(&Shape{Body: a.Output}).Walk(func(path []string, p Property) bool {
			if name := path[len(path)-1]; found == "" && p.Type.Kind == Text && hasTimeWord(name) {
				found = name
			}
			return found == ""
		})
	}
	return found
}

// hasChangingWord reports whether a name in camelCase has a changing word.
func hasChangingWord(name string) bool {
	return slices.ContainsFunc(words(name), func(word string) bool { return slices.Contains(changingWords, word) })
}

// hasTimeWord reports whether a member of an answer is a signature or has a time until which
// it is valid. A URL in an answer is often that of a page.
func hasTimeWord(name string) bool {
	return slices.ContainsFunc(words(name), func(word string) bool { return !strings.HasPrefix(word, "ur") && slices.Contains(changingWords, word) })
}

// words returns the words of a name in camelCase, in lower case.
func words(name string) []string {
	var found []string
	start := 0
	runes := []rune(name)
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			if i > start {
				found = append(found, strings.ToLower(string(runes[start:i])))
			}
			start = i + 1
		case i > start && unicode.IsUpper(r) && (!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])):
			found = append(found, strings.ToLower(string(runes[start:i])))
			start = i
		}
	}
	if start < len(runes) {
		found = append(found, strings.ToLower(string(runes[start:])))
	}
	return found
}
