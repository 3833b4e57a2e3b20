package armsim

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
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

// resourceTypes returns the types of a namespace that are in the table or stored, with
// their api-versions. Without a limit the simulator also accepts types and versions
// that it does not list.
func (s *Simulator) resourceTypes(namespace string) []any {
	types := map[string]bool{}
	add := func(resourceType string) {
		namespacePart, typeName, nested := strings.Cut(resourceType, "/")
		if nested && strings.EqualFold(namespacePart, namespace) && !strings.Contains(typeName, "*") {
			types[strings.ToLower(typeName)] = true
		}
	}
	for _, row := range typeRows() {
		add(row.typePattern)
	}
	for _, r := range s.resources {
		add(r.typ)
	}
	list := []any{}
	for _, typeName := range slices.Sorted(maps.Keys(types)) {
		versions := []any{"2024-06-01-preview", "2024-01-01", "2023-08-15"}
		if l := s.typeLimit(namespace + "/" + typeName); l != nil && len(l.APIVersions) > 0 {
			versions = versions[:0]
			for _, version := range l.APIVersions {
				versions = append(versions, version)
			}
		}
		list = append(list, object{"resourceType": typeName, "apiVersions": versions})
	}
	return list
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
