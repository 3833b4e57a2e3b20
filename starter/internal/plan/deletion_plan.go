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

// ReasonNotKnown is the reason of a refusal because a question has no answer.
const ReasonNotKnown resource.Reason = "NotKnown"

// Reasons of refusals that Azure would state.
const (
	reasonScopeLocked resource.Reason = "ScopeLocked"
	reasonNoRight     resource.Reason = "AuthorizationFailed"
)

// Consent is what a user allows in a deletion.
type Consent struct {
	Cascade  bool `json:"cascade,omitempty"`
	WithData bool `json:"withData,omitempty"`
	EndScope bool `json:"endScope,omitempty"`
}

// DeletionResult is what a deletion does with a resource.
type DeletionResult string

// The results. A resource falls with another one that a cascade deletes, and is kept by its
// policy or because of a refused resource.
const (
	ResultDeleted DeletionResult = "deleted"
	ResultFalls   DeletionResult = "falls"
	ResultKept    DeletionResult = "kept"
	ResultRefused DeletionResult = "refused"
	ResultAbsent  DeletionResult = "absent"
)

// Refusal is a reason that a resource may not be deleted.
type Refusal struct {
	Reason  resource.Reason `json:"reason"`
	Message string          `json:"message"`
	// Remedy is what a user can do.
	Remedy string `json:"remedy"`
}

// DeletionRow is what a deletion does with one resource.
type DeletionRow struct {
	ID     resource.ID    `json:"id"`
	Result DeletionResult `json:"result"`
	// Selected is set for a resource that the user named or chose.
	Selected bool `json:"selected,omitempty"`
	// With is the resource with which it falls, or because of which it is kept.
	With     resource.ID `json:"with,omitzero"`
	Message  string      `json:"message,omitempty"`
	Refusals []Refusal   `json:"refusals,omitempty"`
	// Data are the resources that hold data, and Restore is how Azure can restore it.
	Data    []string `json:"data,omitempty"`
	Restore string   `json:"restore,omitempty"`
	// Outside are the managed resources that need it and that the deletion does not contain.
	Outside []resource.ID `json:"outside,omitempty"`
	// Contents are the resources without a manifest that fall with it.
	Contents []string `json:"contents,omitempty"`
	// Facts are the answers of Azure and Temporal.
	Facts activities.PlanDeletionResult `json:"facts"`
}

// DeletionPlan is the plan of a deletion: the selected resources, then those that a cascade
// adds. Its JSON names do not change.
type DeletionPlan struct {
	Consent   Consent                `json:"consent"`
	Resources []DeletionRow          `json:"resources"`
	Summary   map[DeletionResult]int `json:"summary"`
}

// Deletable is a resource with the facts about its deletion.
type Deletable struct {
	ID    resource.ID
	Facts activities.PlanDeletionResult
	// From is the resource whose cascade adds it, zero if the user selected it.
	From resource.ID
}

// Added returns the managed resources that a cascade deletes and that are not among the
// given ones, each with the first resource that contains it.
func Added(resources []Deletable, consent Consent) []Deletable {
	known := map[string]bool{}
	for _, r := range resources {
		known[r.ID.Key()] = true
	}
	var added []Deletable
	for _, r := range resources {
		for _, dependent := range r.Facts.Dependents {
			if consent.Cascade && activities.Contains(r.ID, dependent.ID) && !known[dependent.ID.Key()] {
				known[dependent.ID.Key()] = true
				added = append(added, Deletable{ID: dependent.ID, From: r.ID})
			}
		}
	}
	return added
}

// NewDeletion judges a deletion by its facts: which resources it deletes, and which of them
// may not be deleted.
func NewDeletion(resources []Deletable, consent Consent) DeletionPlan {
	p := DeletionPlan{Consent: consent, Summary: map[DeletionResult]int{}}
	selected := map[string]*resource.ID{}
	for i := range resources {
		selected[resources[i].ID.Key()] = &resources[i].ID
	}
	for _, r := range resources {
		p.Resources = append(p.Resources, newRow(r, consent, selected))
	}
	p.keepNeeded()
	for _, row := range p.Resources {
		p.Summary[row.Result]++
	}
	return p
}

// Refused reports whether a resource may not be deleted.
func (p DeletionPlan) Refused() bool { return p.Summary[ResultRefused] > 0 }

