package feed

import (
	"cmp"
	"slices"
	"strings"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

// Target is a resource that changed, with its reports, oldest first.
type Target struct {
	ID      resource.ID
	Reports []resource.ReportedChange
	// Parts is set if resources that are part of its body may have changed with it.
	Parts bool
}

// Targets groups changes by the resource whose reading they may change: the resource itself, and
// a parent whose body lists the child. Actions count if the facts of their type say that they
// change the resource.
func Targets(changes []Change, facts func(resourceType string) extensions.Facts) []Target {
	at := map[string]int{}
	var targets []Target
	add := func(id resource.ID, change resource.ReportedChange, parts bool) {
		i, known := at[id.Key()]
		if !known {
			i = len(targets)
			at[id.Key()] = i
			targets = append(targets, Target{ID: id})
		}
		targets[i].Parts = targets[i].Parts || parts
		if !slices.ContainsFunc(targets[i].Reports, change.Same) {
			targets[i].Reports = append(targets[i].Reports, change)
		}
	}
	for _, change := range changes {
		own := facts(change.ID.Type())
		if change.Kind == resource.ChangeAction && !own.Wakes(actionName(change.Operation)) {
			continue
		}
		add(change.ID, change.ReportedChange, len(own.InlineLists) > 0)
		if parent := change.ID.Owner(); !parent.IsZero() && listsInline(facts(parent.Type()), parent, change.ID) {
			add(parent, change.ReportedChange, false)
		}
	}
	for i := range targets {
		reports := targets[i].Reports
		slices.SortStableFunc(reports, func(a, b resource.ReportedChange) int {
			return cmp.Or(a.At.Compare(b.At), strings.Compare(a.Correlation, b.Correlation))
		})
		targets[i].Reports = reports[max(0, len(reports)-resource.MaxReportedChanges):]
	}
	return targets
}

// listsInline reports whether the body of a parent lists a child.
func listsInline(facts extensions.Facts, parent, child resource.ID) bool {
	relative := strings.TrimPrefix(strings.ToLower(child.Type()), strings.ToLower(parent.Type())+"/")
	return slices.ContainsFunc(facts.InlineLists, func(list extensions.InlineList) bool {
		return slices.ContainsFunc(list.Types, func(t string) bool { return strings.EqualFold(t, relative) })
	})
}

// actionName returns the last but one segment of the operation of an action: failover of
// TYPE/failover/action.
func actionName(operation string) string {
	segments := strings.Split(strings.TrimSuffix(strings.ToLower(operation), "/action"), "/")
	return segments[len(segments)-1]
}
