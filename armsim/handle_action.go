package armsim

import (
	"net/http"
	"strings"
)

// handleAction serves POSTs to a resource: listKeys and the actions of the type's row.
// Others are unknown.
func (s *Simulator) handleAction(q *request) *response {
	if resp := s.checkParents(q, "action"); resp != nil {
		return resp
	}
	r := s.find(q.target.id)
	if s.visible(r) == nil {
		return errNotFound(q.target)
	}
	switch action := strings.ToLower(q.target.action); action {
	case "listkeys":
		keys := []any{}
		for _, name := range []string{"key1", "key2"} {
			keys = append(keys, object{"keyName": name, "value": s.secretValue(r, name), "permissions": "FULL"})
		}
		return newResponse(http.StatusOK, object{"keys": keys})
	default:
		if known, ok := s.ruleFor(r.typ).actions[action]; ok {
			return s.startAction(q, r, known)
		}
	}
	return gatewayError(http.StatusNotFound, "InvalidResourceType",
		"The resource type '%s' with action '%s' could not be found in the namespace '%s'.", r.typ, q.target.action, q.target.namespace)
}

// startAction starts the operation of an action: 202 with both headers.
func (s *Simulator) startAction(q *request, r *resource, known action) *response {
	if resp := s.busy(q, r); resp != nil {
		return resp
	}
	if resp := s.checkFamily(q); resp != nil {
		return resp
	}
	if known.check != nil {
		if resp := known.check(r); resp != nil {
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
	spec.Shape, spec.State, spec.FirstState = ShapeBoth, known.provisioningState, known.provisioningState
	if known.seconds > 0 {
		spec.Seconds = known.seconds
	}
	if known.runningValue != "" {
		setText(properties(r.body), known.path, known.runningValue)
	}
	op := s.startOperation(q.target, r, "action", spec, q)
	op.finalValue = [2]string{known.path, known.finalValue}
	if known.onStart != nil {
		known.onStart(s, r, body)
	}
	if known.onEnd != nil {
		op.onEnd = func() { known.onEnd(s, r, body) }
	}
	resp := newResponse(http.StatusAccepted, nil)
	s.setOperationHeaders(resp, op, q)
	return resp
}
