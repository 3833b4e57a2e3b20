package armsim

import (
	"net/http"
	"net/url"
	"strings"
	"time"
)

// noteRead counts a read of a resource as a poll of its operation.
func (r *resource) noteRead() {
	if r != nil && r.op != nil && !r.op.done {
		r.op.polls++
	}
}

// pollOperation answers an operation URL.
func (s *Simulator) pollOperation(op *operation, q *request) *answer {
	path := q.r.URL.EscapedPath()
	byLocation := op.spec.Shape == ShapeLocation || op.spec.Shape == ShapeBoth && op.atLocation(q.r.URL)
	if !op.done {
		op.polls++
	}
	if byLocation {
		return s.pollLocation(op, q)
	}
	body := object{"id": path, "name": op.name, "status": op.status, "startTime": stamp(op.start)}
	if op.done {
		body["endTime"], body["percentComplete"] = stamp(op.end), 100
	}
	if op.done && op.status != "Succeeded" {
		body["error"] = op.failure()
	}
	a := newAnswer(http.StatusOK, body)
	if !op.done {
		s.clock.setRetryAfter(a.header, op.spec.retryAfter(op.polls))
	}
	return a
}

func (o *operation) failure() object {
	failure := object{"code": o.spec.ErrorCode, "message": o.spec.ErrorMessage}
	if o.details != nil {
		failure["details"] = o.details
	}
	return failure
}

// atLocation tells the Location URL from the Azure-AsyncOperation URL: by the
// path, or by the query where both lie under the resource.
func (o *operation) atLocation(u *url.URL) bool {
	if o.spec.UnderResource {
		return u.Query().Has("asyncId")
	}
	path, _, _ := strings.Cut(o.location, "?")
	return o.location != o.async && strings.EqualFold(u.EscapedPath(), path)
}

func (s *Simulator) pollLocation(op *operation, q *request) *answer {
	switch {
	case !op.done:
		a := newAnswer(http.StatusAccepted, nil)
		s.announce(a, op, q)
		a.header.Del("Azure-AsyncOperation")
		a.header.Del("Retry-After")
		a.header.Del("Retry-After-Ms")
		s.clock.setRetryAfter(a.header, op.spec.retryAfter(op.polls))
		return a
	case op.status != "Succeeded":
		a := armError(op.spec.ErrorStatus, op.spec.ErrorCode, "%s", op.spec.ErrorMessage)
		a.body = object{"error": op.failure()}
		return a
	case op.verb == "delete" && op.resource.typ == groupType:
		return newAnswer(http.StatusOK, nil)
	case op.verb == "delete":
		return newAnswer(http.StatusNoContent, nil)
	}
	if r := s.find(op.resource.id); r != nil {
		return newAnswer(http.StatusOK, s.render(r))
	}
	return newAnswer(http.StatusOK, nil)
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.0000000Z") }