// Stack returns the selected resources whose deletion is to be requested, with the locks
// among them that protect others of them; the zero Stack if there is no more than one.
func (p DeletionPlan) Stack(by string) activities.Stack {
	stack := activities.Stack{By: by}
	for _, row := range p.Resources {
		if !row.Sends() {
			continue
		}
		var protects []resource.ID
		for _, other := range p.Resources {
			if row.Facts.Lock != nil && other.Sends() && !isLock(other.ID) && protectedBy(row.ID, other.ID) {
				protects = append(protects, other.ID)
			}
		}
		if len(protects) > 0 {
			stack.Locks = append(stack.Locks, activities.StackLock{Desired: *row.Facts.Lock, Protects: protects})
		} else {
			stack.Resources = append(stack.Resources, row.ID)
		}
	}
	if len(stack.Resources)+len(stack.Locks) < 2 {
		return activities.Stack{}
	}
	return stack
}

// protectedBy reports whether a lock refuses the DELETE of a resource: one at its scope, above
// or below it.
func protectedBy(lock, id resource.ID) bool {
	scope := lock.Owner()
	return scope.Equal(id) || activities.Contains(scope, id) || activities.Contains(id, scope)
}

// Kept returns the number of resources that stay because of refused ones.
func (p DeletionPlan) Kept() int {
	n := 0
	for _, row := range p.Resources {
		if row.Result == ResultKept && !row.With.IsZero() {
			n++
		}
	}
	return n
}

// Sends reports whether the deletion of a resource is to be requested: it was selected, and
// nothing keeps it.
func (r DeletionRow) Sends() bool {
	detaches := r.Result == ResultKept && r.With.IsZero()
	return r.Selected && (r.Result == ResultDeleted || r.Result == ResultFalls || r.Result == ResultAbsent || detaches)
}

