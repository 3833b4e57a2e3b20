package plan

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"strings"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/starter/internal/cli"
)

// The page and its style.
var (
	//go:embed plan.html.tmpl
	pageText string
	//go:embed plan.css
	pageStyle string
	page      = template.Must(template.New("plan").Parse(pageText))
)

// Page has the values of a page about a plan. All texts are data: templates escape them.
type Page struct {
	Title, Summary     string
	Verdict            Verdict
	Counts             []count
	Lists              []pageList
	Preflight, Orphans string
	Rows               []PageRow
	Unchanged          []string
	UnchangedTitle     string
	// Digest is that of the plan file, and Command the command that takes the file.
	Digest, Command string
}

type pageList struct {
	list
	Items []pageItem
}

// pageItem is an item with the anchor of its row.
type pageItem struct {
	item
	Anchor string
}

// PageRow is one resource that the plan changes.
type PageRow struct {
	Anchor, Sign, Class, Name, ID, Text string
	Action                              activities.PlanAction
	Notes                               []string
	Diff                                []pageDetail
	Body                                []pageDetail
	BodyTitle                           string
}

// pageDetail is a detail for templates.
type pageDetail struct {
	Path, Before, After, Remark string
	Changes, Inside             bool
}

// HTML returns the plan as one self-contained page without script: what a reviewer must read
// first, then all rows in order. Resources in sync are folded.
func (p Plan) HTML() (string, error) {
	sum := sha256.Sum256([]byte(pageStyle))
	var b strings.Builder
	err := page.Execute(&b, struct {
		Page
		Class, Policy string
		Style         template.CSS
	}{
		Page: p.Page(), Class: verdictClasses[p.Verdict()],
		Policy: "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'",
		//nolint:gosec // the style is a part of this program
		Style: template.CSS(pageStyle),
	})
	if err != nil {
		return "", fmt.Errorf("write HTML: %w", err)
	}
	return b.String(), nil
}

// Page returns the values of a page: what a reviewer must read first, then all rows in order.
func (p Plan) Page() Page {
	shown := Page{
		Title: strings.TrimSuffix(p.title, ": "), Verdict: p.Verdict(), Summary: p.summary(), Counts: p.counts(),
		Digest: p.Digest(), Command: "armature apply --plan-file",
		Preflight: p.Preflight.text(), Orphans: p.orphansText(cli.OneLine),
	}
	if !p.writes() {
		shown.Command = "armature delete --plan-file"
	}
	anchors := map[string]string{}
	for _, c := range p.Resources {
		if c.isInSync() && len(c.Owned) == 0 {
			shown.Unchanged = append(shown.Unchanged, cli.OneLine(cli.KindAndName(c.ID)))
			continue
		}
		row := c.page()
		row.Anchor = fmt.Sprintf("r%d", len(shown.Rows)+1)
		anchors[c.ID.Key()] = row.Anchor
		shown.Rows = append(shown.Rows, row)
	}
	shown.UnchangedTitle = cli.Count(len(shown.Unchanged), "unchanged resource")
	for _, l := range p.lists() {
		of := pageList{list: l}
		for _, i := range l.Items {
			of.Items = append(of.Items, pageItem{item: i, Anchor: anchors[i.ID.Key()]})
		}
		shown.Lists = append(shown.Lists, of)
	}
	return shown
}

// verdictClasses are the style classes of the verdicts.
var verdictClasses = map[Verdict]string{
	VerdictUnchanged: "unchanged", VerdictChanges: "changes", VerdictRefused: "refused", VerdictFailed: "failed", VerdictNone: "none-made",
}

// page returns a row with its details: remarks first, then values, and the body of a resource
// to create by itself.
func (c Row) page() PageRow {
	row := PageRow{Sign: marks[c.Action].sign, Class: string(c.Action), Action: c.Action, Name: cli.OneLine(cli.KindAndName(c.ID))}
	// The tag and the notes have these words already.
	if row.Text = cli.OneLine(c.actionText()); row.Text == string(c.Action) || c.Action == ActionRefused {
		row.Text = ""
	}
	if c.Facts != nil {
		row.ID = text.Name(c.ID.String())
	}
	for _, d := range c.details(true) {
		line := pageDetail{Path: d.path, Before: d.before, After: d.after, Remark: d.remark, Changes: d.changes, Inside: d.inside}
		switch {
		case d.added:
			row.Body = append(row.Body, line)
		case d.remark == row.ID:
		case d.path == "" && !d.inside, c.Facts != nil:
			row.Notes = append(row.Notes, d.line())
		default:
			row.Diff = append(row.Diff, line)
		}
	}
	row.BodyTitle = cli.Count(len(row.Body), "value")
	return row
}
