package armsim

import "net/http"

// handleDelete removes a resource with everything below it. An absent resource
// is 204, an absent group 404; an absent parent or group of a resource is 404.
func (s *Simulator) handleDelete(q *request) *answer {
	t := q.target
	if s.ruleFor(q.resourceType).noDelete {
		return errMethod(q.r.Method)
	}
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
	if a := s.checkConditions(q.r, r); a != nil {
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
	if a := s.keeps(q, r); a != nil {
		return a
	}
	spec := s.specFor(r.typ, t.id, "delete")
	s.takeOff(q, spec)
	s.log.wrote(s.clock.now(), q, r, "delete", spec.Status, nil)
	if spec.Shape == ShapeSync || spec.Shape == ShapeSelf {
		body := s.render(r)
		s.deleted(r)
		a := newAnswer(spec.Status, nil)
		if s.ruleFor(r.typ).deleteAnswersBody {
			a.body = body
		}
		return a
	}
	op := s.begin(t, r, "delete", spec, q)
	a := newAnswer(spec.Status, s.operationBody(r.typ))
	if spec.DeleteBody {
		a.body = s.render(r)
	}
	s.announce(a, op, q)
	return a
}

// keeps is a provider's refusal to delete: something uses the resource, its
// parent needs it, or it still has children.
func (s *Simulator) keeps(q *request, r *resource) *answer {
	if q.target.kind == kindGroup {
		return nil
	}
	if a := s.failLate(q, r, "delete"); a != nil {
		return a
	}
	row := s.ruleFor(r.typ)
	if row.nested {
		if children := s.below(r.id); len(children) > 0 {
			return gatewayError(http.StatusConflict, "CannotDeleteResource",
				"Cannot delete resource while nested resources exist. Some existing nested resource IDs include: '%s'. Please delete all nested resources before deleting this resource.", nestedName(children[0]))
		}
	}
	if row.keep != nil {
		if a := row.keep(s, r); a != nil {
			return a
		}
	}
	return s.inUse(r)
}

// nestedName is how ARM writes a nested resource: type and name pairwise.
func nestedName(r *resource) string {
	t, ok := parseID(r.id)
	if !ok {
		return r.id
	}
	name := t.namespace
	for i := range t.types {
		name += "/" + t.types[i] + "/" + t.names[i]
	}
	return name
}