// newRow judges one resource by its own facts.
func newRow(r Deletable, consent Consent, selected map[string]*resource.ID) DeletionRow {
	facts := r.Facts
	row := DeletionRow{ID: r.ID, Result: ResultDeleted, Selected: r.From.IsZero(), Facts: facts}
	if !r.From.IsZero() {
		row.Result, row.With = ResultFalls, r.From
	}
	container := r.From
	for owner := r.ID.Owner(); !owner.IsZero(); owner = owner.Owner() {
		if selected[owner.Key()] != nil {
			container = owner
		}
	}
	switch {
	case facts.Policy.Detaches() && container.IsZero():
		row.Result, row.Message = ResultKept, "it is no longer managed and stays in Azure (policy "+string(facts.Policy)+")"
		return row
	case facts.Policy.PreventsDelete() && !container.IsZero():
		row.refuse(resource.ReasonContainsProtected, "its policy "+string(facts.Policy)+" keeps it in Azure, and the deletion of "+container.Short()+" would delete it",
			"move it, or apply its manifest with policy manage, first")
	case facts.Policy == resource.PolicyProtect:
		row.refuse(resource.ReasonProtected, "its policy is protect", "apply its manifest with policy manage first")
	}
	if !facts.Exists && len(facts.Unknown) == 0 {
		if len(row.Refusals) == 0 {
			row.Result, row.Message = ResultAbsent, "Azure does not have it"
		}
		return row
	}
	// What the deletion contains too has a row of its own.
	facts.Unmanaged, facts.Data = withoutSelected(r.ID, facts.Unmanaged, selected), withoutSelected(r.ID, facts.Data, selected)
	row.Data, row.Restore, row.Contents = facts.Data, facts.Restore, slices.Concat(facts.Unmanaged, facts.Rules, facts.ManagedGroups)
	for _, question := range facts.Unknown {
		row.refuse(ReasonNotKnown, "not known: "+question, "mend the cause (`armature doctor` checks workers and rights), then repeat the command")
	}
	for _, text := range facts.Denied {
		row.refuse(reasonNoRight, text, "give the credential of the worker the right, or delete with another one")
	}
	if facts.Scope != "" {
		row.refuse(resource.ReasonContainsUnmanaged, facts.Scope, "add --end-scope if that is intended and the scope is empty")
	}
	for _, lock := range facts.Locks {
		if selected[lock.ID.Key()] == nil && !lock.ID.Equal(r.ID) && !isLock(r.ID) {
			row.refuse(reasonScopeLocked, "locked by "+lock.String(), "remove the lock, or delete it in the same command if it is managed")
		}
	}
	switch {
	case !facts.Closed:
	case selected[r.ID.Owner().Key()] != nil:
		row.Result, row.With = ResultFalls, r.ID.Owner()
	case !consent.all() && !containsAny(r.ID, selected):
		row.refuse(ReasonNotKnown, "not known: its contents, because Azure refuses to list them for now", "repeat the command later, start it, or add --cascade --with-data")
	}
	row.judgeContents(facts, consent)
	row.judgeDependents(consent, selected)
	return row
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

// all reports whether the contents of a resource may be deleted, whatever they are.
func (c Consent) all() bool { return c.Cascade && c.WithData }

// isOrIsIn reports whether a display name is that of a resource, or of something in it.
func isOrIsIn(name string, id resource.ID) bool {
	name = strings.ToLower(name)
	inside := strings.HasPrefix(name, strings.ToLower(id.Short())+"/") && strings.Contains(name, "("+strings.ToLower(id.Type())+"/")
	return inside || name == strings.ToLower(contents.DisplayName(id))
}

// withoutSelected leaves out the names of contents that the deletion contains too, or that are
// in such a resource.
func withoutSelected(of resource.ID, names []string, selected map[string]*resource.ID) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		for _, id := range selected {
			if activities.Contains(of, *id) && isOrIsIn(name, *id) {
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

// judgeContents refuses contents and data without a consent.
func (r *DeletionRow) judgeContents(facts activities.PlanDeletionResult, consent Consent) {
	if texts := facts.Unmanaged; len(texts) > 0 && !consent.Cascade {
		r.refuse(resource.ReasonContainsUnmanaged, "a DELETE would also delete "+cli.Count(len(texts), "resource")+" without a manifest: "+firstOf(texts),
			"delete or import them first, or add --cascade")
	}
	if texts := facts.Unlisted; len(texts) > 0 && !consent.Cascade {
		r.refuse(resource.ReasonContainsUnmanaged, "Azure does not list "+firstOf(texts), "look at it in Azure, then add --cascade")
	}
	if texts := facts.Data; len(texts) > 0 && !consent.WithData {
		r.refuse(resource.ReasonContainsData, "a DELETE would also delete data that Azure does not list, in "+firstOf(texts), "look at it in Azure, then add --with-data")
	}
}

// judgeDependents refuses while managed resources need this one that the deletion does not
// contain.
func (r *DeletionRow) judgeDependents(consent Consent, selected map[string]*resource.ID) {
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
		r.refuse(resource.ReasonWaitingForDependents, "it contains managed resources: "+firstOf(displayNames(inside)), "name them too, or add --cascade")
	}
	if len(r.Outside) > 0 {
		r.refuse(resource.ReasonWaitingForDependents, "managed resources need it: "+firstOf(displayNames(r.Outside)), "delete them too, or apply them without it first")
	}
	if r.Facts.More {
		r.refuse(ReasonNotKnown, "not known: it has more dependents than were listed", "delete a part of them first")
	}
}

// keepNeeded keeps what a refused resource needs: what contains it or what it refers to, the
// locks that protect it, and everything else that these locks protect; and so on.
func (p *DeletionPlan) keepNeeded() {
	at := map[string]int{}
	for i, row := range p.Resources {
		at[row.ID.Key()] = i
	}
	stays := func(row DeletionRow) bool {
		return row.Result == ResultRefused || row.Result == ResultKept && !row.With.IsZero()
	}
	for changed := true; changed; {
		changed = false
		for i := range p.Resources {
			row := &p.Resources[i]
			if stays(*row) || row.Result == ResultAbsent {
				continue
			}
			var because resource.ID
			for _, dependent := range row.Facts.Dependents {
				if j, known := at[dependent.ID.Key()]; known && stays(p.Resources[j]) {
					because = dependent.ID
				}
			}
			for _, other := range p.Resources {
				// A lock stays with what it protects, and protects as long as it stays.
				protected := isLock(row.ID) && protectedBy(row.ID, other.ID) || isLock(other.ID) && protectedBy(other.ID, row.ID)
				// What falls with a refused resource stays with it.
				if stays(other) && (protected || row.Result == ResultFalls && row.With.Equal(other.ID)) {
					because = other.ID
				}
			}
			if !because.IsZero() {
				row.Result, row.With, changed = ResultKept, because, true
			}
		}
	}
}

func (r *DeletionRow) refuse(reason resource.Reason, message, remedy string) {
	r.Result, r.With = ResultRefused, resource.ID{}
	r.Refusals = append(r.Refusals, Refusal{Reason: reason, Message: message, Remedy: remedy})
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
