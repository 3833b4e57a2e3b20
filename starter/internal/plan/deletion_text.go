package plan

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/armature-io/armature/starter/internal/cli"
)

// Show writes the plan of a deletion in a format.
func (p DeletionPlan) Show(out io.Writer, format cli.Format) error {
	switch {
	case format.IsMachine():
		return format.Write(out, p)
	case format == cli.FormatMarkdown:
		fmt.Fprint(out, p.Markdown())
	default:
		fmt.Fprint(out, p.Text(format == cli.FormatWide))
	}
	return nil
}

// Text returns a table with a row for each resource, and below a row why the resource may not
// be deleted and what to do. With wide it names all contents.
func (p DeletionPlan) Text(wide bool) string {
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "RESOURCE\tRESULT\tDATA")
	for _, row := range p.Resources {
		fmt.Fprintf(w, "%s\t%s\t%s\n", cli.OneLine(cli.KindAndName(row.ID)), cli.OneLine(row.result()), cli.OneLine(row.data()))
	}
	w.Flush() //nolint:errcheck,gosec // a builder returns no error
	lines := strings.SplitAfter(table.String(), "\n")
	var b strings.Builder
	b.WriteString(lines[0])
	for i, row := range p.Resources {
		b.WriteString(lines[i+1])
		for _, line := range row.remarks(wide) {
			b.WriteString("    " + cli.OneLine(line) + "\n")
		}
	}
	return b.String() + "\n" + p.summary() + "\n"
}

// Markdown returns the plan as a table for a comment. Names and messages are data: they are in
// code.
func (p DeletionPlan) Markdown() string {
	var b strings.Builder
	b.WriteString(MarkdownMarker + "\n**" + p.summary() + "**\n\n| resource | result | data | needed by | why, and what to do |\n|---|---|---|---|---|\n")
	for i, row := range p.Resources {
		cells := []string{cli.KindAndName(row.ID), row.result(), row.data(), firstOf(displayNames(row.Outside)), strings.Join(row.remarks(false)[1:], "; ")}
		line := "|"
		for _, cell := range cells {
			if cell = asWritten(cli.Cut(cli.OneLine(cell), maxLine)); cell != "" {
				cell = codeSpan(strings.ReplaceAll(cell, "|", `\|`))
			}
			line += " " + cell + " |"
		}
		if b.Len()+len(line) > maxMarkdown-cutNoteBytes {
			fmt.Fprintf(&b, "\nCut to fit into a comment: %s not shown. `-o wide` shows all.\n", cli.CountAre(len(p.Resources)-i, "resource"))
			break
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// result returns what happens to the resource.
func (r DeletionRow) result() string {
	switch {
	case r.Result == ResultRefused:
		return "refused: " + string(r.Refusals[0].Reason)
	case r.Result == ResultFalls:
		return "falls with " + r.With.Short()
	case r.Result == ResultKept && !r.With.IsZero():
		return "kept, because " + r.With.Short() + " stays"
	case r.Message != "":
		return string(r.Result) + ": " + r.Message
	case r.Facts.Deleting:
		return "deleted: its deletion runs already"
	}
	return string(r.Result)
}

// data returns whether a deletion deletes data, and how Azure restores it.
func (r DeletionRow) data() string {
	switch {
	case len(r.Data) == 0:
		return ""
	case r.Restore == "":
		return "deleted; whether Azure can restore it is not known"
	}
	return "deleted; to restore it, " + r.Restore
}

// remarks returns the ID of the resource, the refusals with their remedies, and the contents
// that fall with it.
func (r DeletionRow) remarks(wide bool) []string {
	lines := []string{r.ID.String()}
	for _, refusal := range r.Refusals {
		lines = append(lines, string(refusal.Reason)+": "+refusal.Message+"; "+refusal.Remedy)
	}
	if len(r.Contents) > 0 && len(r.Refusals) == 0 && r.Result != ResultKept {
		texts := firstOf(r.Contents)
		if wide {
			texts = strings.Join(r.Contents, ", ")
		}
		lines = append(lines, "falls with it: "+texts)
	}
	return lines
}

// summary returns the last line.
func (p DeletionPlan) summary() string {
	var parts []string
	for _, part := range []struct {
		result DeletionResult
		label  string
	}{
		{ResultDeleted, "to delete"}, {ResultFalls, "to fall with others"}, {ResultAbsent, "absent"}, {ResultKept, "kept"}, {ResultRefused, "refused"},
	} {
		if n := p.Summary[part.result]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, part.label))
		}
	}
	return "Deletion: " + strings.Join(parts, ", ") + "."
}
