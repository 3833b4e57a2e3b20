package drift

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/resource"
)

// The bounds of a body. ARM refuses requests of more than 4 MB, and its .NET
// services read JSON at most 64 levels deep; a larger body cannot be valid.
const (
	MaxBodyBytes = 4 << 20
	MaxDepth     = 100
)

// Decode decodes one JSON object with exact numbers (json.Number), the form that
// Compare expects. It refuses input that has no single meaning: text that is not an
// object, two members of the same name in an object (names that differ in case are
// two), more than MaxDepth levels, more than MaxBodyBytes. Errors name the body by
// what ("desired", "observed"). Empty input returns a nil map: absent.
func Decode(what string, raw []byte) (map[string]any, error) {
	if len(raw) > MaxBodyBytes {
		return nil, fmt.Errorf("decode %s body: it has %d bytes, more than %d", what, len(raw), MaxBodyBytes)
	}
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, nil
	}
	if first := bytes.TrimSpace(raw)[0]; first != '{' {
		return nil, fmt.Errorf("decode %s body: it is %s, not a JSON object", what, kindOf(first))
	}
	written, depth := countMembers(raw)
	if depth > MaxDepth {
		return nil, fmt.Errorf("decode %s body: %w", what, checkMembers(raw))
	}
	body, err := resource.DecodeBody(raw)
	if err == nil && membersOf(body) == written {
		return body, nil
	}
	if memberErr := checkMembers(raw); memberErr != nil {
		err = memberErr
	}
	return nil, fmt.Errorf("decode %s body: %w", what, err)
}

// Bounded reports whether a JSON text is within the bounds of Decode.
func Bounded(raw []byte) bool {
	_, depth := countMembers(raw)
	return len(raw) <= MaxBodyBytes && depth <= MaxDepth
}

// countMembers returns the number of members that a JSON text writes, and its
// levels. Each body is decoded in each pass, so the check for duplicate names
// begins with a count: of two members of one name a map keeps one.
func countMembers(raw []byte) (members, depth int) {
	level, inText := 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case inText && c == '\\':
			i++
		case c == '"':
			inText = !inText
		case inText:
		case c == ':':
			members++
		case c == '{' || c == '[':
			level++
			depth = max(depth, level)
		case c == '}' || c == ']':
			level--
		}
	}
	return members, depth
}

// membersOf returns the number of members of a decoded value.
func membersOf(value any) int {
	count := 0
	switch v := value.(type) {
	case map[string]any:
		count = len(v)
		for _, member := range v {
			count += membersOf(member)
		}
	case []any:
		for _, item := range v {
			count += membersOf(item)
		}
	}
	return count
}

func kindOf(first byte) string {
	switch {
	case first == '[':
		return "a list"
	case first == '"':
		return "a string"
	case first == 'n':
		return "null"
	case first == 't' || first == 'f':
		return "a boolean"
	case first == '-' || first >= '0' && first <= '9':
		return "a number"
	}
	return "no JSON"
}

// level is one open object or list of a document.
type level struct {
	// names are the members read so far, nil in a list.
	names map[string]bool
	// value is set when the next token is the value of a member.
	value bool
	name  string
}

// checkMembers reads all tokens and refuses duplicate names and too many levels.
func checkMembers(raw []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var open []level
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) && len(open) == 0 {
			return nil
		}
		if errors.Is(err, io.EOF) {
			return io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
		if closes(token) {
			open = open[:len(open)-1]
			continue
		}
		if err := enter(open, token); err != nil {
			return err
		}
		if delimiter, isDelimiter := token.(json.Delim); isDelimiter {
			if len(open) == MaxDepth {
				return fmt.Errorf("it is more than %d levels deep at %s", MaxDepth, memberPath(open[:4]))
			}
			next := level{}
			if delimiter == '{' {
				next.names = map[string]bool{}
			}
			open = append(open, next)
		}
	}
}

func closes(token json.Token) bool {
	delimiter, isDelimiter := token.(json.Delim)
	return isDelimiter && (delimiter == '}' || delimiter == ']')
}

// enter adds a token to the innermost level: a name, or the start of a value.
func enter(open []level, token json.Token) error {
	if len(open) == 0 || open[len(open)-1].names == nil {
		return nil
	}
	at := &open[len(open)-1]
	if at.value {
		at.value = false
		return nil
	}
	at.name, at.value = token.(string), true
	if at.names[at.name] {
		return fmt.Errorf("%s is stated twice", memberPath(open))
	}
	at.names[at.name] = true
	return nil
}

// memberPath returns the quoted names of the open members.
func memberPath(open []level) string {
	var names []string
	for _, at := range open {
		if at.names != nil {
			names = append(names, at.name)
		}
	}
	return fmt.Sprintf("%q", text.Cut(strings.Join(names, "."), maxShown))
}
