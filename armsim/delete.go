package armsim

import "net/http"

// handleDelete removes a resource with everything below it. An absent resource
// is 204, an absent group 404; an absent parent or group of a resource is 404.
func (s *Simulator) handleDelete(q *request) *answer {
	t := q.target
	if a := s.placed(q, "delete"); a != nil {
		return a
	}
	r := s.find(t.id)
	if r == nil {
		if t.kind == kindGroup {
			return errGroupNotFound(t.group)
		}
		if q.r.Header.Get("If-Match") != "" {
			return errPrecondition()
		}
		return newAnswer(http.StatusNoContent, nil)
	}
	if a := checkConditions(q.r, r); a != nil {
		return a
	}
	if op := r.op; op != nil && !op.done {
		if op.verb != "delete" {
			return errBusy(q.origin() + op.async)
		}
		a := newAnswer(http.StatusAccepted, nil) // a second DELETE joins the first
		s.announce(a, op, q)
		return a
	}
	if a := s.busy(q, r); a != nil { // a state that was set
		return a
	}
	spec := s.specFor(r.typ, t.id, "delete")
	s.log.wrote(s.clock.now(), q, r, "delete", spec.Status, nil)
	if spec.Shape == ShapeSync || spec.Shape == ShapeSelf {
		body := s.render(r)
		s.remove(t.id)
		a := newAnswer(spec.Status, nil)
		if s.ruleFor(r.typ).deleteAnswersBody {
			a.body = body
		}
		return a
	}
	op := s.begin(t, r, "delete", spec, q)
	a := newAnswer(spec.Status, nil)
	s.announce(a, op, q)
	return a
}
