package armsim

import (
	"net/http"
	"slices"
	"strings"

	"github.com/armature-io/armature/armsim/published"
)

// checkWrite applies the contract's rules for a PUT or PATCH.
func (s *Simulator) checkWrite(q *request, r *resource, body object) *response {
	if r != nil {
		if resp := s.checkBusy(q, r); resp != nil {
			return resp
		}
	}
	if resp := s.checkConditions(q, r); resp != nil {
		return resp
	}
	return s.checkContent(q, r, body)
}

// checkContent applies the rules for the content of a PUT or PATCH.
func (s *Simulator) checkContent(q *request, r *resource, body object) *response {
	t := q.target
	if t.kind == kindGroup && (!groupNamePattern.MatchString(t.group) || strings.HasSuffix(t.group, ".")) {
		return gatewayError(http.StatusBadRequest, "InvalidResourceGroup", "The provided resource group name '%s' has these invalid characters or is too long.", t.group)
	}
	if resp := s.checkLocation(q, r, body); resp != nil {
		return resp
	}
	if r == nil {
		if resp := s.checkOfferedLocation(t, text(body, "location")); resp != nil {
			return resp
		}
		if resp := s.checkDeleted(t, body); resp != nil {
			return resp
		}
	}
	if resp := s.applyPolicies(t, body); resp != nil {
		return resp
	}
	if resp := s.checkReferences(t, body); resp != nil {
		return resp
	}
	if p, ok := body["properties"]; ok && p != nil {
		if _, ok := p.(object); !ok {
			return errContent("The value of 'properties' is no object")
		}
	}
	if state := text(body, "properties.provisioningState"); state != "" && (r == nil || !strings.EqualFold(state, r.state())) {
		return armError(http.StatusBadRequest, "BadRequest",
			"The property 'provisioningState' is read-only: it must be absent or equal the current value.")
	}
	if resp := checkSecrets(q.resourceType, body); resp != nil {
		return resp
	}
	row := s.ruleFor(q.resourceType)
	if r != nil {
		for _, inline := range row.inline {
			if resp := s.checkInline(q, r, body, inline); resp != nil {
				return resp
			}
		}
	}
	if row.checkWrite != nil {
		if resp := row.checkWrite(s, t, body); resp != nil {
			return resp
		}
	}
	return s.checkChanges(q, r, body)
}

// checkBusy refuses a write while an operation on the resource is in progress, or while its
// provisioning state is not terminal.
func (s *Simulator) checkBusy(q *request, r *resource) *response {
	if r.op != nil && !r.op.done {
		if r.op.verb == "delete" && q.target.kind == kindGroup {
			return errGroupDeleting(q.target.group)
		}
		return errBusy(q.origin() + r.op.async)
	}
	if !terminal(r.state()) {
		return armError(http.StatusConflict, "Conflict",
			"The resource '%s' is in provisioning state '%s' and cannot be changed now.", r.id, r.state())
	}
	return nil
}

// checkConditions evaluates If-Match and If-None-Match of a write (412). A provider without ETags
// ignores If-None-Match.
func (s *Simulator) checkConditions(q *request, stored *resource) *response {
	match, noneMatch := q.r.Header.Get("If-Match"), q.r.Header.Get("If-None-Match")
	if match != "" && match != "*" && s.refusesETags(q.resourceType) {
		return errPrecondition()
	}
	if match != "" && (stored == nil || match != "*" && !sameETag(match, s.etagOf(stored))) {
		return errPrecondition()
	}
	if noneMatch != "" && stored != nil && s.showsETag(stored.typ) && (noneMatch == "*" || sameETag(noneMatch, s.etagOf(stored))) {
		return errPrecondition()
	}
	return nil
}

// refusesETags reports whether a type refuses the ETags that it shows.
func (s *Simulator) refusesETags(resourceType string) bool {
	return slices.ContainsFunc(s.options.RefusedETags, func(pattern string) bool { return globMatch(pattern, resourceType) })
}

func sameETag(a, b string) bool { return strings.TrimPrefix(a, "W/") == strings.TrimPrefix(b, "W/") }

// checkLocation refuses a top-level resource without a location, unless its published body
// has none, and a location that changes.
func (s *Simulator) checkLocation(q *request, r *resource, body object) *response {
	t := q.target
	location := text(body, "location")
	if location == "" {
		if t.needsLocation() && !s.ruleFor(t.resourceType()).noLocation && hasLocation(q.shape) {
			return gatewayError(http.StatusBadRequest, "LocationRequired", "The location property is required for this definition.")
		}
		return nil
	}
	if r == nil || text(r.body, "location") == "" || sameLocation(location, text(r.body, "location")) {
		return nil
	}
	if t.kind == kindGroup {
		return gatewayError(http.StatusConflict, "InvalidResourceGroupLocation",
			"Invalid resource group location '%s'. The Resource group already exists in location '%s'.", location, text(r.body, "location"))
	}
	return gatewayError(http.StatusConflict, "InvalidResourceLocation",
		"The resource '%s' already exists in location '%s' in resource group '%s'. A resource with the same name cannot be created in location '%s'. Please select a new resource name.",
		r.name, text(r.body, "location"), t.group, location)
}

// needsLocation reports whether the target is a group or a tracked resource: a
// top-level one in a group that is not attached to another resource.
func (t target) needsLocation() bool {
	return t.kind == kindGroup || t.group != "" && len(t.types) == 1 && !t.isExtension()
}

func sameLocation(a, b string) bool { return compactRegion(a) == compactRegion(b) }

// hasLocation reports whether a body states a location, as far as its shape is published.
func hasLocation(shape *published.Node) bool {
	if shape == nil {
		return true
	}
	location := shape.Field("location")
	return location != nil && location.Flags&published.ReadOnly == 0
}
