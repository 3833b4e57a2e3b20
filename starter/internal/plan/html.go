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

// htmlPage has the values of the page. All texts are data: the template escapes them.
type htmlPage struct {
	Title, Class, Summary, Policy string
	Verdict                       Verdict
	Style                         template.CSS
	Counts                        []count
	Lists                         []htmlList
	Preflight, Orphans            string
	Rows                          []htmlRow
	Unchanged                     []string
	UnchangedTitle                string
	Digest, Command               string
}

type htmlList struct {
	list
	Items []htmlItem
}

// htmlItem is an item with the anchor of its row.
type htmlItem struct {
	item
	Anchor string
}

// htmlRow is one resource that the plan changes.
type htmlRow struct {
	Anchor, Sign, Class, Name, ID, Text string
	Action                              activities.PlanAction
	Notes                               []string
	Diff                                []htmlDetail
	Body                                []htmlDetail
	BodyTitle                           string
}

// htmlDetail is a detail for the template.
type htmlDetail struct {
	Path, Before, After, Remark string
	Changes, Inside             bool
}

// HTML returns the plan as one self-contained page without script: what a reviewer must read
// first, then all rows in order. Resources in sync are folded.
func (p Plan) HTML() (string, error) {
	sum := sha256.Sum256([]byte(pageStyle))
	shown := htmlPage{
		Title: strings.TrimSuffix(p.title, ": "), Verdict: p.Verdict(), Class: verdictClasses[p.Verdict()], Summary: p.summary(), Counts: p.counts(),
		Policy: "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'",
		//nolint:gosec // the style is a part of this program
		Style: template.CSS(pageStyle), Digest: p.Digest(), Command: "armature apply --plan-file",
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
		row := c.html()
		row.Anchor = fmt.Sprintf("r%d", len(shown.Rows)+1)
		anchors[c.ID.Key()] = row.Anchor
		shown.Rows = append(shown.Rows, row)
	}
	shown.UnchangedTitle = cli.Count(len(shown.Unchanged), "unchanged resource")
	for _, l := range p.lists() {
		of := htmlList{list: l}
		for _, i := range l.Items {
			of.Items = append(of.Items, htmlItem{item: i, Anchor: anchors[i.ID.Key()]})
		}
		shown.Lists = append(shown.Lists, of)
	}
	var b strings.Builder
	if err := page.Execute(&b, shown); err != nil {
		return "", fmt.Errorf("write HTML: %w", err)
	}
	return b.String(), nil
}

// verdictClasses are the style classes of the verdicts.
var verdictClasses = map[Verdict]string{
	VerdictUnchanged: "unchanged", VerdictChanges: "changes", VerdictRefused: "refused", VerdictFailed: "failed", VerdictNone: "none-made",
}

// html returns a row with its details: remarks first, then values, and the body of a resource
// to create by itself.
func (c Row) html() htmlRow {
	row := htmlRow{Sign: marks[c.Action].sign, Class: string(c.Action), Action: c.Action, Name: cli.OneLine(cli.KindAndName(c.ID))}
	// The tag and the notes have these words already.
	if row.Text = cli.OneLine(c.actionText()); row.Text == string(c.Action) || c.Action == ActionRefused {
		row.Text = ""
	}
	if c.Facts != nil {
		row.ID = text.Name(c.ID.String())
	}
	for _, d := range c.details(true) {
		line := htmlDetail{Path: d.path, Before: d.before, After: d.after, Remark: d.remark, Changes: d.changes, Inside: d.inside}
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
