package manifest

import (
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// Objection is the rule of an issue that Azure found, not this package.
const Objection types.Rule = "azure-objection"

// IssueOf returns a fault that Azure found in a property of a resource, which it names with or
// without properties in front. A missing property has the position of the object that lacks it,
// and one that cannot be found the position of the manifest.
func (s Set) IssueOf(id resource.ID, property, message string) Issue {
	source := s.Sources[id.Key()]
	issue := Issue{File: source.File, Line: source.Line, Severity: SeverityFault, Rule: Objection, Path: property, Message: message}
	path, err := resource.ParsePath(property)
	d := s.drafts[id.Key()]
	if d == nil || err != nil || len(path) == 0 {
		return issue
	}
	at, shown, value := locateFinding(d, types.Finding{Path: path, AtName: true})
	if value == nil {
		inside := append(resource.Path{{Name: "properties"}}, path...)
		if below, name, stated := locateFinding(d, types.Finding{Path: inside, AtName: true}); stated != nil {
			at, shown = below, name
		}
	}
	issue.File, issue.Line, issue.Column, issue.Path = at.in(d.file), at.line, at.column, shown
	return issue
}
