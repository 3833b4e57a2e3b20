package types

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/armature-io/armature/internal/nearest"
)

func (c *checker) number(n *Node, value any, at place) {
	var number float64
	switch v := value.(type) {
	case json.Number:
		number, _ = v.Float64()
	case float64:
		number = v
	case int:
		number = float64(v)
	case int64:
		number = float64(v)
	case string:
		if _, err := strconv.ParseFloat(v, 64); err == nil {
			c.warn(NumberAsText, at, "found a number written as text, expected a number; remove the quotes")
			return
		}
		c.wrongKind(at, value, "a number")
		return
	default:
		c.wrongKind(at, value, "a number")
		return
	}
	if b := n.Bounds; b != nil {
		c.bounds(b, number, at, "is")
	}
}

// bounds compares a value or a length with its bounds.
func (c *checker) bounds(b *Bounds, number float64, at place, what string) {
	shown := strconv.FormatFloat(number, 'f', -1, 64)
	if at.isSecret() {
		shown = "not within its bounds"
	}
	switch {
	case b.Min != nil && number < float64(*b.Min):
		c.warn(OutOfBounds, at, "%s %s, expected at least %d", what, shown, *b.Min)
	case b.Max != nil && number > float64(*b.Max):
		c.warn(OutOfBounds, at, "%s %s, expected at most %d", what, shown, *b.Max)
	}
}

func (c *checker) text(n *Node, value any, at place) {
	text, ok := value.(string)
	switch {
	case !ok:
		c.wrongKind(at, value, "a text")
		return
	case n.Kind == Literal:
		c.oneOf(text, []string{n.Name}, false, at)
		return
	case n.Bounds == nil:
		return
	}
	c.bounds(n.Bounds, float64(utf8.RuneCountInString(text)), at, "the length is")
	if n.Bounds.Pattern == "" {
		return
	}
	// Some published patterns use what Go's expressions lack.
	if pattern, err := regexp.Compile(n.Bounds.Pattern); err == nil && !pattern.MatchString(text) {
		c.warn(PatternMismatch, at, "%s does not match the pattern %s", at.show(text), n.Bounds.Pattern)
	}
}

// union checks a value against the elements of a union. The published ones contain
// literals and texts; of others the element with the fewest findings counts.
func (c *checker) union(n *Node, value any, at place) {
	values, open := n.Values()
	if text, ok := value.(string); ok && len(values) > 0 {
		c.oneOf(text, values, open, at)
		return
	}
	var fewest []Finding
	for i, element := range n.Elements {
		try := checker{shape: c.shape}
		try.value(element, value, at)
		if len(try.findings) == 0 {
			return
		}
		if i == 0 || len(try.findings) < len(fewest) {
			fewest = try.findings
		}
	}
	for _, f := range fewest {
		c.add(f)
	}
}

// oneOf checks a text against the published values.
func (c *checker) oneOf(text string, values []string, open bool, at place) {
	if slices.Contains(values, text) {
		return
	}
	for _, value := range values {
		if strings.EqualFold(value, text) {
			c.add(Finding{Rule: LetterCase, Path: at.path, Suggestion: value, Message: fmt.Sprintf("%s is published as %q", at.show(text), value)})
			return
		}
	}
	suggestion := misspelt(text, values)
	if open {
		if suggestion != "" {
			c.add(Finding{Rule: ValueNotAllowed, Path: at.path, Suggestion: suggestion,
				Message: fmt.Sprintf("%s is not a published value (did you mean %s?); other values are legal", at.show(text), suggestion)})
		}
		return
	}
	message := fmt.Sprintf("%s is not allowed", at.show(text))
	if suggestion == "" {
		suggestion = nearest.Match(text, values)
	}
	if suggestion != "" {
		message += fmt.Sprintf(" (did you mean %s?)", suggestion)
	}
	c.add(Finding{Rule: ValueNotAllowed, Path: at.path, Suggestion: suggestion, Message: message + "; allowed: " + list(values)})
}

// misspelt returns the name that differs from text by at most two letters, or by one
// if text is short; "" if there is none.
func misspelt(text string, names []string) string {
	best, edits := "", maxNameEdits+1
	if len(text) < minNameLength {
		edits = 2
	}
	for _, name := range names {
		if abs(len(name)-len(text)) >= edits {
			continue
		}
		if d := nearest.Distance(strings.ToLower(text), strings.ToLower(name)); d < edits {
			best, edits = name, d
		}
	}
	return best
}

func abs(n int) int { return max(n, -n) }
