package types

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/armature-io/armature/resource"
)

const (
	// maxCheckDepth is the depth of a body that Check follows: deeper than any
	// published one.
	maxCheckDepth = 100
	// maxFindings is the number of findings after which Check ends.
	maxFindings = 100
	// maxNameEdits is the number of changed letters by which the name of a property,
	// or a value of an open list, counts as misspelt. Names under minNameLength letters
	// may have one.
	maxNameEdits, minNameLength = 2, 6
)

// nameMember is the member at the top of a body that the request states in its URL and
// that bodies may repeat.
const nameMember = "name"

// Check returns the findings in a body as a manifest states it: decoded JSON with
// json.Number, float64 or integers for numbers. An object whose keys all start with "$"
// stands for a value that is not known yet and matches everything; so does null, and
// UnknownText matches every text. Only with Exact are findings faults. It returns at most 100 findings.
func (s *Shape) Check(body map[string]any) []Finding {
	c := checker{shape: s}
	c.value(s.Body, body, place{path: make(resource.Path, 0, 16)})
	return c.findings
}

type checker struct {
	shape    *Shape
	findings []Finding
}

// place is a value's position in the body.
type place struct {
	path resource.Path
	// outer are the members of the object around the one at path.
	outer  Members
	secret bool
}

func (p place) below(step resource.Step) place {
	p.path = append(slices.Clip(p.path), step)
	return p
}

// add records a finding; faults of a shape of another version are warnings.
func (c *checker) add(f Finding) {
	if len(c.findings) < maxFindings {
		f.Fault = f.Fault && c.shape.Exact
		f.Path = slices.Clone(f.Path)
		c.findings = append(c.findings, f)
	}
}

func (c *checker) fault(rule Rule, at place, format string, args ...any) {
	c.add(Finding{Rule: rule, Fault: true, Path: at.path, Message: fmt.Sprintf(format, args...)})
}

func (c *checker) warn(rule Rule, at place, format string, args ...any) {
	c.add(Finding{Rule: rule, Path: at.path, Message: fmt.Sprintf(format, args...)})
}

// UnknownText stands for a text that is not known yet, for example a secret.
type UnknownText struct{}

func isUnknownText(value any) bool {
	_, ok := value.(UnknownText)
	return ok
}

// isUnknown reports whether a value is not known yet: null, or an object of markers.
func isUnknown(value any) bool {
	object, ok := value.(map[string]any)
	if !ok {
		return value == nil
	}
	for name := range object {
		if !strings.HasPrefix(name, "$") {
			return false
		}
	}
	return len(object) > 0
}

func (c *checker) value(n *Node, value any, at place) {
	if n.Kind == Any || isUnknown(value) || len(c.findings) >= maxFindings {
		return
	}
	if len(at.path) > maxCheckDepth {
		c.warn(TooDeep, at, "is nested deeper than %d levels and is not checked", maxCheckDepth)
		return
	}
	at.secret = at.secret || n.Sensitive
	if isUnknownText(value) && slices.Contains([]Kind{Text, Literal, Integer, Union}, n.Kind) {
		return
	}
	switch n.Kind {
	case Boolean:
		if _, ok := value.(bool); !ok {
			c.wrongKind(at, value, "true or false")
		}
	case Integer:
		c.number(n, value, at)
	case Text, Literal:
		c.text(n, value, at)
	case Union:
		c.union(n, value, at)
	case List:
		c.list(n, value, at)
	case Object:
		if object := c.object(n, value, at); object != nil {
			c.properties(n.Members(""), object, at)
		}
	case Discriminated:
		if object := c.object(n, value, at); object != nil {
			c.discriminated(n, object, at)
		}
	}
}

// wrongKind records a value of another JSON kind.
func (c *checker) wrongKind(at place, value any, want string) {
	c.fault(WrongKind, at, "found %s, expected %s%s", at.found(value), want, spelling(value, want))
}

// found describes a value of the wrong kind, without the value of a secret.
func (p place) found(value any) string {
	switch v := value.(type) {
	case map[string]any:
		return "a mapping"
	case []any:
		return "a list"
	case UnknownText:
		return "a text"
	case string:
		if shown := p.show(v); shown != hidden {
			return "the text " + shown
		}
		return "a text"
	case bool:
		return strconv.FormatBool(v)
	}
	if p.isSecret() {
		return "a number"
	}
	return fmt.Sprintf("the number %v", value)
}

// spelling returns how to write a scalar that is nearly of the wanted kind, as the end
// of a message.
func spelling(value any, want string) string {
	text, isText := value.(string)
	switch value.(type) {
	case map[string]any, []any, UnknownText:
		return ""
	}
	switch lower := strings.ToLower(text); {
	case !isText && want == "a text":
		return "; put it in quotes"
	case want != "true or false":
	case lower == "true" || lower == "false":
		return "; remove the quotes"
	case lower == "yes" || lower == "on":
		return "; write true"
	case lower == "no" || lower == "off":
		return "; write false"
	}
	return ""
}

// hidden stands for a secret in a message.
const hidden = "the value"

// isSecret reports whether a message must not contain the value.
func (p place) isSecret() bool {
	return p.secret || slices.ContainsFunc(p.path, func(s resource.Step) bool { return resource.SecretName(s.Name) })
}

// show returns a value for a message, quoted, unless it is a secret.
func (p place) show(text string) string {
	if p.isSecret() || resource.ContainsCredential(text) {
		return hidden
	}
	const maxShown = 60
	if utf8.RuneCountInString(text) > maxShown {
		text = string([]rune(text)[:maxShown]) + "..."
	}
	return strconv.Quote(text)
}

func (c *checker) list(n *Node, value any, at place) {
	items, ok := value.([]any)
	if !ok {
		c.wrongKind(at, value, "a list")
		return
	}
	if n.Bounds != nil {
		c.bounds(n.Bounds, float64(len(items)), at, "the number of items is")
	}
	for i, item := range items {
		c.value(n.Item, item, at.below(resource.Step{Index: i, IsIndex: true}))
	}
}

func (c *checker) object(n *Node, value any, at place) map[string]any {
	object, ok := value.(map[string]any)
	if !ok {
		c.wrongKind(at, value, mapping(n))
	}
	return object
}

// text returns the name of the place for a message.
func (p place) text() string {
	if len(p.path) == 0 {
		return "the body"
	}
	return p.path.String()
}
