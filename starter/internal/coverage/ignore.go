package coverage

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/armature-io/armature/internal/regular"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/cli"
)

// IgnoreFile is the name of the ignore file in the working directory.
const IgnoreFile = ".armatureignore"

// maxIgnoreBytes bounds an ignore file.
const maxIgnoreBytes = 1 << 20

// anyDepth is the segment of a pattern that matches any number of segments.
const anyDepth = "**"

// subject is the part of a resource that a pattern is about.
type subject int

const (
	// aboutID patterns begin with a slash. They match an ID, and everything below it.
	aboutID subject = iota
	// aboutType patterns have a slash inside. They match a type, and its child types.
	aboutType
	// aboutName patterns have no slash. They match the name of a resource, and everything in it.
	aboutName
)

// Pattern is a line of an ignore file.
type Pattern struct {
	Text string `json:"pattern"`
	Line int    `json:"line"`

	about    subject
	segments []string
	// includes is set for a pattern with a "!": what it matches is not ignored.
	includes bool
	// matched is set once the pattern has matched.
	matched bool
}

// Ignore are the patterns of an ignore file. The zero value ignores nothing.
type Ignore struct {
	// File is the path of the file, "" for none.
	File     string
	patterns []*Pattern
}

// ReadIgnore reads an ignore file. Without a path it reads IgnoreFile, if that exists.
func ReadIgnore(file string) (Ignore, error) {
	isDefault := file == ""
	if isDefault {
		file = IgnoreFile
	}
	text, err := regular.Read(file, maxIgnoreBytes)
	switch {
	case isDefault && errors.Is(err, fs.ErrNotExist):
		return Ignore{}, nil
	case err != nil:
		return Ignore{}, cli.BadInput("read the ignore file %s: %w", file, err)
	}
	return ParseIgnore(file, string(text))
}

// ParseIgnore parses the text of an ignore file. Its error names the file and the line.
func ParseIgnore(file, text string) (Ignore, error) {
	ignore := Ignore{File: file}
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		pattern, err := parsePattern(line)
		if err != nil {
			return Ignore{}, cli.BadInput("%s:%d: %w", file, i+1, err)
		}
		pattern.Line = i + 1
		ignore.patterns = append(ignore.patterns, pattern)
	}
	return ignore, nil
}

// errNotType is the error of a pattern that is neither an ID nor a type.
var errNotType = errors.New("a pattern with a slash is an ID, which begins with a slash, or a type like Microsoft.Network/*; begin it with /**/ to match the end of an ID")

func parsePattern(line string) (*Pattern, error) {
	p := &Pattern{Text: line, about: aboutName}
	rest, includes := strings.CutPrefix(line, "!")
	p.includes = includes
	rest = strings.ToLower(rest)
	inside := strings.Trim(rest, "/")
	switch {
	case inside == "":
		return nil, errors.New("the pattern is empty")
	case strings.HasPrefix(rest, "/"):
		p.about = aboutID
	case strings.Contains(inside, "/"):
		p.about = aboutType
		if namespace, _, _ := strings.Cut(inside, "/"); !strings.ContainsAny(namespace, ".*?[") {
			return nil, errNotType
		}
	}
	p.segments = strings.Split(inside, "/")
	for _, segment := range p.segments {
		if _, err := path.Match(segment, ""); err != nil {
			return nil, errors.New("the pattern " + cli.OneLine(segment) + " has a bracket or an escape without an end")
		}
	}
	return p, nil
}

// Of returns the pattern that ignores a resource, nil for none. The last pattern that matches
// decides. resourceType is the type of the resource, or that of a collection in it.
func (i Ignore) Of(id resource.ID, resourceType string) *Pattern {
	var by *Pattern
	for _, p := range i.patterns {
		if !p.matches(id, resourceType) {
			continue
		}
		p.matched = true
		if by = p; p.includes {
			by = nil
		}
	}
	return by
}

// Unused returns the patterns that have not matched.
func (i Ignore) Unused() []Pattern {
	var unused []Pattern
	for _, p := range i.patterns {
		if !p.matched {
			unused = append(unused, *p)
		}
	}
	return unused
}

func (p *Pattern) matches(id resource.ID, resourceType string) bool {
	switch p.about {
	case aboutID:
		return matchSegments(p.segments, strings.Split(strings.Trim(id.Key(), "/"), "/"))
	case aboutType:
		return matchSegments(p.segments, strings.Split(strings.ToLower(resourceType), "/"))
	}
	for at := id; !at.IsZero(); at = at.Owner() {
		if matchSegments(p.segments, []string{strings.ToLower(at.Name())}) {
			return true
		}
	}
	return false
}

// matchSegments reports whether the segments begin with those of a pattern. Patterns are those
// of path.Match, and anyDepth; at the end that is one segment or more.
func matchSegments(pattern, segments []string) bool {
	switch {
	case len(pattern) == 0:
		return true
	case len(pattern) == 1 && pattern[0] == anyDepth:
		return len(segments) > 0
	case pattern[0] == anyDepth:
		rest := slices.IndexFunc(pattern, func(p string) bool { return p != anyDepth })
		if rest < 0 {
			rest = len(pattern) - 1
		}
		for skipped := range len(segments) + 1 {
			if matchSegments(pattern[rest:], segments[skipped:]) {
				return true
			}
		}
		return false
	case len(segments) == 0:
		return false
	}
	matches, err := path.Match(pattern[0], segments[0])
	return err == nil && matches && matchSegments(pattern[1:], segments[1:])
}
