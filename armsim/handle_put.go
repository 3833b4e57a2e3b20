package armsim

import (
	"mime"
	"net/http"
	"strings"
)

// handlePut creates a resource or replaces its settable part.
func (s *Simulator) handlePut(q *request) *response {
	body, refused := readBody(q)
	if refused != nil {
		return refused
	}
	if resp := s.checkParents(q, "write"); resp != nil {
		return resp
	}
	if resp := q.readShape(); resp != nil {
		return resp
	}
	return s.write(q, body, body)
}

// readBody decodes a JSON object, sent as JSON or without a media type.
func readBody(q *request) (object, *response) {
	if given := q.r.Header.Get("Content-Type"); given != "" {
		media, _, err := mime.ParseMediaType(given)
		if err != nil || !strings.HasSuffix(media, "json") {
			return nil, gatewayError(http.StatusUnsupportedMediaType, "UnsupportedMediaType",
				"The content media type '%s' is not supported. Only 'application/json' is supported.", given)
		}
	}
	body, err := decodeObject(q.body)
	if err != nil {
		return nil, errContent("%v", err)
	}
	return body, nil
}

// handlePatch applies a JSON merge patch to the settable part. Tags are replaced as a
// whole, as the contract says.
func (s *Simulator) handlePatch(q *request) *response {
	patch, refused := readBody(q)
	if refused != nil {
		return refused
	}
	if resp := s.checkParents(q, "write"); resp != nil {
		return resp
	}
	r := s.find(q.target.id)
	if s.visible(r) == nil {
		return s.errAbsent(q.target)
	}
	body := cloneObject(r.body)
	delete(properties(body), "provisioningState")
	if _, ok := patch["tags"].(object); ok {
		delete(body, "tags")
	}
	for _, inline := range s.ruleFor(r.typ).inline {
		if parent, name := inline.list(patch, false); parent[name] == nil {
			inline.show(body, s.inlineList(r, inline))
		}
	}
	if resp := q.readShape(); resp != nil {
		return resp
	}
	return s.write(q, mergePatch(body, keepPublished(q.shape, patch, r.body)), patch)
}

// write checks and stores a new body; sent is the body of the request.
func (s *Simulator) write(q *request, body, sent object) *response {
	t := q.target
	r := s.find(t.id)
	if resp := s.checkBody(q, r, sent); resp != nil {
		return resp
	}
	if resp := s.checkWrite(q, r, body); resp != nil {
		return resp
	}
	verb := "update"
	if r == nil {
		verb = "create"
	}
	if resp := s.failBusyFamily(q, r, verb); resp != nil {
		return resp
	}
	on := verb
	if q.r.Method == http.MethodPatch {
		on = "patch"
	}
	if code, message, fails := s.failsByChange(q, r, body); fails {
		return s.failInOperation(q, r, verb, s.specFor(q.resourceType, t.id, on), code, message)
	}
	spec := s.specFor(q.resourceType, t.id, on)
	s.startSyncWrite(q, spec)
	before := object{}
	if r != nil {
		before = r.body
	} else {
		s.takeDeleted(t)
	}
	r = s.store(q, r, body)
	if row := s.ruleFor(r.typ); row.transition != nil && verb == "update" {
		spec.override(row.transition(before, r.body))
	}
	r.lastPut, r.generation = cloneObject(sent), r.generation+1
	if row := s.ruleFor(r.typ); row.onAccepted != nil {
		row.onAccepted(s, r)
	}
	var op *operation
	if spec.Shape != ShapeSync && spec.Shape != ShapeSelf {
		op = s.startOperation(t, r, verb, spec, q)
		if !r.hidden && s.reports.random.Float64() < s.options.Changes.Halfway {
			s.indexChange(r, s.actor.operation(r.typ, "write"), snapshotChange{})
		}
	} else {
		s.completeSyncWrite(r)
		s.recordWrite(r, "Succeeded")
	}
	resp := s.writeResponse(r, op, spec, q)
	s.log.addWrite(s.clock.now(), q, r, verb, resp.status, r.lastPut)
	return resp
}

// completeSyncWrite completes a synchronous write.
func (s *Simulator) completeSyncWrite(r *resource) {
	r.op = nil
	r.setState("Succeeded")
	s.finishWrite(r)
}

func (s *Simulator) writeResponse(r *resource, op *operation, spec OperationSpec, q *request) *response {
	shown := s.render(r)
	if r.recording != nil && r.recording.PutResponse != nil {
		shown = cloneObject(r.recording.PutResponse)
	} else if op != nil {
		properties(shown)["provisioningState"] = spec.FirstState
	}
	resp := newResponse(spec.Status, shown)
	if spec.EmptyBody {
		resp.body = nil
	} else if named := s.operationBody(r.typ); named != nil && op != nil {
		resp.body = named
	}
	s.setETag(resp, r, s.etagOf(r))
	if spec.Shape == ShapeSelf {
		resp.header.Set("Location", q.origin()+escapePath(r.id)+"?api-version="+q.apiVersion)
	}
	if op != nil {
		s.setOperationHeaders(resp, op, q)
	}
	return resp
}
