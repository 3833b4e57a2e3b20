package resource

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Path is the path of a value in a body: a.b, list[*].c, list[name=x].c, list[0],
// tags['a.b/c'].
type Path []Step

// Step is one step of a Path. Exactly one of the forms is set: a property (Name),
// any element (Any), an element by key (Key and Value), or an element by index
// (Index, when IsIndex).
type Step struct {
	Name    string
	Any     bool
	Key     string
	Value   string
	Index   int
	IsIndex bool
}

// ParsePath parses the text form of a path.
func ParsePath(text string) (Path, error) {
	var path Path
	rest := text
	for rest != "" {
		step, after, err := parseStep(rest, len(path) == 0)
		if err != nil {
			return nil, fmt.Errorf("parse path %q: %w", text, err)
		}
		path, rest = append(path, step), after
	}
	if len(path) == 0 {
		return nil, fmt.Errorf("parse path %q: it is empty", text)
	}
	return path, nil
}

// ParsePaths returns the paths of the texts and skips invalid ones, which the
// manifest's check has refused.
func ParsePaths(texts []string) []Path {
	paths := make([]Path, 0, len(texts))
	for _, text := range texts {
		if path, err := ParsePath(text); err == nil {
			paths = append(paths, path)
		}
	}
	return paths
}

// Advance takes one step along all paths: it returns the remainders of the paths
// with a matching first step, and reports whether one of them ends with it.
func Advance(paths []Path, matches func(Step) bool) (rest []Path, ends bool) {
	for _, path := range paths {
		switch {
		case !matches(path[0]):
		case len(path) == 1:
			ends = true
		default:
			rest = append(rest, path[1:])
		}
	}
	return rest, ends
}

func parseStep(rest string, first bool) (Step, string, error) {
	if strings.HasPrefix(rest, "['") {
		name, after, found := strings.Cut(rest[2:], "']")
		if !found {
			return Step{}, "", fmt.Errorf("[' is not closed by ']")
		}
		return Step{Name: name}, after, nil
	}
	if strings.HasPrefix(rest, "[") {
		inside, after, found := strings.Cut(rest[1:], "]")
		if !found {
			return Step{}, "", fmt.Errorf("[ is not closed by ]")
		}
		step, err := parseBracket(inside)
		return step, after, err
	}
	if !first {
		if !strings.HasPrefix(rest, ".") {
			return Step{}, "", fmt.Errorf("found %q, want . or [", rest)
		}
		rest = rest[1:]
	}
	end := strings.IndexAny(rest, ".[")
	if end < 0 {
		end = len(rest)
	}
	if end == 0 {
		return Step{}, "", fmt.Errorf("a name is empty")
	}
	return Step{Name: rest[:end]}, rest[end:], nil
}

func parseBracket(inside string) (Step, error) {
	if inside == "*" {
		return Step{Any: true}, nil
	}
	if key, value, found := strings.Cut(inside, "="); found {
		if key == "" || value == "" {
			return Step{}, fmt.Errorf("[%s] needs a key and a value", inside)
		}
		return Step{Key: key, Value: value}, nil
	}
	index, err := strconv.Atoi(inside)
	if err != nil || index < 0 {
		return Step{}, fmt.Errorf("[%s] is neither *, a number, key=value nor a quoted name", inside)
	}
	return Step{Index: index, IsIndex: true}, nil
}

// String returns the text form.
func (p Path) String() string {
	var b strings.Builder
	for i, step := range p {
		switch {
		case step.Any:
			b.WriteString("[*]")
		case step.Key != "":
			fmt.Fprintf(&b, "[%s=%s]", step.Key, step.Value)
		case step.IsIndex:
			fmt.Fprintf(&b, "[%d]", step.Index)
		case strings.ContainsAny(step.Name, ".[]'/ ") || step.Name == "":
			fmt.Fprintf(&b, "['%s']", step.Name)
		default:
			if i > 0 {
				b.WriteByte('.')
			}
			b.WriteString(step.Name)
		}
	}
	return b.String()
}

