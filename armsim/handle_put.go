package armsim

import (
	"mime"
	"net/http"
	"strings"
)

// handlePut replaces the settable part of a resource, or creates it.
func (s *Simulator) handlePut(q *request) *answer {
	body, refused := readBody(q)
	if refused != nil {
		return refused
	}
	if a := s.placed(q, "write"); a != nil {
		return a
	}
	return s.write(q, body, body)
}

// readBody takes a JSON object, sent as JSON or without a media type.
func readBody(q *request) (object, *answer) {
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

// handlePatch lays a JSON merge patch over the settable part; tags are replaced
// as a whole, as the contract says.
func (s *Simulator) handlePatch(q *request) *answer {
	patch, refused := readBody(q)
	if refused != nil {
		return refused
	}
	if a := s.placed(q, "write"); a != nil {
		return a
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
		if holder, last := inline.holder(patch, false); holder[last] == nil {
			inline.show(body, s.inlineList(r, inline))
		}
	}
	return s.write(q, mergePatch(body, patch), patch)
}

// write checks and stores a new body; sent is what the client sent.
func (s *Simulator) write(q *request, body, sent object) *answer {
	t := q.target
	r := s.find(t.id)
	if a := s.checkWrite(q, r, body); a != nil {
		return a
	}
	verb := "update"
	if r == nil {
		verb = "create"
	}
	if a := s.failLate(q, r, verb); a != nil {
		return a
	}
	spec := s.specFor(q.resourceType, t.id, verb)
	s.takeOff(q, spec)
	before := object{}
	if r != nil {
		before = r.body
	}
	r = s.store(q, r, body)
	if row := s.ruleFor(r.typ); row.changing != nil && verb == "update" {
		spec.become(row.changing(before, r.body))
	}
	r.lastPut, r.generation = cloneObject(sent), r.generation+1
	if row := s.ruleFor(r.typ); row.begun != nil {
		row.begun(s, r)
	}
	var op *operation
	if spec.Shape != ShapeSync && spec.Shape != ShapeSelf {
		op = s.begin(t, r, verb, spec, q)
	} else {
		s.finishSync(r)
	}
	a := s.written(r, op, spec, q)
	s.log.wrote(s.clock.now(), q, r, verb, a.status, r.lastPut)
	return a
}

// finishSync ends a write at once.
func (s *Simulator) finishSync(r *resource) {
	r.op = nil
	r.setState("Succeeded")
	s.settled(r)
}

func (s *Simulator) written(r *resource, op *operation, spec OperationSpec, q *request) *answer {
	shown := s.render(r)
	if r.recording != nil && r.recording.PutResponse != nil {
		shown = cloneObject(r.recording.PutResponse)
	} else if op != nil {
		properties(shown)["provisioningState"] = spec.FirstState
	}
	a := newAnswer(spec.Status, shown)
	if spec.EmptyBody {
		a.body = nil
	} else if named := s.operationBody(r.typ); named != nil && op != nil {
		a.body = named
	}
	s.setETag(a, r)
	if spec.Shape == ShapeSelf {
		a.header.Set("Location", q.origin()+escapePath(r.id)+"?api-version="+q.apiVersion)
	}
	if op != nil {
		s.announce(a, op, q)
	}
	return a
}
