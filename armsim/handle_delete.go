package armsim

import (
	"net/http"
	"slices"
)

// handleDelete removes a resource with everything below it. An absent resource is 204
// and an absent group 404; so is an absent parent or group of a resource.
func (s *Simulator) handleDelete(q *request) *response {
	t := q.target
	if s.ruleFor(q.resourceType).noDelete {
		return errMethod(q.r.Method)
	}
	if resp := s.checkParents(q, "delete"); resp != nil {
		return resp
	}
	r := s.find(t.id)
	if r == nil {
		if t.kind == kindGroup {
			return errGroupNotFound(t.group)
		}
		if q.r.Header.Get("If-Match") != "" {
			return errPrecondition()
		}
		return newResponse(http.StatusNoContent, nil)
	}
	if resp := s.checkConditions(q, r); resp != nil {
		return resp
	}
	if op := r.op; op != nil && !op.done {
		if op.verb != "delete" {
			return errBusy(q.origin() + op.async)
		}
		resp := newResponse(http.StatusAccepted, nil) // a second DELETE joins the first
		s.setOperationHeaders(resp, op, q)
		return resp
	}
	if resp := s.checkBusy(q, r); resp != nil { // a state that SetState set
		return resp
	}
	if resp := s.checkDeletable(q, r); resp != nil {
		return resp
	}
	r.deleteQuery = q.r.URL.Query()
	spec := s.specFor(r.typ, t.id, "delete")
	s.startSyncWrite(q, spec)
	s.log.addWrite(s.clock.now(), q, r, "delete", spec.Status, nil)
	if spec.Shape == ShapeSync || spec.Shape == ShapeSelf {
		body := s.render(r)
		s.finishDelete(r)
		resp := newResponse(spec.Status, nil)
		if s.ruleFor(r.typ).deleteReturnsBody {
			resp.body = body
		}
		return resp
	}
	op := s.startOperation(t, r, "delete", spec, q)
	resp := newResponse(spec.Status, s.operationBody(r.typ))
	if spec.DeleteBody {
		resp.body = s.render(r)
	}
	s.setOperationHeaders(resp, op, q)
	return resp
}

// checkDeletable is the provider's check of a DELETE: it refuses while something uses
// the resource, while its parent needs it, or while it has children.
func (s *Simulator) checkDeletable(q *request, r *resource) *response {
	if q.target.kind == kindGroup {
		return nil
	}
	if resp := s.failBusyFamily(q, r, "delete"); resp != nil {
		return resp
	}
	row := s.ruleFor(r.typ)
	if row.blockedByChildren {
		children := slices.DeleteFunc(s.below(r.id), func(child *resource) bool { return isOwnChild(r, child) })
		if len(children) > 0 {
			child, _ := parseID(children[0].id) // the ID of a stored resource parses
			return gatewayError(http.StatusConflict, "CannotDeleteResource",
				"Cannot delete resource while nested resources exist. Some existing nested resource IDs include: '%s'. Please delete all nested resources before deleting this resource.", child.nestedName())
		}
	}
	if row.checkDelete != nil {
		if resp := row.checkDelete(s, r); resp != nil {
			return resp
		}
	}
	return s.checkUse(r)
}