// LastName returns the last property of the path, "" where it has none: elements of a list
// have the name of the list.
func (p Path) LastName() string {
	for i := len(p) - 1; i >= 0; i-- {
		if p[i].Name != "" {
			return p[i].Name
		}
	}
	return ""
}

// With returns the path extended by one step; p is not modified.
func (p Path) With(step Step) Path {
	return append(p[:len(p):len(p)], step)
}

// Get returns the value at the path. Property names match exactly first, then
// ignoring case, as in ARM. [*] takes the first element.
func (p Path) Get(value any) (any, bool) {
	for _, step := range p {
		next, ok := step.Get(value)
		if !ok {
			return nil, false
		}
		value = next
	}
	return value, true
}

// All returns all values at the path, in the order of the lists on the way: [*] takes every
// element. It returns none if the path leads nowhere.
func (p Path) All(value any) []any {
	values := []any{value}
	for _, step := range p {
		var further []any
		for _, value := range values {
			further = append(further, step.all(value)...)
		}
		values = further
	}
	return values
}

func (s Step) all(value any) []any {
	list, isList := value.([]any)
	if !isList {
		if found, ok := s.Get(value); ok {
			return []any{found}
		}
		return nil
	}
	var found []any
	for i, item := range list {
		if s.MatchesElement(i, item) {
			found = append(found, item)
		}
	}
	return found
}

// Get returns the value one step further.
func (s Step) Get(value any) (any, bool) {
	switch at := value.(type) {
	case map[string]any:
		return s.property(at)
	case []any:
		return s.element(at)
	}
	return nil, false
}

func (s Step) property(at map[string]any) (any, bool) {
	if s.Any || s.Key != "" || s.IsIndex {
		return nil, false
	}
	if value, ok := at[s.Name]; ok {
		return value, true
	}
	// Of several names that differ only in case the first one in order wins, so
	// that the result is stable.
	found := ""
	for name := range at {
		if strings.EqualFold(name, s.Name) && (found == "" || name < found) {
			found = name
		}
	}
	value, ok := at[found]
	return value, ok && found != ""
}

func (s Step) element(at []any) (any, bool) {
	for i, item := range at {
		if s.MatchesElement(i, item) {
			return item, true
		}
	}
	return nil, false
}

// MatchesElement reports whether the step addresses element i of a list.
func (s Step) MatchesElement(i int, item any) bool {
	switch {
	case s.Any:
		return true
	case s.IsIndex:
		return i == s.Index
	case s.Key != "":
		return ItemKey(item, s.Key) == NormalKey(s.Key, s.Value)
	}
	return false
}

// KeyText returns the text or number that identifies an item of a list by a key, or "".
func KeyText(item any, key string) string {
	object, _ := item.(map[string]any)
	value, _ := Step{Name: key}.property(object)
	switch value := value.(type) {
	case string:
		return value
	case json.Number:
		return value.String()
	}
	return ""
}

// NormalKey returns one spelling for all spellings of a key: IDs and names ignore case in
// ARM, and a key may be a location.
func NormalKey(key, value string) string {
	if LocationName(key) {
		return NormalLocation(value)
	}
	return strings.ToLower(value)
}

// ItemKey returns NormalKey of an item's KeyText.
func ItemKey(item any, key string) string { return NormalKey(key, KeyText(item, key)) }

// NormalLocation returns one spelling for all spellings of a location: "westus2" for
// "West US 2", which ARM treats alike.
func NormalLocation(text string) string { return strings.ToLower(strings.ReplaceAll(text, " ", "")) }

// LocationName reports whether the name of a property suggests a location.
func LocationName(name string) bool {
	lower := strings.ToLower(name)
	return strings.Contains(lower, "location") || strings.Contains(lower, "region")
}
