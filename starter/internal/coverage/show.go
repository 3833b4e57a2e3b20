package coverage

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
)

// Bounds of Markdown, in bytes. A comment of GitHub has at most 65,536 characters.
const (
	maxMarkdown = 65_000
	// cutNoteBytes is reserved for the lines after a list.
	cutNoteBytes = 500
)

// MarkdownMarker is the first line of the Markdown: pipelines find the comment to update by it.
// It does not change.
const MarkdownMarker = "<!-- armature-unmanaged -->"

// Formats returns the output formats.
func Formats() []string { return append(cli.Formats(), string(cli.FormatMarkdown)) }

// Show writes the report in a format.
func (r Report) Show(out io.Writer, format cli.Format) error {
	switch {
	case format.IsMachine():
		return format.Write(out, r)
	case format == cli.FormatMarkdown:
		fmt.Fprint(out, r.markdown())
		return nil
	case format == cli.FormatWide:
		r.writeWide(out)
	case len(r.Unmanaged) > 0:
		r.writeTable(out)
	}
	fmt.Fprintln(out, r.summary())
	return nil
}

// summary returns the last line.
func (r Report) summary() string {
	parts := []string{"nothing to manage"}
	if r.Coverage != nil {
		all := r.Summary.Managed + r.Summary.Unmanaged
		parts = []string{fmt.Sprintf("%.1f %% (%d of %s managed)", *r.Coverage, r.Summary.Managed, cli.Count(all, "resource"))}
	}
	for _, count := range []struct {
		n    int
		text string
	}{{r.Summary.Unmanaged, "unmanaged"}, {r.Summary.Ignored, "ignored"}, {r.Summary.NotRead, "not read"}} {
		if count.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count.n, count.text))
		}
	}
	return "Coverage: " + strings.Join(parts, ", ") + "."
}

// writeTable writes a line for each unmanaged resource.
func (r Report) writeTable(out io.Writer) {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "NAME\tTYPE\tGROUP\n")
	for i, name := range names(r.Unmanaged) {
		found := r.Unmanaged[i]
		group := found.ID.ResourceGroup()
		if group == "" {
			group = "-"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\n", text.Visible(name), text.Visible(found.Type), text.Visible(group))
	}
	_ = table.Flush() // the writer of the command knows its errors
	fmt.Fprintln(out)
}

// names returns the names of resources, behind the resource group where they repeat, and with
// the resource to which they are attached.
func names(all []Resource) []string {
	ids, displayed := make([]resource.ID, len(all)), make([]string, len(all))
	for i, found := range all {
		ids[i], displayed[i] = found.ID, found.Name
	}
	shown := backend.GroupNames(ids, displayed)
	for i, id := range ids {
		if owner := id.Owner(); !owner.IsZero() && !owner.IsContainer() && !id.IsChild() {
			shown[i] += " on " + owner.Short()
		}
	}
	return shown
}

// writeWide writes a line for each resource that is not managed, with the reason and its ID.
func (r Report) writeWide(out io.Writer) {
	if len(r.classes()) == 0 {
		return
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "STATUS\tTYPE\tWHY\tID\n")
	for _, class := range r.classes() {
		for _, found := range class.resources {
			why := "-"
			if found.Why != "" {
				why = cli.OneLine(found.Why)
			}
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", class.status, text.Visible(found.Type), why, text.Visible(found.ID.String()))
		}
	}
	_ = table.Flush() // the writer of the command knows its errors
	fmt.Fprintln(out)
}

// Notes returns the sentences for standard error: patterns without effect, and the first
// resources and lists that are not known.
func (r Report) Notes() []string {
	var notes []string
	for _, p := range r.Unused {
		notes = append(notes, fmt.Sprintf("%s:%d: %s matches no unmanaged resource; remove the pattern unless other scopes need it", text.Name(r.ignore.File), p.Line, text.Visible(p.Text)))
	}
	for _, found := range r.NotRead {
		notes = append(notes, "not read: "+found.place()+": "+cli.OneLine(found.Why))
	}
	if n := len(r.NotListed); n > 0 {
		notes = append(notes, cli.CountOf(n, "collection is", "collections are")+" not known, because Azure does not list them; -o wide names each")
	}
	return notes
}

// place returns the name of a resource, or of a collection in one.
func (r Resource) place() string {
	if !strings.EqualFold(r.Type, r.ID.Type()) {
		return cli.OneLine(r.Type + " in " + r.ID.Short())
	}
	return cli.OneLine(cli.KindAndName(r.ID))
}

// markdown returns the report for a comment: the summary, and a line for each unmanaged
// resource and for each list that was not read. It has at most maxMarkdown bytes and counts
// what it leaves out. Names are data: they are in code.
func (r Report) markdown() string {
	var b strings.Builder
	b.WriteString(MarkdownMarker + "\n**" + r.summary() + "**\n")
	r.writeList(&b, "Unmanaged", r.Unmanaged)
	r.writeList(&b, "Not read", r.NotRead)
	if n := len(r.Unused); n > 0 {
		fmt.Fprintf(&b, "\nIn the ignore file, %s no unmanaged resource.\n", cli.CountOf(n, "pattern matches", "patterns match"))
	}
	return b.String()
}

// writeList writes resources as a list below a title.
func (r Report) writeList(b *strings.Builder, title string, all []Resource) {
	if len(all) == 0 {
		return
	}
	b.WriteString("\n" + title + ":\n\n")
	for i, found := range all {
		line := found.place() + "  " + found.ID.String()
		if found.Why != "" {
			line += "  " + found.Why
		}
		line = "- " + cli.CodeSpan(cli.AsWritten(cli.Cut(line, maxLine))) + "\n"
		if b.Len()+len(line) > maxMarkdown-cutNoteBytes {
			fmt.Fprintf(b, "- and %d more; `-o wide` shows all\n", len(all)-i)
			return
		}
		b.WriteString(line)
	}
}

// maxLine bounds a line of Markdown, in characters. An ID has at most about 2,000.
const maxLine = 2500
