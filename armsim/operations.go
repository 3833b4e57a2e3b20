package armsim

import (
	"net/http"
	"net/url"
	"sort"
	"strings"
	"time"
)

// operation is one long-running operation.
type operation struct {
	name       string // the GUID in its URL
	verb       string // create, update, delete
	method     string
	resource   *resource
	spec       OperationSpec
	start      time.Time
	end        time.Time
	polls      int // reads that found it in progress
	done       bool
	status     string
	finalState string // properties.state after an action
	async      string // path and query of the Azure-AsyncOperation URL
	location   string
}

// OperationStatus is an operation as the control API shows it.
type OperationStatus struct {
	Name   string        `json:"name"`
	ID     string        `json:"id"` // of the resource
	Verb   string        `json:"verb"`
	Status string        `json:"status"`
	Done   bool          `json:"done"`
	Held   bool          `json:"held"`
	Polls  int           `json:"polls"`
	Spec   OperationSpec `json:"spec"`
	Start  time.Time     `json:"start"`
}

func (o *operation) finish(now time.Time, status string) {
	o.done, o.status, o.end = true, status, now
}

// begin starts an operation on a resource and sets its state.
func (s *Simulator) begin(t target, r *resource, verb string, spec OperationSpec, q *request) *operation {
	now := s.clock.now()
	op := &operation{
		name: s.guid(), verb: verb, method: q.r.Method, resource: r, spec: spec,
		start: now, end: now.Add(spec.duration()), status: spec.StatusWord,
	}
	s.operationPaths(op, t, q)
	r.op = op
	r.hidden = verb == "create" && spec.HiddenUntilDone
	r.setState(spec.State)
	s.operations[op.name], s.active[op.name] = op, op
	s.operationOrder = append(s.operationOrder, op.name)
	if len(s.operationOrder) > maxOperations {
		delete(s.operations, s.operationOrder[0])
		s.operationOrder = s.operationOrder[1:]
	}
	return op
}

// operationPaths builds the URLs, as recorded: under the provider's location,
// for groups under the subscription. They carry signed query parts in Azure.
func (s *Simulator) operationPaths(op *operation, t target, q *request) {
	base := ""
	if t.subscription != "" {
		base = "/subscriptions/" + t.subscription
	}
	word := s.ruleFor(t.resourceType()).operationsPath
	if word == "" {
		word = "operations"
	}
	query := "?api-version=" + q.apiVersion + "&t=" + strings.ReplaceAll(op.name, "-", "") + "&s=" + s.keyValue(op.name, "operation")
	if n := op.spec.URLPadding; n > 0 {
		query += "&c=" + strings.Repeat("x", n)
	}
	if op.spec.UnderResource {
		op.async = escapePath(t.id) + query + "&azure-asyncId=" + op.name
		op.location = escapePath(t.id) + query + "&asyncId=" + op.name
		return
	}
	if t.kind == kindGroup {
		op.async = base + "/operationresults/" + op.name + query
		op.location = op.async
		return
	}
	place := strings.ToLower(strings.ReplaceAll(text(op.resource.body, "location"), " ", ""))
	if place == "" {
		place = "global"
	}
	base += "/providers/" + t.namespace + "/locations/" + url.PathEscape(place) + "/"
	op.async, op.location = base+word+"/"+op.name+query, base+"operationResults/"+op.name+query
}

// announce puts the headers of an operation on the first answer.
func (s *Simulator) announce(a *answer, op *operation, q *request) {
	origin := q.origin()
	if op.spec.RelativeLocation {
		origin = ""
	}
	if op.spec.Shape == ShapeAsync || op.spec.Shape == ShapeBoth {
		a.header.Set("Azure-AsyncOperation", origin+op.async)
	}
	if op.spec.Shape == ShapeLocation || op.spec.Shape == ShapeBoth {
		a.header.Set("Location", origin+op.location)
	}
	s.clock.setRetryAfter(a.header, op.spec.retryAfter(0))
}

func (s *Simulator) held(op *operation) bool {
	for _, h := range s.holds {
		if globMatch(h.Type, op.resource.typ) && globMatch(h.ID, op.resource.id) {
			return true
		}
	}
	return false
}

// settle ends the operations whose time has come, oldest first. It is called
// before anything is looked at.
func (s *Simulator) settle() {
	now := s.clock.now()
	var due []*operation
	for name, op := range s.active {
		switch {
		case op.done:
			delete(s.active, name)
		case !now.Before(op.end) && op.polls >= op.spec.Polls && !s.held(op):
			due = append(due, op)
		}
	}
	sort.Slice(due, func(i, j int) bool {
		if !due[i].end.Equal(due[j].end) {
			return due[i].end.Before(due[j].end)
		}
		return key(due[i].resource.id) < key(due[j].resource.id)
	})
	for _, op := range due {
		if !op.done { // a cascade may have ended it
			s.complete(op)
		}
	}
}

func (s *Simulator) complete(op *operation) {
	r := op.resource
	op.finish(op.end, op.spec.Outcome)
	r.op = nil
	switch {
	case op.spec.Outcome == "Succeeded" && op.verb == "delete":
		s.remove(r.id)
	case op.spec.Outcome == "Succeeded":
		r.hidden = false
		r.setState("Succeeded")
		if op.finalState != "" {
			properties(r.body)["state"] = op.finalState
		}
		s.settled(r)
	case r.hidden:
		s.remove(r.id)
	default:
		r.setState(op.spec.Outcome)
	}
}

// settled lets the type's table add what the server knows only afterwards.
func (s *Simulator) settled(r *resource) {
	if row := s.ruleFor(r.typ); row.defaults != nil {
		row.defaults(r, r.body)
	}
}

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
		body["error"] = object{"code": op.spec.ErrorCode, "message": op.spec.ErrorMessage}
	}
	a := newAnswer(http.StatusOK, body)
	if !op.done {
		s.clock.setRetryAfter(a.header, op.spec.retryAfter(op.polls))
	}
	return a
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
		return armError(op.spec.ErrorStatus, op.spec.ErrorCode, "%s", op.spec.ErrorMessage)
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
