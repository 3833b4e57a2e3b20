package backend

import (
	"slices"
	"strings"
	"time"

	"github.com/armature-io/armature/internal/searchattr"
)

// Filter restricts a list by what the server indexes; its zero value allows everything.
type Filter struct {
	Phases  []string
	Reasons []string
	// Group is a resource group.
	Group string
}

// terms returns the terms of a query.
func (f Filter) terms() string {
	query := ""
	// A workflow that a user sees as Stuck or Unreadable may be in any phase.
	anyPhase := slices.Contains(f.Phases, PhaseStuck) || slices.Contains(f.Phases, PhaseUnreadable)
	if len(f.Phases) > 0 && !anyPhase {
		query += " AND " + searchattr.ReconcilePhase + " IN (" + quoted(f.Phases) + ")"
	}
	if len(f.Reasons) > 0 {
		query += " AND " + searchattr.ReconcileReason + " IN (" + quoted(f.Reasons) + ")"
	}
	if f.Group != "" {
		query += " AND " + searchattr.ArmResourceGroup + " = " + quoted([]string{f.Group})
	}
	return query
}

// Matches reports whether a view has what the filter asks for. A view is newer than the
// index that the server filters by.
func (f Filter) Matches(v View, now time.Time) bool {
	is := func(texts []string, value string) bool {
		return len(texts) == 0 || slices.ContainsFunc(texts, func(text string) bool { return strings.EqualFold(text, value) })
	}
	return is(f.Phases, v.PhaseName()) && is(f.Reasons, string(v.CurrentCondition(now).Reason)) &&
		(f.Group == "" || strings.EqualFold(f.Group, v.ID.ResourceGroup()))
}

// String returns the filter in a sentence, "" for one that allows everything.
func (f Filter) String() string {
	texts := append(slices.Clone(f.Phases), f.Reasons...)
	condition := strings.Join(texts, " or ")
	if f.Group != "" {
		condition = strings.TrimSpace(condition + " in the resource group " + f.Group)
	}
	return condition
}

// quoted returns texts as a list of a query.
func quoted(texts []string) string {
	list := make([]string, len(texts))
	for i, text := range texts {
		list[i] = "'" + strings.ReplaceAll(text, "'", "''") + "'"
	}
	return strings.Join(list, ", ")
}
