package plan

import (
	"fmt"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/starter/internal/cli"
)

// Preflight counts ARM's judgements of the PUTs of a plan. Its JSON names do not change.
type Preflight struct {
	// Asked counts the resources that ARM judged, and Objected those of them that it rejects.
	Asked       int `json:"asked"`
	Objected    int `json:"objected"`
	NotAsked    int `json:"notAsked"`
	Unsupported int `json:"unsupported"`
}

// SetPreflight counts ARM's answers, and finds the places of its objections in the manifests.
func (p *Plan) SetPreflight(set manifest.Set) {
	p.Preflight = &Preflight{}
	for i, c := range p.Resources {
		found := c.Preflight
		if found == nil {
			continue
		}
		switch found.Outcome {
		case activities.PreflightNoObjection:
			p.Preflight.Asked++
		case activities.PreflightObjected:
			p.Preflight.Asked++
			p.Preflight.Objected++
		case activities.PreflightNotAsked:
			p.Preflight.NotAsked++
		case activities.PreflightUnsupported:
			p.Preflight.Unsupported++
		}
		for _, objection := range found.Objections {
			message := objection.Message
			if objection.Code != "" {
				message += " (" + objection.Code + ")"
			}
			p.Resources[i].Issues = append(p.Resources[i].Issues, set.IssueOf(c.ID, objection.Path, message))
		}
	}
}

// text returns the line about a preflight, "" for none.
func (p *Preflight) text() string {
	found := "ARM found nothing"
	switch {
	case p == nil:
		return ""
	case *p == Preflight{}:
		return "Preflight: the plan makes no PUT to ask about."
	case p.Objected > 0:
		found = "ARM objects to " + cli.Count(p.Objected, "resource")
	case p.Asked == 0:
		found = "ARM was asked about nothing"
	}
	return fmt.Sprintf("Preflight: %s (%d asked, %d not asked, %d unsupported).", found, p.Asked, p.NotAsked, p.Unsupported)
}

// preflightDetails returns the lines about the preflight of a row.
func (c Row) preflightDetails() []detail {
	var lines []detail
	for _, issue := range c.Issues {
		place := text.Name(issue.File) + fmt.Sprintf(":%d", issue.Line)
		lines = append(lines, detail{path: text.Name(issue.Path), remark: cli.OneLine(issue.Message) + ", " + place})
	}
	switch found := c.Preflight; {
	case found == nil:
	case found.Outcome == activities.PreflightNotAsked:
		lines = append(lines, detail{remark: "ARM was not asked: " + cli.OneLine(found.Reason)})
	case found.Outcome == activities.PreflightUnsupported:
		lines = append(lines, detail{remark: "ARM has no preflight of this type: " + cli.OneLine(found.Reason)})
	}
	return lines
}
