package author

import (
	"fmt"
	"slices"
	"strings"

	"github.com/armature-io/armature/types"
)

// Bounds of a page, in characters and lines. maxNameColumn is the width up to which
// names share a column; maxDetailLines bounds the detail of a property in a list.
const (
	minWidth       = 60
	maxNameColumn  = 34
	maxDetailLines = 2
	// headColumn is the width of the words at the start of a page.
	headColumn = 11
)

// Layout chooses how a page is written.
type Layout struct {
	// Width is the width of a line in characters; 0 means no limit.
	Width int
	// Wide lists everything: every value, version and read-only property in full.
	Wide bool
}

// Text returns a page for people.
func (p Page) Text(l Layout) string {
	if l.Width > 0 {
		l.Width = max(l.Width, minWidth)
	}
	w := &writer{layout: l}
	w.head("TYPE", p.Type+"@"+p.Version)
	if p.Path != "" {
		w.head("PATH", p.Path)
	}
	if p.Form != "" {
		w.head("FORM", p.Form)
		if len(p.Forms) > 0 {
			w.head("", "it differs in other forms: "+strings.Join(p.Forms, ", "))
		}
	}
	if p.Resource != nil {
		w.resource(p)
	} else {
		w.head("KIND", p.Field.Kind)
		w.head("FLAGS", strings.Join(flags(p.Field), ", "))
		if len(p.Field.Values) > 0 {
			w.head("VALUES", valuesText(p.Field, ", "))
		}
		w.head("BOUNDS", boundsText(p.Field))
		w.head("PATTERN", p.Field.Pattern)
	}
	if len(p.Field.Forms) > 0 {
		w.head("FORMS", fmt.Sprintf("%s: %s", p.Field.Discriminator, strings.Join(p.Field.Forms, ", ")))
		w.head("", fmt.Sprintf("each form has further properties; add [%s=%s] to the path", p.Field.Discriminator, p.Field.Forms[0]))
	}
	w.properties(p)
	if p.Path == "" && slices.ContainsFunc(p.Field.Properties, func(f Field) bool { return f.Name == "properties" }) {
		w.next("armature explain " + p.Type + ".properties")
	}
	return w.b.String()
}

type writer struct {
	b      strings.Builder
	layout Layout
}

// head writes a word and its text, wrapped. It writes nothing without a text.
func (w *writer) head(word, text string) {
	if text == "" {
		return
	}
	for i, line := range wrap(text, w.layout.Width-headColumn) {
		if i > 0 {
			word = ""
		}
		w.line(fmt.Sprintf("%-*s%s", headColumn, word, line))
	}
}

// next writes the command that shows more, unless it needs more than a line.
func (w *writer) next(command string) {
	if text := "Next: " + command; w.layout.Width <= 0 || len(text) <= w.layout.Width {
		w.line("")
		w.line(text)
	}
}

func (w *writer) line(text string) { w.b.WriteString(strings.TrimRight(text, " ") + "\n") }

// resource writes what is known about the type besides its body.
func (w *writer) resource(p Page) {
	r := p.Resource
	w.head("VERSIONS", versionsText(r.Versions, p.Version, w.layout.Wide))
	scopes := strings.Join(r.Scopes, ", ")
	if scopes == "" {
		scopes = "none: a PUT cannot create this type"
	}
	w.head("SCOPE", scopes)
	w.head("OWNER", r.Owner)
	switch {
	case len(r.Names) > 0:
		w.head("NAME", namesText(r.Names, r.OtherNames))
	case r.Name != nil:
		w.head("NAME", joinNotEmpty("; ", boundsText(*r.Name), patternText(*r.Name)))
	}
	var children []string
	for _, child := range r.Children {
		text := child.Type[len(p.Type)+1:]
		if len(child.Names) > 0 {
			text += " (" + namesText(child.Names, child.OtherNames) + ")"
		}
		children = append(children, text)
	}
	w.head("CHILDREN", strings.Join(children, ", "))
	w.head("ACTIONS", strings.Join(r.Actions, ", "))
}

// namesText returns the names that a resource can have.
func namesText(names []string, open bool) string {
	if open {
		return strings.Join(names, ", ") + ", or another name"
	}
	return "only " + strings.Join(names, ", ")
}

// versionsText returns the versions of a type in short, or all of them.
func versionsText(v Versions, shown string, all bool) string {
	if all {
		return strings.Join(v.All, ", ")
	}
	name := func(kind, version string) string {
		switch version {
		case "":
			return ""
		case shown:
			return kind + " " + version + " (shown)"
		}
		return kind + " " + version
	}
	return joinNotEmpty(", ", name("newest stable", v.NewestStable), name("newest preview", v.NewestPreview),
		fmt.Sprintf("%d in all (--versions lists them)", len(v.All)))
}

