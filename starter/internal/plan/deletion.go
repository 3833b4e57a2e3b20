package plan

import (
	"maps"
	"slices"
	"strings"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
)

// ReasonNotKnown is the reason of a refusal because a question has no answer.
const ReasonNotKnown resource.Reason = "NotKnown"

// Reasons of refusals that Azure would state.
const (
	reasonScopeLocked resource.Reason = "ScopeLocked"
	reasonNoRight     resource.Reason = "AuthorizationFailed"
)

// Consent has the permissions of a user for a deletion.
type Consent struct {
	Cascade  bool `json:"cascade,omitempty"`
	WithData bool `json:"withData,omitempty"`
	EndScope bool `json:"endScope,omitempty"`
	// KeepGoing deletes the rest if a resource may not be deleted.
	KeepGoing bool `json:"keepGoing,omitempty"`
}

// all reports whether the contents of a resource may be deleted, whatever they are.
func (c Consent) all() bool { return c.Cascade && c.WithData }

// Deletion has the members of a row that only deletions fill.
type Deletion struct {
	// Selected is set for a resource that the user named or chose.
	Selected bool `json:"selected,omitempty"`
	// With is the resource with which it falls, or because of which it is kept.
	With     resource.ID `json:"with,omitzero"`
	Refusals refusals    `json:"refusals,omitempty"`
	// Outside are the managed resources that need it and that the deletion does not contain.
	Outside []resource.ID `json:"outside,omitempty"`
	// Contents are the resources without a manifest that fall with it.
	Contents []string `json:"contents,omitempty"`
	// Facts are the answers of Azure and Temporal, nil for a write.
	Facts *activities.PlanDeletionResult `json:"facts,omitempty"`
}

// Refusal is a reason that a resource may not be deleted.
type Refusal = activities.DeletionRefusal

// Deletable is a resource with the facts about its deletion.
type Deletable struct {
	ID    resource.ID
	Facts activities.PlanDeletionResult
	// From is the resource whose cascade adds it, zero if the user selected it.
	From resource.ID
	// Desired is the manifest of a deletion by manifest.
	Desired *resource.Desired
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

// Stack returns the selected resources whose deletion is to be requested, with the locks
// among them that protect others of them; the zero Stack if there is no more than one.
func (p Plan) Stack(by string) activities.Stack {
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

// Kept returns the number of resources that stay because of refused ones.
func (p Plan) Kept() int {
	n := 0
	for _, row := range p.Resources {
		if row.Action == ActionKept && !row.With.IsZero() {
			n++
		}
	}
	return n
}

// Sends reports whether the deletion of a resource is to be requested: it was selected, and
// nothing keeps it.
func (r Row) Sends() bool {
	detaches := r.Action == ActionKept && r.With.IsZero()
	return r.Selected && (r.Action == activities.PlanDelete || r.Action == ActionFalls || r.Action == ActionAbsent || detaches)
}

// DeletionText returns what a manifest adds to a deletion, "" for nothing.
func DeletionText(d *resource.Deletion) string {
	if d == nil {
		return ""
	}
	var parts []string
	if len(d.Query) > 0 {
		var parameters []string
		for _, name := range slices.Sorted(maps.Keys(d.Query)) {
			parameters = append(parameters, name+"="+d.Query[name])
		}
		parts = append(parts, "the DELETE is sent with "+strings.Join(parameters, "&"))
	}
	if d.Purge {
		parts = append(parts, "then it is purged, and nothing restores it")
	}
	if len(parts) == 0 {
		return ""
	}
	return "; " + strings.Join(parts, "; ") + " (reconcile.delete)"
}
