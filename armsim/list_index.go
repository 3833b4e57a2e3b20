package armsim

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// removed is a resource that is gone, and until when the index still lists it.
type removed struct {
	resource *resource
	body     object
	until    time.Time
}

// indexed returns the resources below an ID that match, as ARM's index has them, in order
// of their IDs: with Options.ListLag it lacks what is new and still has what is gone.
func (s *Simulator) indexed(root string, match func(r *resource, t target) bool) []*resource {
	now := s.clock.now()
	var out []*resource
	add := func(r *resource) {
		if t, ok := parseID(r.id); ok && match(r, t) {
			out = append(out, r)
		}
	}
	for _, r := range s.below(root) {
		if s.options.ListLag <= 0 || now.Sub(r.created) >= s.options.ListLag {
			add(r)
		}
	}
	for id, gone := range s.removed {
		switch {
		case !now.Before(gone.until):
			delete(s.removed, id)
		case s.find(id) == nil && strings.HasPrefix(id, key(root)+"/"):
			add(gone.resource)
		}
	}
	slices.SortFunc(out, func(a, b *resource) int { return strings.Compare(key(a.id), key(b.id)) })
	return out
}

// keepListed lets the index list a removed resource for a while.
func (s *Simulator) keepListed(r *resource) {
	if s.options.ListLag > 0 {
		s.removed[key(r.id)] = removed{resource: r, body: s.render(r), until: s.clock.now().Add(s.options.ListLag)}
	}
}

// listed returns the body that a list shows, nil for none.
func (s *Simulator) listed(r *resource) object {
	if s.find(r.id) == nil {
		if gone, ok := s.removed[key(r.id)]; ok {
			return gone.body
		}
	}
	return s.visible(r)
}

// descendants returns the management groups and subscriptions below a management group, at
// all levels.
// Source: https://learn.microsoft.com/rest/api/managementgroups/management-groups/get-descendants
func (s *Simulator) descendants(group string) []*resource {
	var out []*resource
	for _, r := range s.matching(func(_ string, r *resource) bool {
		return strings.EqualFold(r.typ, managementGroupType) && strings.EqualFold(lastSegment(text(r.body, "properties.details.parent.id")), group)
	}) {
		out = append(append(out, r), s.descendants(r.name)...)
	}
	for _, r := range s.children("/providers/"+managementGroupType+"/"+group, "subscriptions") {
		// An item names the subscription itself.
		shown := *r
		shown.id = "/subscriptions/" + r.name
		out = append(out, &shown)
	}
	return out
}

// typesWithoutDiagnostics are types without diagnostic settings, in lower case.
// Source: https://learn.microsoft.com/azure/azure-monitor/reference/metrics-index and
// .../logs-index, which lack them.
var typesWithoutDiagnostics = []string{
	"microsoft.compute/disks", "microsoft.compute/snapshots", "microsoft.managedidentity/userassignedidentities",
	"microsoft.network/routetables", "microsoft.resources/resourcegroups", "microsoft.sql/servers",
}

// withoutDiagnostics refuses the list of diagnostic settings of a type that has none.
func (s *Simulator) withoutDiagnostics(q *request) *response {
	if !strings.EqualFold(q.resourceType, "Microsoft.Insights/diagnosticSettings") {
		return nil
	}
	scope, ok := parseID(q.target.scope)
	if !ok || !containsFold(typesWithoutDiagnostics, scope.resourceType()) {
		return nil
	}
	return armError(http.StatusBadRequest, "ResourceTypeNotSupported", "The resource type '%s' does not support diagnostic settings.", strings.ToLower(scope.resourceType()))
}
