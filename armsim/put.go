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

// checkWrite holds the contract's rules for a PUT or PATCH.
func (s *Simulator) checkWrite(q *request, r *resource, body object) *answer {
	t := q.target
	if t.kind == kindGroup && (!groupNamePattern().MatchString(t.group) || strings.HasSuffix(t.group, ".")) {
		return gatewayError(http.StatusBadRequest, "InvalidResourceGroup", "The provided resource group name '%s' has these invalid characters or is too long.", t.group)
	}
	if r != nil {
		if a := s.busy(q, r); a != nil {
			return a
		}
	}
	if a := s.checkConditions(q.r, r); a != nil {
		return a
	}
	if a := s.checkLocation(t, r, body); a != nil {
		return a
	}
	if r == nil {
		if a := s.checkOffered(t, text(body, "location")); a != nil {
			return a
		}
	}
	if a := s.applyPolicies(t, body); a != nil {
		return a
	}
	if a := s.checkReferences(t, body); a != nil {
		return a
	}
	if p, ok := body["properties"]; ok && p != nil {
		if _, ok := p.(object); !ok {
			return errContent("The value of 'properties' is no object")
		}
	}
	if state := text(body, "properties.provisioningState"); state != "" && (r == nil || !strings.EqualFold(state, r.state())) {
		return armError(http.StatusBadRequest, "BadRequest",
			"The property 'provisioningState' is read-only: it must be absent or equal the current value.")
	}
	row := s.ruleFor(q.resourceType)
	if r != nil {
		for _, inline := range row.inline {
			if a := s.checkInline(q, r, body, inline); a != nil {
				return a
			}
		}
	}
	if row.check != nil {
		return row.check(s, t, body)
	}
	return nil
}

// busy refuses a write while an operation on the resource goes on, or while a
// state was set that says so.
func (s *Simulator) busy(q *request, r *resource) *answer {
	if r.op != nil && !r.op.done {
		if r.op.verb == "delete" && q.target.kind == kindGroup {
			return errGroupDeleting(q.target.group)
		}
		return errBusy(q.origin() + r.op.async)
	}
	if !terminal(r.state()) {
		return armError(http.StatusConflict, "Conflict",
			"The resource '%s' is in provisioning state '%s' and cannot be changed now.", r.id, r.state())
	}
	return nil
}

// checkConditions holds If-Match and If-None-Match of a write (412).
func (s *Simulator) checkConditions(r *http.Request, stored *resource) *answer {
	match, none := r.Header.Get("If-Match"), r.Header.Get("If-None-Match")
	if match != "" && (stored == nil || match != "*" && !sameETag(match, s.etagOf(stored))) {
		return errPrecondition()
	}
	if none != "" && stored != nil && (none == "*" || sameETag(none, s.etagOf(stored))) {
		return errPrecondition()
	}
	return nil
}

func sameETag(a, b string) bool { return strings.TrimPrefix(a, "W/") == strings.TrimPrefix(b, "W/") }

func (s *Simulator) checkLocation(t target, r *resource, body object) *answer {
	location := text(body, "location")
	if location == "" {
		if t.needsLocation() && !s.ruleFor(t.resourceType()).noLocation {
			return gatewayError(http.StatusBadRequest, "LocationRequired", "The location property is required for this definition.")
		}
		return nil
	}
	if r == nil || text(r.body, "location") == "" || sameLocation(location, text(r.body, "location")) {
		return nil
	}
	if t.kind == kindGroup {
		return gatewayError(http.StatusConflict, "InvalidResourceGroupLocation",
			"Invalid resource group location '%s'. The Resource group already exists in location '%s'.", location, text(r.body, "location"))
	}
	return gatewayError(http.StatusConflict, "InvalidResourceLocation",
		"The resource '%s' already exists in location '%s' in resource group '%s'. A resource with the same name cannot be created in location '%s'. Please select a new resource name.",
		r.name, text(r.body, "location"), t.group, location)
}

// needsLocation: groups and tracked resources, which are the top-level ones of a
// group that are not attached to another resource.
func (t target) needsLocation() bool {
	return t.kind == kindGroup || t.group != "" && len(t.types) == 1 && !t.isExtension()
}

func sameLocation(a, b string) bool {
	squeeze := func(s string) string { return strings.ToLower(strings.ReplaceAll(s, " ", "")) }
	return squeeze(a) == squeeze(b)
}
