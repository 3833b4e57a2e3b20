package armsim

import (
	"cmp"
	"net/http"
)

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
