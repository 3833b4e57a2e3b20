package armsim

import "reflect"

// store makes the stored body of what was sent: read-only and write-only fields
// go, the server's own fields come.
func (s *Simulator) store(q *request, r *resource, sent object) *resource {
	t := q.target
	row := s.ruleFor(q.resourceType)
	if r == nil {
		r = s.newResource(t)
		s.resources[key(t.id)] = r
		r.stale = nil
	} else {
		r.stale = cloneObject(r.body)
	}
	if s.options.ReadAfterWrite > 0 {
		r.staleUntil = s.clock.now().Add(s.options.ReadAfterWrite)
	}
	body := cloneObject(sent)
	for _, name := range []string{"id", "name", "type", "etag", "systemData"} {
		delete(body, name)
	}
	s.log.keepSecrets(dropWriteOnly(body))
	properties(body)
	for _, inline := range row.inline {
		s.replaceInline(q, r, body, inline)
	}
	if row.defaults != nil {
		row.defaults(r, body)
	}
	delete(properties(body), "provisioningState")
	if state := r.state(); state != "" {
		properties(body)["provisioningState"] = state
	}
	if !reflect.DeepEqual(body, r.body) {
		r.version++
	}
	r.body = body
	if s.record(r, sent); r.recording != nil {
		r.body = r.recordedBody()
		return r
	}
	if row.displayLocation && text(body, "location") != "" {
		body["location"] = displayLocation(text(body, "location"))
	}
	return r
}
