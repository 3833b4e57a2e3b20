package plan

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/cli"
	colors "github.com/jedib0t/go-pretty/v6/text"
)

// mark is the sign of an action and its color.
type mark struct {
	sign  string
	color colors.Color
}

var marks = map[activities.PlanAction]mark{
	activities.PlanCreate:  {"+", colors.FgGreen},
	activities.PlanUpdate:  {"~", colors.FgYellow},
	activities.PlanReplace: {"-/+", colors.FgRed},
	activities.PlanDelete:  {"-", colors.FgRed},
	activities.PlanBlocked: {"!", colors.FgYellow},
	activities.PlanError:   {"x", colors.FgRed},
	activities.PlanNone:    {"=", colors.FgCyan},

	activities.PlanConfigure: {"*", colors.FgYellow},

	ActionFalls:   {"-", colors.FgRed},
	ActionKept:    {"=", colors.FgCyan},
	ActionRefused: {"x", colors.FgRed},
	ActionAbsent:  {"=", colors.FgCyan},
}

// Formats returns the output formats of a plan.
func Formats() []string {
	return append(cli.Formats(), string(cli.FormatMarkdown), string(cli.FormatHTML))
}

// Show writes the plan in a format.
func (p Plan) Show(out io.Writer, format cli.Format, ink cli.Ink) error {
	var err error
	shown := p.Text(format == cli.FormatWide, ink)
	switch {
	case format.IsMachine():
		return format.Write(out, struct {
			Verdict Verdict `json:"verdict"`
			Plan
			Digest string `json:"digest,omitempty"`
		}{p.Verdict(), p, p.Digest()})
	case format == cli.FormatMarkdown:
		shown = p.Markdown()
	case format == cli.FormatHTML:
		shown, err = p.HTML()
	}
	fmt.Fprint(out, shown)
	return err
}

// maxNameColumn bounds the width of the column of names.
const maxNameColumn = 48

// Text returns the rows and a summary. Resources that are in sync are counted only, unless
// values of theirs have another owner, or wide, which also shows the bodies of resources to
// create.
func (p Plan) Text(wide bool, ink cli.Ink) string {
	var shown []Row
	width := 0
	for _, c := range p.Resources {
		if wide || !c.isInSync() || len(c.Owned) > 0 {
			shown = append(shown, c)
			width = max(width, min(maxNameColumn, utf8.RuneCountInString(cli.OneLine(cli.KindAndName(c.ID)))))
		}
	}
	var b strings.Builder
	for _, c := range shown {
		b.WriteString(c.text(width, wide, ink))
	}
	if b.Len() > 0 {
		b.WriteString("\n")
	}
	b.WriteString(p.summary() + "\n")
	if p.Preflight != nil {
		b.WriteString(p.Preflight.text() + "\n")
	}
	if orphans := p.orphansText(cli.OneLine); orphans != "" {
		b.WriteString(orphans + "\n")
	}
	return b.String()
}

// isInSync reports whether there is nothing to show about a resource but that it is
// in sync.
func (c Row) isInSync() bool {
	return c.Action == activities.PlanNone && c.Severity == resource.SeverityNone && len(c.Differences) == 0 && !c.exports()
}

// Text returns one row with its differences.
func (c Row) Text(ink cli.Ink) string { return c.text(0, false, ink) }

// text returns one row; its name takes at least width columns.
func (c Row) text(width int, wide bool, ink cli.Ink) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", ink.Paint(marks[c.Action].color, c.title(width)))
	for _, d := range c.details(wide) {
		fmt.Fprintf(&b, "    %s\n", d.line())
	}
	return b.String()
}

// title returns the line of a row: what would be done to which resource.
func (c Row) title(width int) string {
	return fmt.Sprintf("%s %-*s  %s", marks[c.Action].sign, width, cli.OneLine(cli.KindAndName(c.ID)), cli.OneLine(c.actionText()))
}

