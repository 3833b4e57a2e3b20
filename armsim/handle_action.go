package armsim

import (
	"net/http"
	"strings"
)

// handleAction serves a POST to a resource, and records it if it succeeds at once: those that
// only list keys too.
func (s *Simulator) handleAction(q *request) *response {
	resp := s.serveAction(q)
	if resp.status == http.StatusOK || resp.status == http.StatusNoContent {
		r := s.find(q.target.id)
		if r == nil {
			r = &resource{id: q.target.id, typ: q.resourceType}
		}
		s.recordAction(r, q.target.action)
	}
	return resp
}

// serveAction serves POSTs to a resource: the validation of a deployment, the actions that list
// secrets, listKeys and the actions of the type's row. Others are unknown.
func (s *Simulator) serveAction(q *request) *response {
	if resp := s.checkParents(q, "action"); resp != nil {
		return resp
	}
	if resp := s.validateDeployment(q); resp != nil {
		return resp
	}
	if resp := s.readByAction(q); resp != nil {
		return resp
	}
	r := s.find(q.target.id)
	if s.visible(r) == nil {
		return errNotFound(q.target)
	}
	if resp := s.listSecrets(r, q.target.action); resp != nil {
		return resp
	}
	if resp := s.serveKeys(q, r); resp != nil {
		return resp
	}
	switch action := strings.ToLower(q.target.action); action {
	case "listkeys":
		keys := []any{}
		for _, name := range []string{"key1", "key2"} {
			keys = append(keys, object{"keyName": name, "value": s.secretValue(r, name), "permissions": "FULL"})
		}
		return newResponse(http.StatusOK, object{"keys": keys})
	default:
		if action, ok := s.ruleFor(r.typ).actions[action]; ok {
			return s.startAction(q, r, action)
		}
	}
	return gatewayError(http.StatusNotFound, "InvalidResourceType",
		"The resource type '%s' with action '%s' could not be found in the namespace '%s'.", r.typ, q.target.action, q.target.namespace)
}

// startAction starts the operation of an action: 202 with both headers.
func (s *Simulator) startAction(q *request, r *resource, action action) *response {
	if resp := s.checkBusy(q, r); resp != nil {
		return resp
	}
	if resp := s.checkFamily(q); resp != nil {
		return resp
	}
	if action.check != nil {
		if resp := action.check(r); resp != nil {
			return resp
		}
	}
	body := object{}
	if len(q.body) > 0 {
		var refused *response
		if body, refused = readBody(q); refused != nil {
			return refused
		}
	}
	spec := s.specFor(r.typ, r.id, "update")
	spec.Shape, spec.State, spec.FirstState = ShapeBoth, action.provisioningState, action.provisioningState
	if action.seconds > 0 {
		spec.Seconds = action.seconds
	}
	if action.runningValue != "" {
		setText(properties(r.body), action.path, action.runningValue)
	}
	op := s.startOperation(q.target, r, "action", spec, q)
	op.finalValue = [2]string{action.path, action.finalValue}
	if action.onStart != nil {
		action.onStart(s, r, body)
	}
	if action.onEnd != nil {
		op.onEnd = func() { action.onEnd(s, r, body) }
	}
	resp := newResponse(http.StatusAccepted, nil)
	s.setOperationHeaders(resp, op, q)
	return resp
}
