package armsim

import (
	"net/http"
	"strings"
)

// authorizationRows returns the rows of locks and role assignments. Role assignments
// are synchronous, at any scope. A principal has a role at a scope at most once,
// regardless of the assignment's name, and an assignment cannot change.
func authorizationRows() []typeRule {
	return []typeRule{lockRow(), denyAssignmentRow(), {
		typePattern:       "microsoft.authorization/roleassignments",
		inherited:         true,
		absent:            absence{code: "RoleAssignmentNotFound", message: "The role assignment '{name}' is not found."},
		create:            OperationSpec{Shape: ShapeSync, Status: http.StatusCreated},
		update:            OperationSpec{Shape: ShapeSync, Status: http.StatusCreated},
		noLocation:        true,
		noState:           true,
		deleteReturnsBody: true,
		defaults:          roleAssignmentDefaults,
		checkWrite:        checkRoleAssignment,
	}, {typePattern: "microsoft.authorization/*", noLocation: true}}
}

func roleAssignmentDefaults(r *resource, body object) {
	p := properties(body)
	scope, _, _ := strings.Cut(strings.ToLower(r.id), "/providers/microsoft.authorization/")
	p["scope"] = r.id[:len(scope)]
	if scope == "" {
		p["scope"] = "/"
	}
	setDefault(p, "principalType", "ServicePrincipal")
	for _, name := range []string{"condition", "conditionVersion", "delegatedManagedIdentityResourceId", "description"} {
		if _, given := p[name]; !given {
			p[name] = nil
		}
	}
	for _, name := range []string{"createdOn", "updatedOn"} {
		p[name] = "2026-01-01T00:00:00.0000000Z"
	}
	p["createdBy"], p["updatedBy"] = r.guid, r.guid
}

func checkRoleAssignment(s *Simulator, t target, body object) *response {
	role, principal := text(body, "properties.roleDefinitionId"), text(body, "properties.principalId")
	if role == "" || principal == "" {
		return armError(http.StatusBadRequest, "InvalidCreateRoleAssignmentRequest",
			"The request to create a role assignment '%s' is not valid. Role assignment must have a role definition and a principal.", t.name())
	}
	if !guidPattern.MatchString(t.name()) {
		return armError(http.StatusBadRequest, "InvalidRoleAssignmentId", "The role assignment ID '%s' is not valid. The role assignment ID must be a GUID.", t.name())
	}
	for _, other := range s.children(t.scope+"/providers/"+t.namespace, "roleAssignments") {
		same := lastSegment(text(other.body, "properties.roleDefinitionId")) == lastSegment(role) &&
			strings.EqualFold(text(other.body, "properties.principalId"), principal)
		switch {
		case key(other.id) == key(t.id) && !same:
			return armError(http.StatusBadRequest, "RoleAssignmentUpdateNotPermitted",
				"Tenant ID, application ID, principal ID, and scope are not allowed to be updated.")
		case key(other.id) != key(t.id) && same:
			return armError(http.StatusConflict, "RoleAssignmentExists", "The role assignment already exists.")
		}
	}
	return nil
}

func lastSegment(id string) string {
	return strings.ToLower(id[strings.LastIndexByte(id, '/')+1:])
}
