package armsim

import (
	"maps"
	"net/http"
	"slices"
	"strings"
)

const lockType = "microsoft.authorization/locks"

// lockRow describes management locks: synchronous extension resources at any scope.
func lockRow() typeRule {
	return typeRule{
		typePattern: lockType, noLocation: true, noState: true, inherited: true,
		create: OperationSpec{Shape: ShapeSync, Status: http.StatusCreated},
		checkWrite: func(_ *Simulator, t target, body object) *response {
			switch strings.ToLower(text(body, "properties.level")) {
			case "cannotdelete", "readonly":
				return nil
			}
			return armError(http.StatusBadRequest, "BadRequest",
				"The level of lock '%s' is missing or invalid. Allowed values are 'CanNotDelete' and 'ReadOnly'.", t.name())
		},
	}
}

// checkLocks is ARM's own refusal of a change under a management lock (409
// ScopeLocked). Locks below its target block a DELETE as well, because it would delete
// them. Locks themselves can always be changed.
func (s *Simulator) checkLocks(q *request) *response {
	t, verb := q.target, "write"
	switch q.r.Method {
	case http.MethodGet, http.MethodHead:
		return nil
	case http.MethodDelete:
		verb = "delete"
	}
	if t.kind != kindResource && t.kind != kindGroup && t.kind != kindAction || strings.EqualFold(q.resourceType, lockType) {
		return nil
	}
	locked := map[string]bool{}
	for _, r := range s.resources {
		if !strings.EqualFold(r.typ, lockType) {
			continue
		}
		scope, readOnly := scopeOf(r.id), strings.EqualFold(text(r.body, "properties.level"), "ReadOnly")
		if (verb == "delete" || readOnly) && (within(t.id, scope) || verb == "delete" && within(scope, t.id)) {
			locked[scope] = true
		}
	}
	if len(locked) == 0 {
		return nil
	}
	return gatewayError(http.StatusConflict, "ScopeLocked",
		"The scope '%s' cannot perform %s operation because following scope(s) are locked: '%s'. Please remove the lock and try again.",
		t.id, verb, strings.Join(slices.Sorted(maps.Keys(locked)), ","))
}

// scopeOf returns the ID of the resource that an extension resource is attached to.
func scopeOf(id string) string {
	if t, ok := parseID(id); ok {
		return t.scope
	}
	return ""
}

// inheritedResources returns the resources of an extension type that apply at a scope:
// at the scope itself, above it and, without $filter=atScope(), below it.
func (s *Simulator) inheritedResources(q *request) []*resource {
	atScope := strings.Contains(strings.ToLower(q.r.URL.Query().Get("$filter")), "atscope()")
	return s.matching(func(_ string, r *resource) bool {
		scope := scopeOf(r.id)
		return strings.EqualFold(r.typ, q.resourceType) &&
			(within(q.target.scope, scope) || !atScope && within(scope, q.target.scope))
	})
}
