package armsim

import (
	"net/http"
	"strings"
)

// handleAction answers POSTs to a resource: listKeys and the actions of the
// type's row; others are not known.
func (s *Simulator) handleAction(q *request) *answer {
	if a := s.placed(q, "action"); a != nil {
		return a
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
		return newAnswer(http.StatusOK, object{"keys": keys})
	default:
		if known, ok := s.ruleFor(r.typ).actions[action]; ok {
			return s.act(q, r, known)
		}
	}
	return gatewayError(http.StatusNotFound, "InvalidResourceType",
		"The resource type '%s' with action '%s' could not be found in the namespace '%s'.", r.typ, q.target.action, q.target.namespace)
}

// act starts the operation of an action: 202 with both headers.
func (s *Simulator) act(q *request, r *resource, known action) *answer {
	if a := s.busy(q, r); a != nil {
		return a
	}
	if a := s.blockedByFamily(q); a != nil {
		return a
	}
	if known.check != nil {
		if a := known.check(r); a != nil {
			return a
		}
	}
	body := object{}
	if len(q.body) > 0 {
		var refused *answer
		if body, refused = readBody(q); refused != nil {
			return refused
		}
	}
	spec := s.specFor(r.typ, r.id, "update")
	spec.Shape, spec.State, spec.FirstState = ShapeBoth, known.state, known.state
	if known.seconds > 0 {
		spec.Seconds = known.seconds
	}
	if known.during != "" {
		setText(properties(r.body), known.path, known.during)
	}
	op := s.begin(q.target, r, "action", spec, q)
	op.final = [2]string{known.path, known.after}
	if known.begin != nil {
		known.begin(s, r, body)
	}
	if known.end != nil {
		op.ending = func() { known.end(s, r, body) }
	}
	a := newAnswer(http.StatusAccepted, nil)
	s.announce(a, op, q)
	return a
}
