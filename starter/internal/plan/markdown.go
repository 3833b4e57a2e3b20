package plan

import (
	"fmt"
	"html"
	"slices"
	"strings"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/starter/internal/cli"
)

// Bounds of Markdown, in bytes. A comment of GitHub has at most 65,536 characters, one of
// Azure DevOps 150,000.
const (
	maxMarkdown = 65_000
	// maxFolded bounds the details of one resource, maxLine one line in characters.
	maxFolded = 8_000
	maxLine   = 400
	// cutNoteBytes is reserved for the note about what was cut.
	cutNoteBytes = 500
)

// MarkdownMarker is the first line of the Markdown: pipelines find the comment to update
// by it. It does not change.
const MarkdownMarker = "<!-- armature-plan -->"

// urgency is the order of the actions in Markdown: what is cut is at the end.
var urgency = []activities.PlanAction{
	activities.PlanError, ActionRefused, activities.PlanDelete, activities.PlanReplace, ActionFalls, activities.PlanBlocked, activities.PlanUpdate,
	activities.PlanCreate, activities.PlanConfigure, ActionKept, ActionAbsent, activities.PlanNone,
}

// section is one row in Markdown: whole, or without its details.
type section struct {
	action      activities.PlanAction
	whole, line string
}

// Markdown returns the plan for a comment: the summary, the refusals, losses and findings,
// and a section for each row whose details are folded. It has at most maxMarkdown bytes and
// counts what it leaves out. Names, values and messages are data: they are in code or escaped,
// so that none of them is a heading, a link, a mention or HTML.
func (p Plan) Markdown() string {
	var sections []section
	for _, c := range p.Resources {
		if !c.isInSync() || len(c.Owned) > 0 {
			sections = append(sections, c.section())
		}
	}
	slices.SortStableFunc(sections, func(a, b section) int { return slices.Index(urgency, a.action) - slices.Index(urgency, b.action) })
	head := MarkdownMarker + "\n**" + p.summary() + "**\n"
	if p.Preflight != nil {
		head += "\n" + p.Preflight.text() + "\n"
	}
	for _, list := range p.lists() {
		head += "\n" + list.Title + ":\n\n" + list.markdown()
	}
	if orphans := p.orphansText(cli.CodeSpan); orphans != "" {
		head += "\n" + orphans + "\n"
	}
	tail := ""
	if digest := p.Digest(); digest != "" {
		tail = "\nDigest of the plan: " + cli.CodeSpan(digest) + "\n"
	}
	budget := maxMarkdown - len(head) - len(tail) - cutNoteBytes
	shown := 0
	for shown < len(sections) && len(sections[shown].line) <= budget {
		budget -= len(sections[shown].line)
		shown++
	}
	var b strings.Builder
	b.WriteString(head)
	folded := 0
	for _, s := range sections[:shown] {
		if s.whole == "" || len(s.whole)-len(s.line) > budget {
			if s.whole != "" {
				folded++
			}
			b.WriteString(s.line)
			continue
		}
		budget -= len(s.whole) - len(s.line)
		b.WriteString(s.whole)
	}
	b.WriteString(cutNote(folded, sections[shown:]) + tail)
	return b.String()
}

// markdown returns the items as a list in code, at most maxFolded bytes.
func (l list) markdown() string {
	var b strings.Builder
	for i, item := range l.Items {
		line := "- " + cli.CodeSpan(cli.AsWritten(cli.Cut(item.String(), maxLine))) + "\n"
		if b.Len()+len(line) > maxFolded {
			fmt.Fprintf(&b, "- and %d more\n", len(l.Items)-i)
			break
		}
		b.WriteString(line)
	}
	return b.String()
}

// cutNote returns a paragraph that counts what is left out, "" for nothing.
func cutNote(folded int, missing []section) string {
	if folded == 0 && len(missing) == 0 {
		return ""
	}
	var parts []string
	if folded > 0 {
		parts = append(parts, "the details of "+cli.Count(folded, "resource"))
	}
	if len(missing) > 0 {
		counts := map[activities.PlanAction]int{}
		for _, s := range missing {
			counts[s.action]++
		}
		var actions []string
		for _, action := range urgency {
			if counts[action] > 0 {
				actions = append(actions, fmt.Sprintf("%d %s", counts[action], action))
			}
		}
		parts = append(parts, fmt.Sprintf("%s (%s)", cli.Count(len(missing), "resource"), strings.Join(actions, ", ")))
	}
	return "\nCut to fit into a comment: " + strings.Join(parts, " and ") + " are not shown. `-o wide` shows all.\n"
}

// section returns a row in Markdown.
func (c Row) section() section {
	title := cli.AsWritten(cli.Cut(c.title(0), maxLine))
	s := section{action: c.Action, line: "\n" + cli.CodeSpan(title) + "\n"}
	body := c.diff()
	if body == "" {
		return s
	}
	fence := strings.Repeat("`", max(3, cli.LongestRun(body, '`')+1))
	// A line that begins with <details> begins HTML, which ends at the next empty line: the
	// title is no Markdown.
	s.whole = "\n<details><summary><code>" + html.EscapeString(title) + "</code></summary>\n\n" +
		fence + "diff\n" + body + fence + "\n\n</details>\n"
	return s
}

// diff returns the details as lines of a diff, at most maxFolded bytes.
func (c Row) diff() string {
	var lines []string
	for _, d := range c.details(true) {
		for _, line := range d.diff() {
			lines = append(lines, cli.AsWritten(text.Cut(line, maxLine)))
		}
	}
	var b strings.Builder
	for i, line := range lines {
		if b.Len()+len(line) > maxFolded {
			fmt.Fprintf(&b, "  and %s\n", cli.Count(len(lines)-i, "more line"))
			break
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// diff returns a detail as lines of a diff.
func (d detail) diff() []string {
	indent := " "
	if d.inside {
		indent = "   "
	}
	switch {
	case d.added:
		return []string{"+" + indent + d.path + ": " + d.after}
	case d.changes:
		return []string{"-" + indent + d.path + ": " + d.before, "+" + indent + d.path + ": " + d.after}
	}
	return []string{" " + indent + strings.TrimSpace(d.line())}
}
