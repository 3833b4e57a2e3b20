package plan

import (
	"fmt"
	"slices"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/activities/contents"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/cli"
)

// Change is how a resource differs between a plan file and a plan of now.
type Change struct {
	// Texts are sentences without the resource, at least one.
	Texts []string
	// Row is the current row of a write, zero for a deletion.
	Row Row
	ID  resource.ID
}

// Changes returns the resources that differ between the file and a plan of now, in the order
// of the file.
func (f File) Changes(now Plan) []Change {
	current := map[string]Row{}
	for _, row := range now.Resources {
		current[row.ID.Key()] = row
	}
	var changes []Change
	note := func(id resource.ID, row Row, texts ...string) {
		if len(texts) > 0 {
			changes = append(changes, Change{ID: id, Row: row, Texts: texts})
		}
	}
	for _, step := range f.Steps {
		id := step.Resource()
		row, known := current[id.Key()]
		delete(current, id.Key())
		switch {
		case !known:
			note(id, Row{}, "is no longer part of the plan")
		case step.Facts != nil && row.Facts != nil:
			texts := changedFacts(*step.Facts, *row.Facts)
			if len(texts) == 0 && step.Action != row.Action {
				texts = []string{fmt.Sprintf("was planned to be %s and would be %s", participle(step.Action), participle(row.Action))}
			}
			note(id, Row{}, texts...)
		case step.isStale(row):
			note(id, row, "was planned to be "+participle(step.Action))
		}
	}
	for _, row := range now.Resources {
		if _, added := current[row.ID.Key()]; added {
			note(row.ID, Row{}, "would be "+participle(row.Action)+" too, and was not in the plan")
		}
	}
	return changes
}

// isStale reports whether the new plan of a write differs from its planned one. A blocked
// resource is never stale, because it is not applied.
func (s Step) isStale(now Row) bool {
	return s.Action != activities.PlanBlocked && (now.Action != s.Action || now.Fingerprint != s.Fingerprint)
}

// participle returns an action as a participle.
func participle(action activities.PlanAction) string {
	switch action {
	case activities.PlanCreate:
		return "created"
	case activities.PlanUpdate:
		return "updated with other values"
	case activities.PlanReplace:
		return "replaced"
	case activities.PlanConfigure:
		return "configured only"
	case activities.PlanDelete:
		return "deleted"
	case ActionFalls:
		return "deleted with another resource"
	case activities.PlanNone:
		return "left unchanged"
	}
	return string(action)
}

// changedFacts returns a text for each fact about a deletion that changed.
func changedFacts(before, after activities.PlanDeletionResult) []string {
	var texts []string
	value := func(name string, was, is any) {
		if was != is {
			texts = append(texts, fmt.Sprintf("%s was %v in the plan and is %v", name, was, is))
		}
	}
	turn := func(was, is bool, began, ended string) {
		switch {
		case is && !was:
			texts = append(texts, began)
		case was && !is:
			texts = append(texts, ended)
		}
	}
	turn(before.Managed, after.Managed, "is managed since the plan", "is no longer managed")
	turn(before.Deleting, after.Deleting, "is already being deleted", "is no longer being deleted")
	turn(before.Exists, after.Exists, "exists in Azure since the plan", "is no longer in Azure")
	if before.Managed && after.Managed {
		value("the policy", before.Policy, after.Policy)
		turn(before.Observed != "", after.Observed != "", "is only observed since the plan, by "+after.Observed, "is no longer only observed")
		value("the generation of its spec", before.Generation, after.Generation)
	}
	if member := before.Identity.Differs(after.Identity); member != "" {
		texts = append(texts, fmt.Sprintf("was created again since the plan: %s was %s and is %s", member, before.Identity[member], after.Identity[member]))
	}
	list := func(name string, was, is []string) {
		for _, text := range is {
			if !slices.Contains(was, text) {
				texts = append(texts, name+" "+text+" is new")
			}
		}
		for _, text := range was {
			if !slices.Contains(is, text) {
				texts = append(texts, name+" "+text+" is gone")
			}
		}
	}
	list("lock", lockTexts(before.Locks), lockTexts(after.Locks))
	list("refusal", before.Denied, after.Denied)
	list("content", contents.Names(before.Unmanaged), contents.Names(after.Unmanaged))
	list("content", contents.Names(before.Unlisted), contents.Names(after.Unlisted))
	list("content", contents.Names(before.Rules), contents.Names(after.Rules))
	list("content", contents.Names(before.ManagedGroups), contents.Names(after.ManagedGroups))
	list("data of", contents.Names(before.Data), contents.Names(after.Data))
	list("dependent", dependentTexts(before.Dependents), dependentTexts(after.Dependents))
	list("unanswered question", before.Unknown, after.Unknown)
	value("the scope", before.Scope, after.Scope)
	return texts
}

func lockTexts(locks []activities.Lock) []string {
	texts := make([]string, len(locks))
	for i, lock := range locks {
		texts[i] = lock.String()
	}
	return texts
}

func dependentTexts(dependents []activities.Dependent) []string {
	texts := make([]string, len(dependents))
	for i, dependent := range dependents {
		texts[i] = cli.KindAndName(dependent.ID)
		if dependent.Policy.PreventsDelete() {
			texts[i] += " (policy " + string(dependent.Policy) + ")"
		}
	}
	return texts
}
