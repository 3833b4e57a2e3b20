package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/activities/contents"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/cli"
)

// judge judges a deletion by its facts: which resources it deletes, and which of them may not
// be deleted.
func judge(resources []Deletable, consent Consent) []Row {
	selected := map[string]*resource.ID{}
	for i := range resources {
		selected[resources[i].ID.Key()] = &resources[i].ID
	}
	rows := make([]Row, 0, len(resources))
	for _, r := range resources {
		row := newRow(r, consent, selected)
		if len(row.Refusals) > 0 {
			row.Action, row.With, row.Message, row.Reason = ActionRefused, resource.ID{}, "", row.Refusals[0].Reason
		}
		rows = append(rows, row)
	}
	keepNeeded(rows)
	return rows
}

// protectedBy reports whether a lock refuses the DELETE of a resource: one at its scope, above
// or below it.
func protectedBy(lock, id resource.ID) bool {
	scope := lock.Owner()
	return scope.Equal(id) || activities.Contains(scope, id) || activities.Contains(id, scope)
}

// newRow judges one resource by its own facts.
func newRow(r Deletable, consent Consent, selected map[string]*resource.ID) Row {
	facts := r.Facts
	row := Row{ID: r.ID, Name: r.ID.Name(), Deletion: Deletion{Selected: r.From.IsZero(), Facts: &r.Facts}, desired: r.Desired}
	row.Action, row.APIVersion, row.Managed, row.Generation = activities.PlanDelete, facts.APIVersion, facts.Managed, facts.Generation
	if row.Message = strings.TrimPrefix(DeletionText(&facts.Settings), "; "); facts.Deleting {
		row.Message = "its deletion runs already"
	}
	if !r.From.IsZero() {
		row.Action, row.With = ActionFalls, r.From
	}
	container := r.From
	for owner := r.ID.Owner(); !owner.IsZero(); owner = owner.Owner() {
		if selected[owner.Key()] != nil {
			container = owner
		}
	}
	switch {
	case facts.Policy.Detaches() && container.IsZero():
		row.Action, row.Message = ActionKept, "it is no longer managed and stays in Azure (policy "+string(facts.Policy)+")"
		return row
	case facts.Observed != "" && container.IsZero():
		row.Refusals.add(resource.ReasonProtected, facts.Observed+" allows no DELETE", "take it out of the setting and restart the workers first")
	case facts.Observed != "":
		row.Refusals.add(resource.ReasonContainsProtected, facts.Observed+" keeps it in Azure, and the deletion of "+container.Short()+" would delete it",
			"take it out of the setting and restart the workers first")
	case facts.Policy.PreventsDelete() && !container.IsZero():
		row.Refusals.add(resource.ReasonContainsProtected, "its policy "+string(facts.Policy)+" keeps it in Azure, and the deletion of "+container.Short()+" would delete it",
			"move it, or apply its manifest with policy manage, first")
	case facts.Policy == resource.PolicyProtect:
		row.Refusals.add(resource.ReasonProtected, "its policy is protect", "apply its manifest with policy manage first")
	}
	if !facts.Exists && len(facts.Unknown) == 0 {
		if len(row.Refusals) == 0 {
			row.Action, row.Message = ActionAbsent, "Azure does not have it"
		}
		return row
	}
	// What the deletion contains too has a row of its own.
	for _, items := range []*[]contents.Item{&facts.Unmanaged, &facts.Unlisted, &facts.Data, &facts.Rules, &facts.ManagedGroups} {
		*items = withoutSelected(r.ID, *items, selected)
	}
	row.Contents = contents.Names(slices.Concat(facts.Unmanaged, facts.Rules, facts.ManagedGroups))
	if len(facts.Data) > 0 {
		row.Loss = &Loss{Of: contents.Names(facts.Data), Restore: facts.Restore, Within: facts.Within, Final: facts.Settings.Purge}
	}
	row.Refusals.addGuards(r.ID, facts, selected)
	switch {
	case !facts.Closed || len(row.Refusals) > 0:
	case selected[r.ID.Owner().Key()] != nil:
		row.Action, row.With = ActionFalls, r.ID.Owner()
	case !consent.all() && !containsAny(r.ID, selected):
		row.Refusals.add(ReasonNotKnown, "not known: its contents, because Azure refuses to list them for now", "repeat the command later, start it, or add --cascade --with-data")
	}
	row.Refusals.addContents(facts, consent, func(flag string) string { return "add " + flag })
	row.judgeDependents(consent, selected)
	return row
}

// refusals are the reasons against one DELETE.
type refusals []Refusal

func (r *refusals) add(reason resource.Reason, message, remedy string) {
	*r = append(*r, Refusal{Reason: reason, Message: message, Remedy: remedy})
}

// addGuards adds questions without an answer, missing rights, the end of a scope, and locks that
// the deletion does not remove.
func (r *refusals) addGuards(id resource.ID, facts activities.PlanDeletionResult, selected map[string]*resource.ID) {
	for _, question := range facts.Unknown {
		r.add(ReasonNotKnown, "not known: "+question, "mend the cause (`armature doctor` checks workers and rights), then repeat the command")
	}
	for _, text := range facts.Denied {
		r.add(reasonNoRight, text, "give the credential of the worker the right, or delete with another one")
	}
	if facts.Scope != "" {
		r.add(resource.ReasonContainsUnmanaged, facts.Scope, "add --end-scope if that is intended and the scope is empty")
	}
	for _, lock := range facts.Locks {
		if selected[lock.ID.Key()] == nil && !lock.ID.Equal(id) && !isLock(id) {
			r.add(reasonScopeLocked, "locked by "+lock.String(), "remove the lock, or delete it in the same command if it is managed")
		}
	}
}

