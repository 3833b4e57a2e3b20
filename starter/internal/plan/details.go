package plan

import (
	"slices"
	"strings"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/activities/contents"
	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/cli"
)

// detail is one line about a row: a value that changes, or a remark. All texts are safe
// to show on one line.
type detail struct {
	path string
	// before and after are set for a value that changes; added for one of a new resource,
	// which has no before.
	before, after string
	changes       bool
	added         bool
	// inside is set for a member of the value in the line above.
	inside bool
	// remark is shown as it is, or after the values.
	remark string
}

// line returns the detail as a line of text.
func (d detail) line() string {
	indent := ""
	if d.inside {
		indent = "    "
	}
	switch {
	case d.added:
		return indent + d.path + ": " + d.after
	case d.changes && d.remark != "":
		return indent + d.path + ": " + d.before + " -> " + d.after + "  (" + d.remark + ")"
	case d.changes:
		return indent + d.path + ": " + d.before + " -> " + d.after
	case d.path != "":
		return indent + d.path + ": " + d.remark
	}
	return indent + d.remark
}

// details returns the lines of a row. wide adds the body of a resource to create, and all
// contents of one to delete.
func (c Row) details(wide bool) []detail {
	lines := c.deletionDetails(wide)
	if wide && c.Action == activities.PlanCreate {
		lines = append(lines, bodyDetails(*c.desired)...)
	}
	for _, d := range c.Differences {
		lines = append(lines, differenceDetails(d)...)
		if c.Replacement != nil && slices.Contains(c.Replacement.Paths, d.Path) {
			lines = append(lines, detail{inside: true, remark: "Azure refuses to change it: only a new resource has the value"})
		}
	}
	lines = append(lines, c.replacementDetails()...)
	if c.More > 0 {
		lines = append(lines, detail{remark: "and " + cli.Count(c.More, "more difference")})
	}
	for _, path := range c.Drops {
		lines = append(lines, detail{path: text.Name(path), remark: "removed by the PUT, because the manifest does not set it"})
	}
	if c.MoreDrops > 0 {
		lines = append(lines, detail{remark: "and " + cli.Count(c.MoreDrops, "more removal")})
	}
	for _, owned := range c.Owned {
		lines = append(lines, detail{remark: "kept: " + cli.OneLine(owned)})
	}
	if wide {
		for _, path := range c.Kept {
			lines = append(lines, detail{path: text.Name(path), remark: "Azure keeps another value, which is accepted"})
		}
	}
	for _, s := range c.Settings {
		lines = append(lines, settingDetail(s))
	}
	lines = append(lines, c.exportDetails()...)
	for _, warning := range c.Warnings {
		lines = append(lines, detail{remark: "warning: " + cli.OneLine(warning)})
	}
	return append(lines, c.preflightDetails()...)
}

// deletionDetails returns the ID of a resource to delete, the refusals with their remedies, the
// data that is lost, the resources that need it, and the contents that fall with it.
func (c Row) deletionDetails(wide bool) []detail {
	if c.Facts == nil {
		return nil
	}
	lines := []detail{{remark: text.Name(c.ID.String())}}
	lines = append(lines, c.guardDetails()...)
	if len(c.Contents) > 0 && c.Action != ActionRefused && c.Action != ActionKept {
		names := firstOf(c.Contents)
		if wide {
			names = strings.Join(c.Contents, ", ")
		}
		lines = append(lines, detail{path: "falls with it", remark: cli.OneLine(names)})
	}
	return lines
}

// guardDetails returns the refusals with their remedies, the data that is lost, and the resources
// that need the resource.
func (c Row) guardDetails() []detail {
	var lines []detail
	for _, refusal := range c.Refusals {
		lines = append(lines, detail{remark: cli.OneLine(refusal.String())})
	}
	if c.Loss != nil {
		of := "data"
		if len(c.Loss.Of) > 1 || c.Loss.Of[0] != contents.DisplayName(c.ID) {
			of = "data in " + firstOf(c.Loss.Of)
		}
		lines = append(lines, detail{path: cli.OneLine(of), remark: cli.OneLine(c.Loss.String())})
	}
	if len(c.Outside) > 0 {
		lines = append(lines, detail{path: "needed by", remark: cli.OneLine(firstOf(displayNames(c.Outside)))})
	}
	return lines
}

// differenceDetails returns the lines of a difference: of two JSON texts, the members that
// differ.
func differenceDetails(d resource.Difference) []detail {
	if len(d.Parts) == 0 {
		return []detail{{path: text.Name(d.Path), before: text.Visible(d.Observed), after: text.Visible(d.Desired), changes: true, remark: cli.OneLine(d.Rule)}}
	}
	lines := []detail{{path: text.Name(d.Path), remark: "its JSON differs"}}
	for _, part := range d.Parts {
		path := text.Name(part.Path)
		if path == "" {
			path = "the document"
		}
		lines = append(lines, detail{path: path, before: text.Visible(part.Observed), after: text.Visible(part.Desired), changes: true, inside: true})
	}
	if d.MoreParts > 0 {
		lines = append(lines, detail{inside: true, remark: "and " + cli.Count(d.MoreParts, "more member")})
	}
	return lines
}

// settingDetail returns the line of a setting that an apply changes.
func settingDetail(s resource.SpecChange) detail {
	if s.Path == "body" {
		return detail{path: s.Path, remark: "changed, and nothing in Azure differs from it"}
	}
	return detail{path: text.Name(s.Path), before: text.Visible(s.Before), after: text.Visible(s.After), changes: true, remark: "setting"}
}

// Cause is why a resource is not in sync: a difference at a path, or an action without one.
type Cause struct{ Path, Text string }

// Causes returns a cause for each difference, or one for the action if a resource has none;
// nothing for a resource that stays as it is. All texts are safe to show on one line.
func (c Row) Causes() []Cause {
	if c.Action == activities.PlanNone {
		return nil
	}
	held := ""
	if c.Held != "" {
		held = "; held: " + cli.OneLine(c.Held)
	}
	var found []Cause
	for _, d := range c.Differences {
		for _, line := range differenceDetails(d) {
			if !line.changes {
				continue
			}
			text := line.before + " -> " + line.after
			if line.inside {
				text = line.path + ": " + text
			}
			if line.remark != "" {
				text += " (" + line.remark + ")"
			}
			found = append(found, Cause{d.Path, text + held})
		}
	}
	if len(found) == 0 {
		return []Cause{{Text: cli.OneLine(c.actionText())}}
	}
	if c.More > 0 {
		found = append(found, Cause{Text: "and " + cli.Count(c.More, "more difference")})
	}
	return found
}
