package armsim

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/armature-io/armature/armsim/published"
)

// registration is the state of a provider; an absent one is Registered.
type registration struct {
	state        string
	registeredAt time.Time // end of Registering
}

const registrationTime = 10 * time.Second

// checkProvider refuses malformed namespaces, and writes to a provider that the
// subscription is not registered for.
func (s *Simulator) checkProvider(q *request) *response {
	namespace := q.target.namespace
	if namespace == "" || q.target.kind == kindOperation {
		return nil
	}
	if !namespacePattern.MatchString(namespace) {
		return gatewayError(http.StatusNotFound, "InvalidResourceNamespace", "The resource namespace '%s' is invalid.", namespace)
	}
	if q.target.kind != kindResource || q.r.Method != http.MethodPut && q.r.Method != http.MethodPatch {
		return nil
	}
	if s.registrationState(namespace) == "Registered" {
		return nil
	}
	return gatewayError(http.StatusConflict, "MissingSubscriptionRegistration",
		"The subscription is not registered to use namespace '%s'. See https://aka.ms/rps-not-found for how to register subscriptions.", namespace)
}

func (s *Simulator) registrationState(namespace string) string {
	r, known := s.registrations[strings.ToLower(namespace)]
	switch {
	case !known && s.options.RequireRegistration && !builtIn(namespace):
		return "NotRegistered"
	case !known:
		return "Registered"
	case r.state == "Registering" && !s.clock.now().Before(r.registeredAt):
		return "Registered"
	}
	return r.state
}

// builtIn reports whether every subscription has the namespace.
func builtIn(namespace string) bool {
	return strings.EqualFold(namespace, "Microsoft.Resources") || strings.EqualFold(namespace, "Microsoft.Authorization")
}

// handleProvider serves GET of one or all providers, and POST register and unregister.
func (s *Simulator) handleProvider(q *request) *response {
	t := q.target
	if resp := s.checkName(q); resp != nil {
		return resp
	}
	if resp := s.graph(q); resp != nil {
		return resp
	}
	if resp := s.validateResources(q); resp != nil {
		return resp
	}
	switch {
	case t.kind == kindProviderAction && q.r.Method == http.MethodPost && strings.EqualFold(t.action, "register"):
		if s.registrationState(t.namespace) != "Registered" {
			s.registrations[strings.ToLower(t.namespace)] = registration{"Registering", s.clock.now().Add(registrationTime)}
		}
	case t.kind == kindProviderAction && q.r.Method == http.MethodPost && strings.EqualFold(t.action, "unregister"):
		s.registrations[strings.ToLower(t.namespace)] = registration{state: "Unregistered"}
	case t.kind == kindProviders && q.r.Method == http.MethodGet:
		list := []any{}
		for _, namespace := range []string{"Microsoft.Authorization", "Microsoft.Kusto", "Microsoft.Network", "Microsoft.Resources", "Microsoft.Storage"} {
			list = append(list, s.providerBody(t.subscription, namespace))
		}
		return newResponse(http.StatusOK, object{"value": list})
	case t.kind == kindProvider && q.r.Method == http.MethodGet:
	default:
		return errMethod(q.r.Method)
	}
	return newResponse(http.StatusOK, s.providerBody(t.subscription, t.namespace))
}

// resourceTypes returns the types of a namespace with their api-versions and locations:
// those that are published, and those that are in the table, in a limit or stored. Without a limit
// the simulator also accepts types, versions and locations that it does not list.
func (s *Simulator) resourceTypes(namespace string) []any {
	offers := publishedOffers(namespace)
	add := func(resourceType string) {
		namespacePart, typeName, nested := strings.Cut(strings.ToLower(resourceType), "/")
		if nested && strings.EqualFold(namespacePart, namespace) && !strings.Contains(typeName, "*") && offers[typeName] == nil {
			offers[typeName] = object{"resourceType": typeName, "locations": []any{}, "apiVersions": []any{"2024-06-01-preview", "2024-01-01", "2023-08-15"}}
		}
	}
	for _, row := range typeRows() {
		add(row.typePattern)
	}
	for _, r := range s.resources {
		add(r.typ)
	}
	for _, l := range s.limits {
		add(l.Type)
	}
	list := []any{}
	for _, typeName := range slices.Sorted(maps.Keys(offers)) {
		offer := offers[typeName]
		if l := s.typeLimit(namespace + "/" + typeName); l != nil {
			if l.Unknown {
				continue
			}
			limitTo(offer, "apiVersions", l.APIVersions)
			limitTo(offer, "locations", l.Locations)
		}
		list = append(list, offer)
	}
	return list
}

// limitTo replaces a list of an offer, unless the limit is empty.
func limitTo(offer object, name string, limit []string) {
	if len(limit) > 0 {
		offer[name] = anyList(limit)
	}
}

// publishedOffers returns the published types of a namespace by their name in lower
// case, newest api-version first as ARM has them. A type with a location is offered in
// all public regions.
func publishedOffers(namespace string) map[string]object {
	offers := map[string]object{}
	types, err := published.Types(namespace)
	if err != nil {
		return offers // a test excludes damaged data
	}
	for key, versions := range types {
		newest := versions[len(versions)-1]
		names := make([]string, len(versions))
		for i, version := range versions {
			names[len(names)-1-i] = version.Version
		}
		locations := []string{}
		if newest.Body != nil && newest.Body.Field("location") != nil {
			locations = regions()
		}
		_, typeName, _ := strings.Cut(key, "/")
		_, spelled, _ := strings.Cut(newest.Name, "/")
		offers[typeName] = object{"resourceType": spelled, "locations": anyList(locations), "apiVersions": anyList(names)}
	}
	return offers
}

func anyList(texts []string) []any {
	list := make([]any, len(texts))
	for i, text := range texts {
		list[i] = text
	}
	return list
}

// regions returns the display names of the public regions (learn.microsoft.com, List of
// Azure regions), and "global" for types that exist in no region.
func regions() []string {
	return []string{
		"global", "East US", "East US 2", "South Central US", "West US 2", "West US 3", "Australia East", "Southeast Asia",
		"North Europe", "Sweden Central", "UK South", "West Europe", "Central US", "South Africa North", "Central India",
		"East Asia", "Indonesia Central", "Japan East", "Japan West", "Korea Central", "Malaysia West", "New Zealand North",
		"Canada Central", "Austria East", "Belgium Central", "France Central", "Germany West Central", "Italy North",
		"Norway East", "Poland Central", "Spain Central", "Switzerland North", "Mexico Central", "UAE North", "Brazil South",
		"Chile Central", "Israel Central", "Qatar Central", "North Central US", "West US", "West Central US",
		"South Africa West", "Australia Central", "Australia Central 2", "Australia Southeast", "Korea South", "South India",
		"West India", "Canada East", "France South", "Germany North", "Norway West", "Switzerland West", "UK West",
		"UAE Central", "Brazil Southeast",
	}
}

func (s *Simulator) providerBody(subscription, namespace string) object {
	return object{
		"id":        "/subscriptions/" + subscription + "/providers/" + namespace,
		"namespace": namespace, "resourceTypes": s.resourceTypes(namespace), "registrationPolicy": "RegistrationRequired",
		"registrationState": s.registrationState(namespace),
	}
}

// SetProvider sets a provider's registration state: Registered, NotRegistered,
// Registering or Unregistered.
func (s *Simulator) SetProvider(namespace, state string) {
	s.locked(func() {
		s.registrations[strings.ToLower(namespace)] = registration{state, s.clock.now().Add(registrationTime)}
	})
}