// addContents adds contents and data without a consent. allow returns how a user consents, with the
// flag for it.
func (r *refusals) addContents(facts activities.PlanDeletionResult, consent Consent, allow func(flag string) string) {
	if names := contents.Names(facts.Unmanaged); len(names) > 0 && !consent.Cascade {
		r.add(resource.ReasonContainsUnmanaged, "a DELETE would also delete "+cli.Count(len(names), "resource")+" without a manifest: "+firstOf(names),
			"delete or import them first, or "+allow("--cascade"))
	}
	if names := contents.Names(facts.Unlisted); len(names) > 0 && !consent.Cascade {
		r.add(resource.ReasonContainsUnmanaged, "contents that could not be listed: "+firstOf(names), "look at it in Azure, then "+allow("--cascade"))
	}
	if names := contents.Names(facts.Data); len(names) > 0 && !consent.WithData {
		r.add(resource.ReasonContainsData, "a DELETE would also delete data that Azure does not list, in "+firstOf(names), "look at it in Azure, then "+allow("--with-data"))
	}
}

// addMore adds dependents beyond the bound of a list.
func (r *refusals) addMore(facts activities.PlanDeletionResult) {
	if facts.More {
		r.add(ReasonNotKnown, "not known: it has more dependents than were listed", "delete a part of them first")
	}
}

// containsAny reports whether a selected resource is in another one.
func containsAny(outer resource.ID, selected map[string]*resource.ID) bool {
	for _, id := range selected {
		if activities.Contains(outer, *id) {
			return true
		}
	}
	return false
}

// withoutSelected leaves out the contents of a resource that the deletion contains too, or that
// are in such a resource.
func withoutSelected(of resource.ID, items []contents.Item, selected map[string]*resource.ID) []contents.Item {
	return slices.DeleteFunc(slices.Clone(items), func(item contents.Item) bool {
		for at := item.ID; !at.IsZero() && !at.Equal(of); at = at.Owner() {
			if selected[at.Key()] != nil {
				return true
			}
		}
		return false
	})
}

// isLock reports whether a resource is a management lock: no lock refuses its DELETE.
func isLock(id resource.ID) bool {
	return strings.EqualFold(id.Type(), resource.TypeLock)
}

// judgeDependents refuses while managed resources need this one that the deletion does not
// contain.
func (r *Row) judgeDependents(consent Consent, selected map[string]*resource.ID) {
	var inside []resource.ID
	for _, dependent := range r.Facts.Dependents {
		within := activities.Contains(r.ID, dependent.ID)
		switch {
		case selected[dependent.ID.Key()] != nil || dependent.Deleting:
		case !within:
			r.Outside = append(r.Outside, dependent.ID)
		case !consent.Cascade:
			inside = append(inside, dependent.ID)
		}
	}
	if len(inside) > 0 {
		r.Refusals.add(resource.ReasonWaitingForDependents, "it contains managed resources: "+firstOf(displayNames(inside)), "name them too, or add --cascade")
	}
	if len(r.Outside) > 0 {
		r.Refusals.add(resource.ReasonWaitingForDependents, "managed resources need it: "+firstOf(displayNames(r.Outside)), "delete them too, or apply them without it first")
	}
	r.Refusals.addMore(*r.Facts)
}

// keepNeeded keeps what a refused resource needs: what contains it or what it refers to, the
// locks that protect it, and everything else that these locks protect; and so on.
func keepNeeded(rows []Row) {
	at := map[string]int{}
	for i, row := range rows {
		at[row.ID.Key()] = i
	}
	stays := func(row Row) bool {
		return row.Action == ActionRefused || row.Action == ActionKept && !row.With.IsZero()
	}
	for changed := true; changed; {
		changed = false
		for i := range rows {
			row := &rows[i]
			if stays(*row) || row.Action == ActionAbsent {
				continue
			}
			var because resource.ID
			for _, dependent := range row.Facts.Dependents {
				if j, known := at[dependent.ID.Key()]; known && stays(rows[j]) {
					because = dependent.ID
				}
			}
			for _, other := range rows {
				// A lock stays with what it protects, and protects as long as it stays.
				protected := isLock(row.ID) && protectedBy(row.ID, other.ID) || isLock(other.ID) && protectedBy(other.ID, row.ID)
				// What falls with a refused resource stays with it.
				if stays(other) && (protected || row.Action == ActionFalls && row.With.Equal(other.ID)) {
					because = other.ID
				}
			}
			if !because.IsZero() {
				row.Action, row.With, row.Message, row.Loss, changed = ActionKept, because, "", nil, true
			}
		}
	}
}

func displayNames(ids []resource.ID) []string {
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = cli.KindAndName(id)
	}
	return names
}

// maxNames bounds the names in one message.
const maxNames = 10

// firstOf names the first of some texts and counts the rest.
func firstOf(texts []string) string {
	if len(texts) <= maxNames {
		return strings.Join(texts, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(texts[:maxNames], ", "), len(texts)-maxNames)
}
