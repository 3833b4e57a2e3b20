package armsim

import (
	"net/http"
	"slices"
	"strings"
)

// TypeLimit lists what the provider offers of a type. Types without a limit are offered
// in every version and location, because the simulator has no catalog. A limit that names
// one type adds it to the list of its provider, as a private type needs it.
type TypeLimit struct {
	Type string `json:"type"` // glob over the resource type
	// Unknown types do not exist at the provider (404 InvalidResourceType).
	Unknown bool `json:"unknown,omitempty"`
	// APIVersions and Locations are those on offer; empty means all.
	APIVersions []string `json:"apiVersions,omitempty"`
	Locations   []string `json:"locations,omitempty"`
}

// LimitType adds a limit.
func (s *Simulator) LimitType(l TypeLimit) { s.locked(func() { s.limits = append(s.limits, l) }) }

// UnlimitTypes removes all limits.
func (s *Simulator) UnlimitTypes() { s.locked(func() { s.limits = nil }) }

func (s *Simulator) typeLimit(resourceType string) *TypeLimit {
	for i := range s.limits {
		if resourceType != "" && globMatch(s.limits[i].Type, resourceType) {
			return &s.limits[i]
		}
	}
	return nil
}

// checkType refuses types and api-versions that the provider does not offer.
func (s *Simulator) checkType(q *request) *response {
	if q.target.kind == kindOperation {
		return nil
	}
	l := s.typeLimit(q.resourceType)
	switch {
	case l == nil:
	case l.Unknown:
		return gatewayError(http.StatusNotFound, "InvalidResourceType",
			"The resource type '%s' could not be found in the namespace '%s' for api version '%s'. The supported api-versions are '%s'.",
			strings.Join(q.target.types, "/"), q.target.namespace, q.apiVersion, strings.Join(l.APIVersions, ","))
	case len(l.APIVersions) > 0 && !containsFold(l.APIVersions, q.apiVersion):
		return gatewayError(http.StatusBadRequest, "NoRegisteredProviderFound",
			"No registered resource provider found for API version '%s' for type '%s'. The supported api-versions are '%s'. The supported locations are '%s'.",
			q.apiVersion, strings.Join(q.target.types, "/"), strings.Join(l.APIVersions, ", "), strings.Join(l.Locations, ", "))
	}
	return nil
}

// checkOfferedLocation refuses a new resource in a location that is not offered.
func (s *Simulator) checkOfferedLocation(t target, location string) *response {
	l := s.typeLimit(t.resourceType())
	if l == nil || len(l.Locations) == 0 || location == "" {
		return nil
	}
	if slices.ContainsFunc(l.Locations, func(offered string) bool { return sameLocation(offered, location) }) {
		return nil
	}
	return gatewayError(http.StatusBadRequest, "LocationNotAvailableForResourceType",
		"The provided location '%s' is not available for resource type '%s'. List of available regions for the resource type is '%s'.",
		location, t.resourceType(), strings.Join(l.Locations, ","))
}

func containsFold(list []string, value string) bool {
	return slices.ContainsFunc(list, func(item string) bool { return strings.EqualFold(item, value) })
}
