package armsim

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"time"
)

// operation is one long-running operation.
type operation struct {
	name          string // the GUID in its URL
	verb          string // create, update, delete
	method        string
	resource      *resource
	spec          OperationSpec
	start         time.Time
	end           time.Time
	polls         int // reads that found it in progress
	done          bool
	status        string
	detached      bool           // does not affect its resource
	finalValue    [2]string      // of an action: a path below properties, and the value there at the end
	onEnd         func()         // of an action: further effects at its end
	groupDeletion *groupDeletion // of the deletion of a group
	moving        []string       // of a move: the groups that are locked
	details       []any          // of a failure
	answer        *response      // of a validation: the last answer of its Location
	async         string         // path and query of the Azure-AsyncOperation URL
	location      string
	actor         actor  // of the request that started it
	action        string // name of the action, of an action
}

// OperationStatus is an operation as the control API reports it.
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

// startOperation starts an operation on a resource and sets the resource's state.
func (s *Simulator) startOperation(t target, r *resource, verb string, spec OperationSpec, q *request) *operation {
	op := s.newOperation(t, r, verb, spec, q)
	r.op = op
	r.hidden = verb == "create" && spec.HiddenUntilDone
	r.setState(spec.State)
	if verb == "delete" && t.kind == kindGroup {
		op.groupDeletion = s.newGroupDeletion(r.id)
	}
	return op
}

// newOperation creates an operation that does not affect the resource yet.
func (s *Simulator) newOperation(t target, r *resource, verb string, spec OperationSpec, q *request) *operation {
	now := s.clock.now()
	op := &operation{
		name: s.newGUID(), verb: verb, method: q.r.Method, resource: r, spec: spec,
		start: now, end: now.Add(spec.duration()), status: spec.StatusWord, actor: s.actor, action: q.target.action,
	}
	s.setOperationURLs(op, t, q)
	s.operations[op.name], s.active[op.name] = op, op
	s.operationOrder = append(s.operationOrder, op.name)
	if len(s.operationOrder) > maxOperations {
		delete(s.operations, s.operationOrder[0])
		s.operationOrder = s.operationOrder[1:]
	}
	return op
}

// setOperationURLs builds the URLs as recorded: under the provider's location, for
// groups under the subscription. In Azure they contain signed query parameters.
func (s *Simulator) setOperationURLs(op *operation, t target, q *request) {
	base := ""
	if t.subscription != "" {
		base = "/subscriptions/" + t.subscription
	}
	segment := cmp.Or(s.ruleFor(t.resourceType()).operationsPath, "operations")
	version := cmp.Or(op.spec.OperationAPIVersion, q.apiVersion)
	query := "?api-version=" + version + "&t=" + strings.ReplaceAll(op.name, "-", "") + "&s=" + s.derivedSecret(op.name, "operation")
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
	location := cmp.Or(compactRegion(text(op.resource.body, "location")), "global")
	base += "/providers/" + t.namespace + "/locations/" + url.PathEscape(location) + "/"
	async, results := base+segment+"/", base+"operationResults/"
	if s.answerFor(t.resourceType()).LowerCase {
		async, results = strings.ToLower(async), strings.ToLower(results)
	}
	op.async, op.location = async+op.name+query, results+op.name+query
}

// setOperationHeaders sets the headers of an operation on the first response.
func (s *Simulator) setOperationHeaders(resp *response, op *operation, q *request) {
	origin := q.origin()
	if op.spec.RelativeLocation {
		origin = ""
	}
	if op.spec.Shape == ShapeAsync || op.spec.Shape == ShapeBoth {
		resp.header.Set("Azure-AsyncOperation", origin+op.async)
	}
	if op.spec.Shape == ShapeLocation || op.spec.Shape == ShapeBoth {
		resp.header.Set("Location", origin+op.location)
	}
	s.setRetryAfter(resp.header, op, 0)
}

func (s *Simulator) isHeld(op *operation) bool {
	return slices.ContainsFunc(s.holds, func(h Hold) bool {
		return globMatch(h.Type, op.resource.typ) && globMatch(h.ID, op.resource.id)
	})
}

// completeDueOperations completes the operations that are due, oldest first. Every
// request and every read of the state starts with it.
func (s *Simulator) completeDueOperations() {
	now := s.clock.now()
	s.expireResources()
	s.advanceGroupDeletions()
	var due []*operation
	for name, op := range s.active {
		switch {
		case op.done:
			delete(s.active, name)
		case !now.Before(op.end) && op.polls >= op.spec.Polls && !s.isHeld(op):
			due = append(due, op)
		}
	}
	slices.SortFunc(due, func(a, b *operation) int {
		return cmp.Or(a.end.Compare(b.end), strings.Compare(key(a.resource.id), key(b.resource.id)))
	})
	for _, op := range due {
		if !op.done { // the deletion of a group may have ended it
			s.complete(op)
		}
	}
	s.reports.checked, s.reports.checkedReal = now, s.options.Clock()
}

func (s *Simulator) complete(op *operation) {
	r := op.resource
	op.finish(op.end, op.spec.Outcome)
	defer s.actAs(s.endOf(op))()
	if op.detached {
		s.completeDetached(op)
		return
	}
	if op.verb != "delete" {
		s.keepPast(r)
	}
	r.op = nil
	switch {
	case op.spec.Outcome == "Succeeded" && op.verb == "delete" && r.typ == groupType:
		s.finishGroupDelete(op)
	case op.spec.Outcome == "Succeeded" && op.verb == "delete":
		s.finishDelete(r)
	case op.spec.Outcome == "Succeeded":
		r.hidden = false
		r.setState("Succeeded")
		if op.finalValue[1] != "" {
			setText(properties(r.body), op.finalValue[0], op.finalValue[1])
		}
		if op.onEnd != nil {
			op.onEnd()
		}
		s.finishWrite(r)
		s.recordOperation(op, "Succeeded")
	case r.hidden:
		s.remove(r.id)
		s.recordOperation(op, "Failed")
	default:
		r.setState(op.spec.Outcome)
		s.finishInlineChildren(r, op.spec.Outcome)
		s.recordOperation(op, "Failed")
	}
}

// completeDetached completes an operation that does not affect its resource.
func (s *Simulator) completeDetached(op *operation) {
	if op.onEnd != nil {
		op.onEnd()
	}
	if op.spec.Outcome == "Succeeded" {
		s.recordOperation(op, "Succeeded")
		return
	}
	s.recordOperation(op, "Failed")
}

// finishDelete removes a resource at the end of its DELETE.
func (s *Simulator) finishDelete(r *resource) {
	s.remove(r.id)
	if row := s.ruleFor(r.typ); row.onDeleted != nil {
		row.onDeleted(s, r)
	}
	s.recordDelete(r)
}

// finishWrite completes a write: it sets what the server adds only at the end.
func (s *Simulator) finishWrite(r *resource) {
	s.finishInlineChildren(r, "Succeeded")
	s.createOwnChildren(r)
	if r.recording != nil {
		r.body = r.recordedBody()
		return
	}
	row := s.ruleFor(r.typ)
	if row.defaults != nil {
		row.defaults(r, r.body)
	}
	if row.onDone != nil {
		row.onDone(s, r)
	}
}
