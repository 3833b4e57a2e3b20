package armsim

import (
	"net/http"
	"strconv"
	"strings"
)

func (s *Simulator) handleGet(q *request) *answer {
	t := q.target
	r := s.find(t.id)
	if q.r.Method == http.MethodGet && s.ruleFor(q.resourceType).noGet {
		return errNoGet()
	}
	if a := s.placed(q, "read"); a != nil {
		return a
	}
	r.noteRead()
	body := s.visible(r)
	if body == nil {
		return s.errAbsent(t)
	}
	if q.r.Method == http.MethodHead {
		return newAnswer(http.StatusNoContent, nil)
	}
	for _, name := range s.secretNames(r) {
		properties(body)[name] = s.secretValue(r, name)
	}
	a := newAnswer(http.StatusOK, body)
	s.setETag(a, r)
	if none := q.r.Header.Get("If-None-Match"); none != "" && a.header.Get("ETag") != "" && sameETag(none, s.etagOf(r)) {
		a.status, a.body = http.StatusNotModified, nil
	}
	return a
}

func (s *Simulator) setETag(a *answer, r *resource) {
	if s.ruleFor(r.typ).etag {
		a.header.Set("ETag", s.etagOf(r))
	}
}

// handleList answers a collection, the groups of a subscription, or the flat
// list of resources of a group or subscription.
func (s *Simulator) handleList(q *request) *answer {
	t := q.target
	if q.r.Method != http.MethodGet {
		return errMethod(q.r.Method)
	}
	if a := s.placed(q, "read"); a != nil {
		return a
	}
	if strings.EqualFold(q.resourceType, "Microsoft.Authorization/permissions") {
		return s.permissions(q)
	}
	var found []*resource
	for _, r := range s.candidates(q) {
		if s.visible(r) != nil {
			found = append(found, r)
		}
	}
	list := make([]any, 0, len(found))
	for _, r := range found {
		body := s.visible(r)
		if t.kind == kindResources {
			body = flat(body)
		}
		list = append(list, body)
	}
	return s.page(q, list)
}

// candidates are the resources that a list is about, in order of their IDs.
func (s *Simulator) candidates(q *request) []*resource {
	t := q.target
	if t.kind == kindCollection && len(t.types) == 1 && s.ruleFor(q.resourceType).inherited {
		return s.inheritedAt(q)
	}
	if t.kind == kindCollection && (len(t.types) > 1 || t.group != "" || t.isExtension() || t.subscription == "") {
		parent := t.parentID()
		if len(t.types) == 1 {
			parent = t.scope + "/providers/" + t.namespace
		}
		return s.children(parent, t.types[len(t.types)-1])
	}
	var out []*resource
	for _, r := range s.below(t.listRoot()) {
		p, ok := parseID(r.id)
		if !ok {
			continue
		}
		switch {
		case t.kind == kindGroups && p.kind == kindGroup,
			t.kind == kindCollection && strings.EqualFold(r.typ, t.resourceType()),
			t.kind == kindResources && p.kind == kindResource && len(p.types) == 1 && !p.isExtension() && listed(r, q):
			out = append(out, r)
		}
	}
	return out
}

func (t target) listRoot() string {
	if t.subscription == "" {
		return ""
	}
	root := "/subscriptions/" + t.subscription
	if t.group != "" {
		root += "/resourceGroups/" + t.group
	}
	return root
}

// listed tells whether a resource is in a flat list: tracked resources only
// (those with a location), and $filter=resourceType eq '...'.
func listed(r *resource, q *request) bool {
	if text(r.body, "location") == "" {
		return false
	}
	filter := q.r.URL.Query().Get("$filter")
	if _, want, ok := strings.Cut(filter, "resourceType eq '"); ok {
		return strings.EqualFold(strings.TrimSuffix(want, "'"), r.typ)
	}
	return true
}

// flat is a resource as the flat lists show it: no properties.
func flat(body object) object {
	out := object{}
	for _, name := range []string{"id", "name", "type", "location", "tags", "kind", "sku", "identity", "managedBy", "plan", "zones"} {
		if value, ok := body[name]; ok {
			out[name] = value
		}
	}
	return out
}

// page cuts a list; the next page's URL is absolute and opaque to the client.
func (s *Simulator) page(q *request, list []any) *answer {
	query := q.r.URL.Query()
	from, _ := strconv.Atoi(query.Get("$skiptoken")) // a foreign token starts anew
	size := s.options.PageSize
	if top, err := strconv.Atoi(query.Get("$top")); err == nil && top > 0 {
		size = min(size, top)
	}
	from = max(0, min(from, len(list)))
	to := min(from+size, len(list))
	body := object{"value": list[from:to]}
	if to < len(list) {
		query.Set("$skiptoken", strconv.Itoa(to))
		body["nextLink"] = q.origin() + q.r.URL.EscapedPath() + "?" + query.Encode()
	}
	return newAnswer(http.StatusOK, body)
}

// permissions tells what the denials leave of everything at a scope.
func (s *Simulator) permissions(q *request) *answer {
	denied := []any{}
	for _, d := range s.denials {
		if !globMatch(d.Scope, q.target.scope) {
			continue
		}
		for _, right := range [][2]string{{"GET", "*/read"}, {"PUT", "*/write"}, {"DELETE", "*/delete"}, {"POST", "*/action"}} {
			if globMatch(d.Method, right[0]) {
				denied = append(denied, right[1])
			}
		}
	}
	return s.page(q, []any{object{"actions": []any{"*"}, "notActions": denied, "dataActions": []any{}, "notDataActions": []any{}}})
}
