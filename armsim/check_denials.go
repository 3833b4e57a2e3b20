package armsim

import (
	"cmp"
	"net/http"
	"strings"
)

const denyAssignmentType = "microsoft.authorization/denyassignments"

// everyone is the principal of a deny assignment for all principals.
const everyone = "00000000-0000-0000-0000-000000000000"

// denyAssignmentRow describes deny assignments, which clients can only read: deployment stacks
// and managed applications create them. The control API puts them.
func denyAssignmentRow() typeRule {
	return typeRule{
		typePattern: denyAssignmentType, noLocation: true, noState: true, inherited: true,
		create: OperationSpec{Shape: ShapeSync, Status: http.StatusCreated},
		checkWrite: func(*Simulator, target, object) *response {
			return armError(http.StatusMethodNotAllowed, "MethodNotAllowed", "Deny assignments are created by Azure only.")
		},
	}
}

// checkDenyAssignments refuses an action that a deny assignment denies at the scope of the
// request or above it. It knows one pattern of actions, and the client of the options.
func (s *Simulator) checkDenyAssignments(q *request) *response {
	verb := map[string]string{http.MethodGet: "read", http.MethodHead: "read", http.MethodDelete: "delete", http.MethodPost: "action"}[q.r.Method]
	action := q.resourceType + "/" + cmp.Or(verb, "write")
	if q.target.id == "" || q.resourceType == "" || strings.EqualFold(q.resourceType, denyAssignmentType) {
		return nil
	}
	for _, r := range s.resources {
		if !strings.EqualFold(r.typ, denyAssignmentType) || !within(q.target.id, text(r.body, "properties.scope")) {
			continue
		}
		properties, _ := r.body["properties"].(map[string]any)
		if hasPrincipal(properties["principals"], everyone, s.options.ClientID) && !hasPrincipal(properties["excludePrincipals"], s.options.ClientID) && denies(properties["permissions"], action) {
			return gatewayError(http.StatusForbidden, "DenyAssignmentAuthorizationFailed",
				"The client '%s' with object id '%s' has permission to perform action '%s' on scope '%s'; however, the access is denied because of the deny assignment with name '%s' and Id '%s' at scope '%s'.",
				s.options.ClientID, s.options.ClientID, action, q.target.id, text(r.body, "properties.denyAssignmentName"), r.name, text(r.body, "properties.scope"))
		}
	}
	return nil
}

func hasPrincipal(list any, ids ...string) bool {
	items, _ := list.([]any)
	for _, item := range items {
		principal, _ := item.(map[string]any)
		for _, id := range ids {
			if id != "" && principal["id"] == id {
				return true
			}
		}
	}
	return false
}

// denies reports whether permissions have a pattern for an action and none that excludes it.
func denies(permissions any, action string) bool {
	matches := func(patterns any) bool {
		list, _ := patterns.([]any)
		for _, pattern := range list {
			if text, ok := pattern.(string); ok && globMatch(text, action) {
				return true
			}
		}
		return false
	}
	items, _ := permissions.([]any)
	for _, item := range items {
		permission, _ := item.(map[string]any)
		if matches(permission["actions"]) && !matches(permission["notActions"]) {
			return true
		}
	}
	return false
}

// Denial refuses requests for matching IDs with 403 AuthorizationFailed.
type Denial struct {
	Scope  string `json:"scope"`            // glob over the resource ID
	Method string `json:"method,omitempty"` // glob; empty = all
}

func (s *Simulator) checkDenied(q *request) *response {
	if q.target.id == "" {
		return nil
	}
	for _, d := range s.denials {
		if !globMatch(d.Scope, q.target.id) || !globMatch(d.Method, q.r.Method) {
			continue
		}
		verbs := map[string]string{"GET": "read", "HEAD": "read", "DELETE": "delete", "POST": "action"}
		if strings.EqualFold(q.target.namespace, "Microsoft.ResourceGraph") { // a POST that reads
			return s.errDenied("read", "Microsoft.ResourceGraph/resources", q.target.id)
		}
		return s.errDenied(cmp.Or(verbs[q.r.Method], "write"), cmp.Or(q.resourceType, groupType), q.target.id)
	}
	return nil
}

// errDenied returns the refusal of an action that the client has no right to.
func (s *Simulator) errDenied(verb, resourceType, id string) *response {
	return gatewayError(http.StatusForbidden, "AuthorizationFailed",
		"The client '%s' with object id '%s' does not have authorization to perform action '%s/%s' over scope '%s' or the scope is invalid. If access was recently granted, please refresh your credentials.",
		s.options.ClientID, s.options.ClientID, resourceType, verb, id)
}

// Deny adds a denial.
func (s *Simulator) Deny(d Denial) { s.locked(func() { s.denials = append(s.denials, d) }) }

// AllowAll removes all denials.
func (s *Simulator) AllowAll() { s.locked(func() { s.denials = nil }) }
