package armsim

import (
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"
)

func (s *Simulator) handleGet(q *request) *response {
	t := q.target
	r := s.find(t.id)
	if refused := s.refuseRead(q); refused != nil {
		return refused
	}
	if resp := s.checkParents(q, "read"); resp != nil {
		return resp
	}
	r.noteRead()
	body, etag := s.read(r)
	if row := s.ruleFor(q.resourceType); row.withOwner != nil {
		if shown := row.withOwner(s, t); shown != nil {
			return newResponse(http.StatusOK, shown)
		}
	}
	if body == nil {
		return s.errAbsent(t)
	}
	if q.r.Method == http.MethodHead {
		return newResponse(http.StatusNoContent, nil)
	}
	for _, name := range s.secretNames(r) {
		properties(body)[name] = s.secretValue(r, name)
	}
	resp := newResponse(http.StatusOK, body)
	s.setETag(resp, r, etag)
	if noneMatch := q.r.Header.Get("If-None-Match"); noneMatch != "" && resp.header.Get("ETag") != "" && sameETag(noneMatch, etag) {
		resp.status, resp.body = http.StatusNotModified, nil
	}
	return resp
}

// setETag sets the header if the type shows ETags.
func (s *Simulator) setETag(resp *response, r *resource, etag string) {
	if s.showsETag(r.typ) {
		resp.header.Set("ETag", etag)
	}
}

// handleList serves a collection, the groups of a subscription, or the flat list of
// resources of a group or subscription.
func (s *Simulator) handleList(q *request) *response {
	t := q.target
	if q.r.Method != http.MethodGet {
		return errMethod(q.r.Method)
	}
	if resp := s.checkParents(q, "read"); resp != nil {
		return resp
	}
	if status := s.answerFor(q.resourceType).ListStatus; status != 0 && t.kind == kindCollection {
		return newResponse(status, object{"Message": "The requested resource does not support http method 'GET'."})
	}
	if strings.EqualFold(q.resourceType, "Microsoft.Authorization/permissions") {
		return s.permissionsList(q)
	}
	if refused := s.withoutDiagnostics(q); refused != nil {
		return refused
	}
	var found []*resource
	for _, r := range s.listedResources(q) {
		if s.listed(r) != nil && !s.ruleFor(r.typ).isReadByAction(r.name) {
			found = append(found, r)
		}
	}
	list := make([]any, 0, len(found))
	for _, r := range found {
		body := s.listed(r)
		if t.kind == kindResources {
			body = summary(body)
		}
		if (t.kind == kindResources || t.kind == kindGroups) && strings.Contains(q.r.URL.Query().Get("$expand"), "createdTime") {
			body = maps.Clone(body)
			body["createdTime"] = r.created.UTC().Format(time.RFC3339Nano)
		}
		list = append(list, body)
	}
	return s.pageOf(q, list)
}

// listedResources returns the resources of a list, in order of their IDs.
func (s *Simulator) listedResources(q *request) []*resource {
	t := q.target
	if strings.EqualFold(q.resourceType, managementGroupType+"/descendants") {
		return s.descendants(q.target.names[0])
	}
	if t.kind == kindCollection && len(t.types) == 1 && s.ruleFor(q.resourceType).inherited {
		return s.inheritedResources(q)
	}
	if t.kind == kindCollection && (len(t.types) > 1 || t.group != "" || t.isExtension() || t.subscription == "") {
		parent := t.parentID()
		if len(t.types) == 1 {
			parent = t.scope + "/providers/" + t.namespace
		}
		return s.children(parent, t.types[len(t.types)-1])
	}
	if t.kind == kindResources {
		return s.indexed(t.listRoot(), func(r *resource, p target) bool {
			return p.kind == kindResource && !p.isExtension() && inFlatList(r, q)
		})
	}
	var out []*resource
	for _, r := range s.below(t.listRoot()) {
		p, ok := parseID(r.id)
		if ok && (t.kind == kindGroups && p.kind == kindGroup || t.kind == kindCollection && strings.EqualFold(r.typ, t.resourceType())) {
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

// inFlatList reports whether a flat list contains a resource: only tracked resources
// (those with a location), filtered by $filter=resourceType eq '...'.
func inFlatList(r *resource, q *request) bool {
	if text(r.body, "location") == "" {
		return false
	}
	filter := q.r.URL.Query().Get("$filter")
	if _, resourceType, ok := strings.Cut(filter, "resourceType eq '"); ok {
		return strings.EqualFold(strings.TrimSuffix(resourceType, "'"), r.typ)
	}
	return true
}

// summary returns a resource as the flat lists have it: without properties.
func summary(body object) object {
	out := object{}
	for _, name := range []string{"id", "name", "type", "location", "tags", "kind", "sku", "identity", "managedBy", "plan", "zones"} {
		if value, ok := body[name]; ok {
			out[name] = value
		}
	}
	return out
}

// pageOf returns one page of a list. The URL of the next page is absolute and opaque to
// the client.
func (s *Simulator) pageOf(q *request, list []any) *response {
	query := q.r.URL.Query()
	start, _ := strconv.Atoi(query.Get("$skiptoken")) // an unknown token starts from the beginning
	size := s.options.PageSize
	if top, err := strconv.Atoi(query.Get("$top")); err == nil && top > 0 {
		size = min(size, top)
	}
	start = max(0, min(start, len(list)))
	end := min(start+size, len(list))
	body := object{"value": list[start:end]}
	if end < len(list) {
		query.Set("$skiptoken", strconv.Itoa(end))
		body["nextLink"] = q.origin() + q.r.URL.EscapedPath() + "?" + query.Encode()
	}
	return newResponse(http.StatusOK, body)
}

// permissionsList returns the permissions at a scope: everything but what the denials
// refuse.
func (s *Simulator) permissionsList(q *request) *response {
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
	return s.pageOf(q, []any{object{"actions": []any{"*"}, "notActions": denied, "dataActions": []any{}, "notDataActions": []any{}}})
}