// actionText returns what would be done and why.
func (c Row) actionText() string {
	switch c.Action {
	case activities.PlanCreate, activities.PlanUpdate:
		action := string(c.Action)
		if len(c.After) > 0 {
			action += ", after " + shortNames(c.After)
		}
		// The differences show what an update changes.
		if len(c.Differences) == 0 && c.Action == activities.PlanUpdate {
			action += ": " + c.Message
		} else if c.AuthorKnown() {
			action += "; " + c.AuthorText()
		}
		if c.Held != "" {
			action += "; held: " + c.Held
		}
		return action
	case activities.PlanReplace:
		action := "replace: " + c.Message
		if len(c.Refusals) > 0 {
			action = "replace, refused: Azure refuses the change, and Armature does not replace it"
		}
		if c.Held != "" {
			action += "; held: " + c.Held
		}
		return action
	case activities.PlanBlocked:
		action := "blocked"
		if len(c.WaitingFor) > 0 {
			action += " by " + shortNames(c.WaitingFor)
		}
		return action + ": " + c.Message
	case activities.PlanConfigure:
		return "configure: an apply changes the settings below; " + c.Message
	case activities.PlanNone:
		return "unchanged: " + c.Message
	case activities.PlanError:
		return fmt.Sprintf("error %s: %s", c.Reason, c.Message)
	case ActionRefused:
		return "refused: " + string(c.Reason)
	case ActionFalls:
		return "falls with " + c.With.Short()
	case ActionKept:
		if !c.With.IsZero() {
			return "kept, because " + c.With.Short() + " stays"
		}
	}
	if c.Message != "" {
		return string(c.Action) + ": " + c.Message
	}
	return string(c.Action)
}

func shortNames(ids []resource.ID) string {
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = id.Short()
	}
	return strings.Join(names, ", ")
}

// count is the number of resources with an action.
type count struct {
	N     int
	Label string
}

// counts returns how many resources have which action, without those that stay unchanged.
func (p Plan) counts() []count {
	var counts []count
	for _, part := range []struct {
		action activities.PlanAction
		label  string
	}{
		{activities.PlanCreate, "to create"}, {activities.PlanUpdate, "to update"}, {activities.PlanReplace, "to replace"}, {activities.PlanConfigure, "to configure"}, {activities.PlanDelete, "to delete"},
		{ActionFalls, "to fall with others"}, {ActionAbsent, "absent"}, {ActionKept, "kept"}, {ActionRefused, "refused"},
		{activities.PlanBlocked, "blocked"}, {activities.PlanError, "failed"},
	} {
		if n := p.Summary[part.action]; n > 0 {
			counts = append(counts, count{n, part.label})
		}
	}
	return counts
}

// writes reports whether the plan has manifests to apply.
func (p Plan) writes() bool {
	return slices.ContainsFunc(p.Resources, func(c Row) bool { return c.Facts == nil })
}

// summary returns the last line.
func (p Plan) summary() string {
	var parts []string
	for _, c := range p.counts() {
		parts = append(parts, fmt.Sprintf("%d %s", c.N, c.Label))
	}
	title := p.title
	switch {
	case p.Verdict() == VerdictNone:
		parts = append(parts, cli.Count(len(p.Findings.Of(manifest.SeverityFault)), "fault"), cli.Count(len(p.Findings.Of(manifest.SeverityWarning)), "warning"))
	case !p.HasChanges():
		title = "No changes: "
		fallthrough
	case p.writes():
		parts = append(parts, p.unchanged()...)
	}
	return title + strings.Join(parts, ", ") + "."
}

// unchanged counts the resources that no apply changes.
func (p Plan) unchanged() []string {
	inSync, others, kept, unmanaged := 0, 0, 0, 0
	for _, c := range p.Resources {
		switch {
		case c.Action != activities.PlanNone:
		case !c.isInSync():
			others++
		default:
			inSync++
			if len(c.Owned)+len(c.Kept) > 0 {
				kept++
			}
			if !c.Managed {
				unmanaged++
			}
		}
	}
	var parts []string
	if others > 0 {
		parts = append(parts, fmt.Sprintf("%d left unchanged", others))
	}
	last := fmt.Sprintf("%d in sync", inSync)
	if kept > 0 {
		last += fmt.Sprintf(", %d of them with values that Azure keeps", kept)
	}
	if unmanaged > 0 {
		last += fmt.Sprintf(" (%d not managed yet: apply takes over the existing resources)", unmanaged)
	}
	return append(parts, last)
}
