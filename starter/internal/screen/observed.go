package screen

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
)

// Observed is the report of the corrections that were not sent in a period.
type Observed struct {
	Since   time.Time       `json:"since,omitzero"`
	Until   time.Time       `json:"until"`
	Summary ObservedSummary `json:"summary"`
	// Resources are sorted by ID.
	Resources []backend.ObservedResource `json:"resources"`
}

// ObservedSummary counts the resources of a report: each is in one of the counts after Observed,
// NotCompared or Enforced.
type ObservedSummary struct {
	// Observed counts those that were compared and only observed.
	Observed int `json:"observed"`
	// Unchanged would have needed no correction, Corrected some. Undecided have none, and their
	// last comparison was not decided.
	Unchanged int `json:"unchanged"`
	Corrected int `json:"corrected"`
	Undecided int `json:"undecided"`
	// NotCompared were not compared in the period, Enforced only while they were not observed.
	NotCompared int `json:"notCompared"`
	Enforced    int `json:"enforced"`
}

// NewObserved returns the report of resources.
func NewObserved(resources []backend.ObservedResource, since, until time.Time) Observed {
	o := Observed{Since: since, Until: until, Resources: slices.SortedFunc(slices.Values(resources), func(a, b backend.ObservedResource) int {
		return cmp.Compare(a.ID.Key(), b.ID.Key())
	})}
	for _, r := range o.Resources {
		switch {
		case r.Comparisons > 0:
			o.Summary.Observed++
			o.Summary.add(r)
		case r.Enforced > 0:
			o.Summary.Enforced++
		default:
			o.Summary.NotCompared++
		}
	}
	return o
}

// add counts a resource that was observed.
func (s *ObservedSummary) add(r backend.ObservedResource) {
	switch {
	case len(r.Corrections) > 0:
		s.Corrected++
	case r.Reason != "":
		s.Undecided++
	default:
		s.Unchanged++
	}
}

// maxObservedValue bounds a value in a table.
const maxObservedValue = 40

// Write writes the report in a format.
func (o Observed) Write(out io.Writer, format cli.Format) error {
	switch {
	case format.IsMachine():
		return format.Write(out, o) //nolint:wrapcheck // it says what failed
	case format == cli.FormatMarkdown:
		return o.writeMarkdown(out)
	}
	longest := maxObservedValue
	if format == cli.FormatWide {
		longest = 0
	}
	if _, err := fmt.Fprintln(out, o.title()); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	if rows := o.rows(longest); len(rows) > 0 {
		table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		_, _ = fmt.Fprintln(table, "\n"+strings.Join(observedColumns(), "\t"))
		for _, row := range rows {
			_, _ = fmt.Fprintln(table, strings.Join(row, "\t"))
		}
		if err := table.Flush(); err != nil {
			return fmt.Errorf("write the report: %w", err)
		}
	}
	for _, note := range o.notes() {
		if _, err := fmt.Fprintln(out, "\n"+note); err != nil {
			return fmt.Errorf("write the report: %w", err)
		}
	}
	return nil
}

// title counts the resources without a correction.
func (o Observed) title() string {
	period := "until " + text.Time(o.Until)
	if !o.Since.IsZero() {
		period = "from " + text.Time(o.Since) + " to " + text.Time(o.Until)
	}
	if o.Summary.Observed == 0 {
		return "No resource was compared while it was only observed, " + period + "."
	}
	return fmt.Sprintf("%d of %s would have needed no correction, %s.", o.Summary.Unchanged, cli.Count(o.Summary.Observed, "observed resource"), period)
}

func observedColumns() []string {
	return []string{"RESOURCE", "PATH", "AZURE", "MANIFEST", "FOUND", "FIRST", "LAST", "NOW", "CHANGED BY"}
}

// rows returns a row for each correction, with values of at most longest characters, 0 for all.
func (o Observed) rows(longest int) [][]string {
	var rows [][]string
	for _, r := range o.Resources {
		for _, c := range r.Corrections {
			path, observed, desired := c.Path, shortened(c.Observed, longest), shortened(c.Desired, longest)
			switch c.Kind {
			case backend.CorrectionCreate:
				path, observed, desired = "-", "absent", "created"
			case backend.CorrectionRemove:
				observed, desired = "set by others", "removed"
			case backend.CorrectionUpdate:
			}
			now := "gone"
			if c.Open {
				now = "differs"
			}
			author := "-"
			if c.AuthorKnown() {
				author = c.ChangedBy.String() + " at " + text.Time(c.ChangedAt)
			}
			rows = append(rows, []string{
				cli.OneLine(cli.KindAndName(r.ID)), cli.OneLine(path), observed, desired, fmt.Sprintf("%d of %d", c.Found, r.Comparisons),
				text.Time(c.First), text.Time(c.Last), now, cli.OneLine(author),
			})
		}
	}
	return rows
}

func shortened(value string, longest int) string {
	if longest == 0 {
		return cli.OneLine(value)
	}
	return cli.Cut(value, longest)
}

// notes returns what the table does not show: what was not decided or not compared, and what the
// histories do not reach.
func (o Observed) notes() []string {
	var notes []string
	var late []string
	begin := time.Time{}
	for _, r := range o.Resources {
		name := cli.OneLine(cli.KindAndName(r.ID))
		if r.MoreCorrections > 0 {
			notes = append(notes, fmt.Sprintf("%s: and up to %d more paths in one comparison", name, r.MoreCorrections))
		}
		switch {
		case r.Comparisons > 0 && r.Reason != "":
			notes = append(notes, fmt.Sprintf("%s: its last comparison was not decided (%s): %s", name, r.Reason, cli.OneLine(r.Message)))
		case r.Comparisons == 0 && r.Enforced == 0:
			notes = append(notes, fmt.Sprintf("%s: not compared%s", name, reasonText(r.Reason)))
		}
		if r.Since.After(begin) {
			begin = r.Since
		}
		if !r.Since.IsZero() {
			late = append(late, name)
		}
	}
	if n := o.Summary.Enforced; n > 0 {
		notes = append(notes, cli.CountAre(n, "resource")+" not observed: what differs there is corrected, see armature history.")
	}
	if len(late) > 0 {
		notes = append(notes, fmt.Sprintf("The histories of %s begin later, at %s at the latest: what was before is past the retention of the namespace.", cli.Count(len(late), "resource"), text.Time(begin)))
	}
	return notes
}

func reasonText(reason resource.Reason) string {
	if reason == "" {
		return ""
	}
	return " (" + string(reason) + ")"
}

// writeMarkdown writes the report as a table for a document or a comment. Names and values are
// data: they are in code.
func (o Observed) writeMarkdown(out io.Writer) error {
	var b strings.Builder
	b.WriteString("**" + o.title() + "**\n")
	if rows := o.rows(0); len(rows) > 0 {
		b.WriteString("\n| " + strings.ToLower(strings.Join(observedColumns(), " | ")) + " |\n" + strings.Repeat("|---", len(observedColumns())) + "|\n")
		for _, row := range rows {
			for _, cell := range row {
				b.WriteString("| " + codeCell(cell) + " ")
			}
			b.WriteString("|\n")
		}
	}
	for _, note := range o.notes() {
		b.WriteString("\n" + codeCell(note) + "\n")
	}
	if _, err := io.WriteString(out, b.String()); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

// codeCell returns a text as code in a cell of a table, where a bar would begin the next one.
func codeCell(s string) string {
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	return fence + " " + strings.ReplaceAll(s, "|", `\|`) + " " + fence
}
