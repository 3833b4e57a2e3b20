package worlds

import (
	"encoding/json"
	"fmt"
	"strings"
)

// script is a list of steps, a line each.
type script []step

// step is one line of a script: the name of its kind, the manifest, a path and a value in JSON.
// A kind uses the first of them, or none.
type step struct {
	kind, name, path string
	value            any
}

// String returns the line of the step.
func (s step) String() string {
	line := s.kind
	for _, word := range []string{s.name, s.path} {
		if word != "" {
			line += " " + word
		}
	}
	if s.value == nil {
		return line
	}
	value, err := json.Marshal(s.value)
	if err != nil {
		panic(err) // it was drawn from or parsed as JSON
	}
	return line + " " + string(value)
}

// String returns the lines of the script.
func (s script) String() string {
	var text strings.Builder
	for _, step := range s {
		fmt.Fprintln(&text, step)
	}
	return text.String()
}

// parseScript parses the lines of a script. Empty lines and those that begin with # are left
// out.
func parseScript(text string) (script, error) {
	var s script
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		words := append(strings.SplitN(line, " ", 4), "", "", "")
		parsed := step{kind: words[0], name: words[1], path: words[2]}
		if kinds()[parsed.kind] == nil {
			return nil, fmt.Errorf("parse %q: there is no such kind of step", line)
		}
		if words[3] != "" {
			if err := json.Unmarshal([]byte(words[3]), &parsed.value); err != nil {
				return nil, fmt.Errorf("parse %q: %w", line, err)
			}
		}
		s = append(s, parsed)
	}
	return s, nil
}
