package plan

import (
	"fmt"
	"io"
	"strings"

	"github.com/armature-io/armature/activities"
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
	activities.PlanDelete:  {"-", colors.FgRed},
	activities.PlanBlocked: {"!", colors.FgYellow},
	activities.PlanError:   {"x", colors.FgRed},
	activities.PlanNone:    {"=", colors.FgCyan},

	activities.PlanConfigure: {"*", colors.FgYellow},
}

// Formats returns the output formats of a plan.
func Formats() []string { return append(cli.Formats(), string(cli.FormatMarkdown)) }

// Show writes the plan in a format.
func (p Plan) Show(out io.Writer, format cli.Format, ink cli.Ink) error {
	shown := p.Text(format == cli.FormatWide, ink)
	switch {
	case format.IsMachine():
		return format.Write(out, p)
	case format == cli.FormatMarkdown:
		shown = p.Markdown()
	}
	fmt.Fprint(out, shown)
	return nil
}

// Text returns the changes and a summary. Resources that are in sync are counted
// only, unless values of theirs have another owner, or wide, which also shows the bodies of
// resources to create.
func (p Plan) Text(wide bool, ink cli.Ink) string {
	var b strings.Builder
	for _, c := range p.Resources {
		if wide || !c.isInSync() || len(c.Owned) > 0 {
			b.WriteString(c.text(wide, ink))
		}
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
func (c Change) isInSync() bool {
	return c.Action == activities.PlanNone && c.Severity == resource.SeverityNone && len(c.Differences) == 0 && !c.exports()
}

// Text returns one change with its differences.
func (c Change) Text(ink cli.Ink) string { return c.text(false, ink) }

func (c Change) text(wide bool, ink cli.Ink) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", ink.Paint(marks[c.Action].color, c.title()))
	for _, d := range c.details(wide) {
		fmt.Fprintf(&b, "    %s\n", d.line())
	}
	return b.String()
}

// title returns the line of a change: what would be done to which resource.
func (c Change) title() string {
	return marks[c.Action].sign + " " + cli.KindAndName(c.ID) + "  " + cli.OneLine(c.actionText())
}

// actionText returns what would be done and why.
func (c Change) actionText() string {
	switch c.Action {
	case activities.PlanCreate, activities.PlanUpdate:
		action := string(c.Action)
		if len(c.After) > 0 {
			action += ", after " + shortNames(c.After)
		}
		// The differences show what an update changes.
		if len(c.Differences) == 0 && c.Action == activities.PlanUpdate {
			action += ": " + c.Message
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

// summary returns the last line.
func (p Plan) summary() string {
	var parts []string
	for _, part := range []struct {
		action activities.PlanAction
		label  string
	}{
		{activities.PlanCreate, "to create"}, {activities.PlanUpdate, "to update"}, {activities.PlanConfigure, "to configure"}, {activities.PlanDelete, "to delete"},
		{activities.PlanBlocked, "blocked"}, {activities.PlanError, "failed"},
	} {
		if n := p.Summary[part.action]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, part.label))
		}
	}
	inSync, unchanged, kept, unmanaged := 0, 0, 0, 0
	for _, c := range p.Resources {
		switch {
		case c.Action != activities.PlanNone:
		case !c.isInSync():
			unchanged++
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
	if unchanged > 0 {
		parts = append(parts, fmt.Sprintf("%d left unchanged", unchanged))
	}
	last := fmt.Sprintf("%d in sync", inSync)
	if kept > 0 {
		last += fmt.Sprintf(", %d of them with values that Azure keeps", kept)
	}
	if unmanaged > 0 {
		last += fmt.Sprintf(" (%d not managed yet: apply takes over the existing resources)", unmanaged)
	}
	title := p.title
	if !p.HasChanges() {
		title = "No changes: "
	}
	return title + strings.Join(append(parts, last), ", ") + "."
}
