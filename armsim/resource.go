package armsim

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
)

// resource is a stored resource.
type resource struct {
	id, typ, name    string
	guid             string // of this incarnation; keys and GUIDs derive from it
	body             object // without id, name, type and etag
	version          int    // counts changes; basis of the ETag
	generation       int    // counts accepted PUTs and PATCHes
	lastPut          object // the last accepted body as sent
	op               *operation
	hidden           bool        // 404 until its creation is done
	past             []pastState // that lagging reads still show, oldest first
	reads            int         // GETs since the last change
	created          time.Time
	recording        *Recording        // source of GETs; nil = the server's own rules
	recordedPut      object            // the body of the PUT that selected the recording
	connectionStates map[string]object // as decided by the owner, by lower-cased name
	serial           int               // of a scale set: number of the next machine
	model            string            // of a scale set's machine: the model at its creation
	deleteQuery      url.Values        // the query of the accepted DELETE
	apiVersion       string            // of the last PUT or PATCH
	snapshot         object            // as rendered at the last recorded change; nil before the first one
	indexed          object            // as Resource Graph has it; nil if it does not
}

func (r *resource) state() string { return text(r.body, "properties.provisioningState") }

func (r *resource) setState(state string) {
	properties(r.body)["provisioningState"] = state
	r.version++
}

// etag returns a value that changes with every change of the resource.
func (r *resource) etag() string {
	return fmt.Sprintf(`W/"%s-%04x"`, r.guid[:min(23, len(r.guid))], r.version)
}

// terminal reports whether a provisioning state is terminal: ARM's three states, no
// state at all, and the states that recorded traffic shows when no operation is in
// progress.
func terminal(state string) bool {
	return containsFold([]string{"", "Succeeded", "Failed", "Canceled", "Ready", "Running"}, state)
}

func (s *Simulator) find(id string) *resource { return s.resources[key(id)] }

// below returns the resources whose IDs start with id and a slash, in order of their
// IDs.
func (s *Simulator) below(id string) []*resource {
	prefix := key(id) + "/"
	return s.matching(func(k string, _ *resource) bool { return strings.HasPrefix(k, prefix) })
}

// children returns the direct members of one collection of a parent, in order.
func (s *Simulator) children(parent, collection string) []*resource {
	prefix := key(parent) + "/" + strings.ToLower(collection) + "/"
	return s.matching(func(k string, _ *resource) bool {
		name, ok := strings.CutPrefix(k, prefix)
		return ok && !strings.Contains(name, "/")
	})
}

// matching returns the resources that match, in order of their IDs. The key is the
// lower-cased ID.
func (s *Simulator) matching(match func(key string, r *resource) bool) []*resource {
	var out []*resource
	for k, r := range s.resources {
		if match(k, r) {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b *resource) int { return strings.Compare(key(a.id), key(b.id)) })
	return out
}

// remove deletes a resource with everything below it: children, extension resources,
// and their operations.
func (s *Simulator) remove(id string) {
	removed := append(s.below(id), s.find(id))
	for _, r := range removed {
		s.keepDeleted(r)
	}
	for _, r := range removed {
		if r != nil {
			s.removeOne(r)
		}
	}
}

// removeWith deletes a resource that the service deletes with another one.
func (s *Simulator) removeWith(id string) {
	if r := s.find(id); r != nil {
		s.remove(id)
		s.touch(r)
	}
}

// removeOne deletes one resource and ends its operation.
func (s *Simulator) removeOne(r *resource) {
	if r.op != nil && !r.op.done {
		r.op.finish(s.clock.now(), "Canceled")
	}
	s.keepDeleted(r)
	s.keepListed(r)
	if r.indexed != nil {
		s.indexDelete(r)
	}
	delete(s.resources, key(r.id))
}

// render returns the resource as a GET returns it.
func (s *Simulator) render(r *resource) object { return s.renderBody(r, r.body) }

func (s *Simulator) renderBody(r *resource, stored object) object {
	if r.recording != nil {
		return r.renderRecorded(stored)
	}
	body := cloneObject(stored)
	s.hideWriteOnly(r, body)
	body["id"], body["name"], body["type"] = r.id, r.name, r.typ
	row := s.ruleFor(r.typ)
	if s.showsETag(r.typ) {
		body["etag"] = s.etagOf(r)
	}
	if row.noState {
		delete(properties(body), "provisioningState")
	}
	for _, inline := range row.inline {
		inline.show(body, s.inlineList(r, inline))
	}
	if row.onRead != nil {
		row.onRead(s, r, body)
	}
	if s.answerFor(r.typ).LowerCase {
		body["id"], body["type"] = strings.ToLower(r.id), strings.ToLower(r.typ)
	}
	return body
}

// pastState is a state that lagging reads show until a time.
type pastState struct {
	body  object // as rendered; nil = absent
	etag  string
	until time.Time
}

// keepPast makes lagging reads show the state of a resource before a change.
func (s *Simulator) keepPast(r *resource) {
	if s.options.ReadAfterWrite <= 0 {
		return
	}
	state := pastState{until: s.clock.now().Add(s.options.ReadAfterWrite)}
	if s.find(r.id) == r && !r.hidden {
		state.body, state.etag = s.render(r), s.etagOf(r)
	}
	r.past, r.reads = append(r.past, state), 0
}

// lagging returns the state that a lagging read shows, nil if it shows the last one.
func (s *Simulator) lagging(r *resource) *pastState {
	for i := range r.past {
		if s.clock.now().Before(r.past[i].until) {
			r.past = r.past[i:]
			return &r.past[0]
		}
	}
	r.past = nil
	return nil
}

// visible returns the body that a lagging read returns now, nil for "not found".
func (s *Simulator) visible(r *resource) object {
	if r == nil {
		return nil
	}
	if state := s.lagging(r); state != nil {
		return cloneObject(state.body)
	}
	if r.hidden {
		return nil
	}
	return s.render(r)
}

// read returns the body and the ETag that the next GET returns, nil for "not found". With
// Options.Replicas the replicas take turns, and only the last one lags.
func (s *Simulator) read(r *resource) (object, string) {
	if r == nil {
		return nil, ""
	}
	r.reads++
	if state := s.lagging(r); state != nil && (s.options.Replicas <= 1 || r.reads%s.options.Replicas == 0) {
		return cloneObject(state.body), state.etag
	}
	if r.hidden {
		return nil, ""
	}
	return s.render(r), s.etagOf(r)
}

// exists reports whether a scope or parent exists. Subscriptions, the tenant and
// management groups always do; fixed singletons ("default") do if their parent does.
func (s *Simulator) exists(id string) bool {
	segments := strings.Split(strings.Trim(key(id), "/"), "/")
	switch {
	case id == "", len(segments) == 2 && segments[0] == "subscriptions":
		return true
	case len(segments) == 4 && segments[1] == "microsoft.management" && segments[2] == "managementgroups":
		return true
	case s.find(id) == nil && len(segments) > 6 && segments[len(segments)-1] == "default":
		return s.find(strings.Join(append([]string{""}, segments[:len(segments)-2]...), "/")) != nil
	}
	r := s.find(id)
	return r != nil && !r.hidden
}