// properties writes the members of a mapping as a table.
func (w *writer) properties(p Page) {
	fields := p.Field.Properties
	if len(fields) == 0 {
		return
	}
	title := "PROPERTIES"
	switch {
	case p.Path == "":
		title = "BODY"
	case strings.HasPrefix(p.Field.Kind, "list"):
		title = "PROPERTIES of an item"
	}
	w.line("")
	w.line(title)
	readOnly := []string{}
	if !w.layout.Wide {
		fields = slices.DeleteFunc(slices.Clone(fields), func(f Field) bool {
			if f.ReadOnly {
				readOnly = append(readOnly, f.Name)
			}
			return f.ReadOnly
		})
	}
	name, kind, flag := 0, 0, 0
	for _, f := range fields {
		name = max(name, min(len(f.Name), maxNameColumn))
		kind = max(kind, len(f.Kind))
		flag = max(flag, len(strings.Join(flags(f), ", ")))
	}
	for _, f := range fields {
		left := fmt.Sprintf("  %-*s  %-*s  %-*s  ", name, f.Name, kind, f.Kind, flag, strings.Join(flags(f), ", "))
		indent := 2 + name + 2 + kind + 2 + flag + 2
		if len(f.Name) > name { // a long name has a line of its own
			w.line("  " + f.Name)
			left = strings.Repeat(" ", 2+name) + left[2+len(f.Name):]
		}
		lines := wrap(detail(f), w.layout.Width-indent)
		if !w.layout.Wide && len(lines) > maxDetailLines {
			lines = lines[:maxDetailLines]
			lines[maxDetailLines-1] = shorten(lines[maxDetailLines-1], w.layout.Width-indent)
		}
		w.line(left + lines[0])
		for _, line := range lines[1:] {
			w.line(strings.Repeat(" ", indent) + line)
		}
	}
	if len(readOnly) > 0 {
		w.line("")
		w.line("READ-ONLY (set by Azure, not part of a manifest)")
		for _, line := range wrap(strings.Join(readOnly, ", "), w.layout.Width-2) {
			w.line("  " + line)
		}
	}
}

// flags returns the flags of a field as words.
func flags(f Field) []string {
	var words []string
	for _, flag := range []struct {
		set  bool
		word string
	}{{f.Required, "required"}, {f.ReadOnly, "read-only"}, {f.WriteOnly, "write-only"}, {f.Secret, "secret"}} {
		if flag.set {
			words = append(words, flag.word)
		}
	}
	return words
}

// detail returns what a field accepts in one text.
func detail(f Field) string {
	members := ""
	if len(f.members) > 0 {
		members = "{" + strings.Join(f.members, ", ") + "}"
	}
	return joinNotEmpty("; ", valuesText(f, " | "), boundsText(f), patternText(f), members)
}

// Kind returns the kind of a property: "text", "list of mappings".
func Kind(p types.Property) string { return kindText(p.Type) }

// Sentence describes a property in one line: "text, required: Allow | Deny".
func Sentence(p types.Property) string {
	f := fieldOf(p, 0)
	f.members = nil
	return joinNotEmpty(": ", strings.Join(append([]string{f.Kind}, flags(f)...), ", "), detail(f))
}

// Detail returns what a property accepts besides its kind, in one text: values, bounds,
// pattern, the names of its members. It is "" if there is nothing to state.
func Detail(p types.Property) string { return detail(fieldOf(p, 0)) }

func valuesText(f Field, separator string) string {
	text := strings.Join(f.Values, separator)
	if f.OtherValues {
		text += separator + "or another value"
	}
	return text
}

// boundsText returns the bounds of a value: of a number, or of a length.
func boundsText(f Field) string {
	unit := ""
	switch {
	case strings.HasPrefix(f.Kind, "list"):
		unit = " items"
	case f.Kind == "text":
		unit = " characters"
	}
	switch {
	case f.Min != nil && f.Max != nil && *f.Min == *f.Max:
		return fmt.Sprintf("exactly %d%s", *f.Min, unit)
	case f.Min != nil && f.Max != nil:
		return fmt.Sprintf("%d to %d%s", *f.Min, *f.Max, unit)
	case f.Min != nil:
		return fmt.Sprintf("at least %d%s", *f.Min, unit)
	case f.Max != nil:
		return fmt.Sprintf("at most %d%s", *f.Max, unit)
	}
	return ""
}

func patternText(f Field) string {
	if f.Pattern == "" {
		return ""
	}
	return "matches " + f.Pattern
}
