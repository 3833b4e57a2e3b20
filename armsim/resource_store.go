package armsim

import (
	"net/http"
	"reflect"
	"strings"
)

// store stores a body as the server does: without read-only fields, of a PUT without
// fields that the published type does not have, with what the service keeps although the
// body omits it, and with the server's own fields.
func (s *Simulator) store(q *request, r *resource, sent object) *resource {
	t := q.target
	row := s.ruleFor(q.resourceType)
	if r == nil {
		r = s.newResource(t)
		s.keepPast(r)
		s.resources[key(t.id)] = r
	} else {
		s.keepPast(r)
	}
	body := cloneObject(sent)
	for _, name := range []string{"id", "name", "type", "etag", "systemData"} {
		delete(body, name)
	}
	s.logSecrets(r.typ, body)
	if q.shape != nil && q.r.Method == http.MethodPut { // a PATCH was merged into what is stored
		body = keepPublished(q.shape, body, r.body)
	}
	keepOmitted(q.resourceType, body, r.body)
	if q.apiVersion != "" {
		r.apiVersion = q.apiVersion
	}
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
	if s.selectRecording(r, sent); r.recording != nil {
		r.body = r.recordedBody()
		return r
	}
	if row.displayLocation && text(body, "location") != "" {
		body["location"] = displayLocation(text(body, "location"))
	}
	return r
}

// newResource returns an empty resource at a target, with the type in the server's case
// where the table says so. Names keep the client's case.
func (s *Simulator) newResource(t target) *resource {
	r := &resource{id: t.id, typ: t.resourceType(), name: t.name(), guid: s.newGUID(), body: object{}, created: s.clock.now()}
	row := s.ruleFor(r.typ)
	if row.titleTypes && t.kind == kindResource {
		id := t.scope + "/providers/" + t.namespace
		types := make([]string, len(t.types))
		for i, name := range t.types {
			types[i] = strings.ToUpper(name[:1]) + name[1:]
			id += "/" + types[i] + "/" + t.names[i]
		}
		r.id, r.typ = id, t.namespace+"/"+strings.Join(types, "/")
	}
	if row.fullName {
		r.name = strings.Join(t.names, "/")
	}
	return r
}

// displayLocation returns a region in the form of "West US 2", as some providers return
// it.
func displayLocation(location string) string {
	if strings.Contains(location, " ") {
		return location
	}
	words := []string{"north", "south", "east", "west", "central", "southeast", "us", "uk", "uae", "europe", "asia", "india",
		"japan", "korea", "australia", "canada", "brazil", "france", "germany", "norway", "sweden", "switzerland", "africa",
		"poland", "italy", "spain", "qatar", "israel", "mexico", "new", "zealand", "2", "3", "4", "euap"}
	rest, out := strings.ToLower(location), []string{}
	for rest != "" {
		word := ""
		for _, w := range words {
			if strings.HasPrefix(rest, w) && len(w) > len(word) {
				word = w
			}
		}
		if word == "" {
			return location
		}
		rest = rest[len(word):]
		switch word {
		case "us", "uk", "uae", "euap":
			word = strings.ToUpper(word)
		default:
			word = strings.ToUpper(word[:1]) + word[1:]
		}
		out = append(out, word)
	}
	return strings.Join(out, " ")
}
