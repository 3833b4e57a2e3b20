package armsim

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// noteRead counts a read of a resource as a poll of its operation.
func (r *resource) noteRead() {
	if r != nil && r.op != nil && !r.op.done {
		r.op.polls++
	}
}

// pollOperation serves an operation URL.
func (s *Simulator) pollOperation(op *operation, q *request) *response {
	path := q.r.URL.EscapedPath()
	byLocation := op.spec.Shape == ShapeLocation || op.spec.Shape == ShapeBoth && op.isLocationURL(q.r.URL)
	if !op.done {
		op.polls++
	}
	if byLocation {
		return s.pollLocation(op, q)
	}
	body := object{"id": path, "name": op.name, "status": op.statusText(), "startTime": timestamp(op.start)}
	if op.done {
		body["endTime"], body["percentComplete"] = timestamp(op.end), 100
	}
	if op.done && op.status != "Succeeded" {
		body["error"] = op.errorBody()
	}
	resp := newResponse(http.StatusOK, body)
	if !op.done {
		resp.status = op.spec.PollStatus
		s.setRetryAfter(resp.header, op, op.polls)
	}
	return resp
}

func (o *operation) errorBody() object {
	failure := object{"code": o.spec.ErrorCode, "message": o.spec.ErrorMessage}
	if details := slices.Concat(o.spec.ErrorDetails, o.details); details != nil {
		failure["details"] = details
	}
	return failure
}

// isLocationURL reports whether a URL is the Location URL and not the
// Azure-AsyncOperation URL. They differ in the path, or in the query where both are
// under the resource.
func (o *operation) isLocationURL(u *url.URL) bool {
	if o.spec.UnderResource {
		return u.Query().Has("asyncId")
	}
	path, _, _ := strings.Cut(o.location, "?")
	return o.location != o.async && strings.EqualFold(u.EscapedPath(), path)
}

func (s *Simulator) pollLocation(op *operation, q *request) *response {
	switch {
	case !op.done:
		resp := newResponse(http.StatusAccepted, nil)
		s.setOperationHeaders(resp, op, q)
		resp.header.Del("Azure-AsyncOperation")
		resp.header.Del("Retry-After")
		resp.header.Del("Retry-After-Ms")
		s.setRetryAfter(resp.header, op, op.polls)
		return resp
	case op.answer != nil:
		return op.answer
	case op.status != "Succeeded":
		resp := armError(op.spec.ErrorStatus, op.spec.ErrorCode, "%s", op.spec.ErrorMessage)
		resp.body = object{"error": op.errorBody()}
		return resp
	}
	resp := newResponse(http.StatusOK, nil)
	switch r := s.find(op.resource.id); {
	case op.verb == "delete" && op.resource.typ != groupType:
		resp.status = http.StatusNoContent
	case op.verb != "delete" && r != nil && !op.spec.EmptyFinal:
		resp.body = s.render(r)
	}
	if op.spec.FinalStatus != 0 {
		resp.status = op.spec.FinalStatus
	}
	return resp
}

// statusText returns the status of the operation: free text while it is in progress.
func (o *operation) statusText() string {
	if words := o.spec.StatusWords; !o.done && len(words) > 0 {
		return words[min(max(o.polls-1, 0), len(words)-1)]
	}
	return o.status
}

// setRetryAfter sends the wait before the n-th poll.
func (s *Simulator) setRetryAfter(h http.Header, op *operation, n int) {
	wait := op.spec.retryAfter(n)
	if op.spec.RetryAfterDate && wait > 0 {
		h.Set("Retry-After", s.options.Clock().Add(time.Duration(float64(wait)/s.clock.scale)).UTC().Format(http.TimeFormat))
		return
	}
	s.clock.setRetryAfter(h, wait)
}

func timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.0000000Z") }
