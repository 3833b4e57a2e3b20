package plan

import (
	"slices"

	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/cli"
)

// list is a part of a plan that a reviewer must read first.
type list struct {
	Title string
	// IsBad is set for a list that stops the plan.
	IsBad bool
	Items []item
}

// item is one entry of a list. All texts are safe to show on one line.
type item struct {
	// ID is the resource of a row, zero for none.
	ID            resource.ID
	Subject, Text string
	// Remedy is the next step of a user, "" for none.
	Remedy string
}

// String returns the item on one line.
func (i item) String() string {
	line := i.Text
	if i.Subject != "" {
		line = i.Subject + ": " + line
	}
	if i.Remedy != "" {
		line += "; " + i.Remedy
	}
	return line
}

// lists returns the refusals with their remedies, the data that is lost, first that which
// nothing restores, the objections of a preflight, and the findings of the manifests, faults
// first. None of them is empty.
func (p Plan) lists() []list {
	var refused, lost, objections []item
	for _, c := range p.Resources {
		for _, refusal := range c.Refusals {
			refused = append(refused, item{c.ID, cli.OneLine(cli.KindAndName(c.ID)), cli.OneLine(string(refusal.Reason) + ": " + refusal.Message), cli.OneLine(refusal.Remedy)})
		}
		objections = append(objections, findings(c.Issues)...)
		switch {
		case c.Loss == nil || len(c.Refusals) > 0:
		case c.Loss.Final:
			lost = slices.Insert(lost, 0, c.Loss.item(c.ID))
		default:
			lost = append(lost, c.Loss.item(c.ID))
		}
	}
	return slices.DeleteFunc([]list{
		{"Refused", true, refused}, {"Lost data", true, lost}, {"Objections of Azure", true, objections},
		{"Faults of the manifests", true, findings(p.Findings.Of(manifest.SeverityFault))}, {"Warnings of the manifests", false, findings(p.Findings.Of(manifest.SeverityWarning))},
	}, func(l list) bool { return len(l.Items) == 0 })
}

func (l Loss) item(of resource.ID) item {
	return item{ID: of, Subject: cli.OneLine(firstOf(l.Of)), Text: cli.OneLine(l.String())}
}

// findings returns issues as items with file and line.
func findings(issues manifest.Issues) []item {
	items := make([]item, len(issues))
	for i, issue := range issues {
		items[i] = item{Subject: issue.Place(), Text: cli.OneLine(issue.Text())}
	}
	return items
}
