package armsim

import (
	"net/http"
	"slices"
	"strings"
)

// connectionCollection is where a resource shows the private endpoints that lead
// to it, and where its owner approves or rejects them.
const connectionCollection = "privateEndpointConnections"

// endpointConnectionRow is the other side of private endpoints, below any type: a
// PUT decides the state, a DELETE disconnects. Only an endpoint makes one.
func endpointConnectionRow() typeRule {
	return typeRule{
		pattern: "*/" + strings.ToLower(connectionCollection), etag: true,
		create: OperationSpec{Shape: ShapeSync}, update: OperationSpec{Shape: ShapeSync}, delete: OperationSpec{Shape: ShapeSync},
		defaults: keepEndpointReference, onRead: showEndpointConnection, checkWrite: checkEndpointConnection,
		onDone: onConnectionWritten, onDeleted: onConnectionDeleted,
	}
}

// createConnections shows an endpoint that came to be at the resources it leads to.
func createConnections(s *Simulator, endpoint *resource) {
	for _, item := range connections(endpoint.body) {
		connection, _ := item.(object)
		target := s.find(text(connection, "properties.privateLinkServiceId"))
		if target == nil || s.hasConnection(endpoint, target) {
			continue
		}
		id := target.id + "/" + connectionCollection + "/" + endpoint.name + "." + endpoint.guid
		t, ok := parseID(id)
		if !ok {
			continue
		}
		r := s.newResource(t)
		r.body = object{"properties": object{"privateEndpoint": object{"id": endpoint.id}, "provisioningState": "Succeeded"}}
		s.resources[key(id)] = r
	}
}

// hasConnection reports whether a resource shows an endpoint already.
func (s *Simulator) hasConnection(endpoint, target *resource) bool {
	return slices.ContainsFunc(s.children(target.id, connectionCollection), func(r *resource) bool {
		return key(endpointID(r)) == key(endpoint.id)
	})
}

// removeConnections takes a deleted endpoint away from where it led to.
func removeConnections(s *Simulator, endpoint *resource) {
	for _, r := range s.below("") {
		if key(endpointID(r)) == key(endpoint.id) {
			s.removeOne(r)
		}
	}
}

// endpointID is the ID of the endpoint of a connection, "" of anything else.
func endpointID(r *resource) string {
	if !strings.HasSuffix(strings.ToLower(r.typ), "/"+strings.ToLower(connectionCollection)) {
		return ""
	}
	return text(r.body, "properties.privateEndpoint.id")
}

// endpointOfConnection are the endpoint of a connection, what the endpoint calls it, and whether
// it is approved without a person; nil for one that no endpoint made.
func (s *Simulator) endpointOfConnection(connection *resource) (endpoint *resource, name string, automatic bool) {
	if endpoint = s.find(endpointID(connection)); endpoint == nil {
		return nil, "", false
	}
	p, _ := endpoint.body["properties"].(object)
	for _, property := range []string{automaticProperty, manualProperty} {
		list, _ := p[property].([]any)
		for _, item := range list {
			if one, _ := item.(object); within(connection.id, text(one, "properties.privateLinkServiceId")) {
				name, _ := itemName(item)
				return endpoint, name, property == automaticProperty
			}
		}
	}
	return nil, "", false
}

// keepEndpointReference: a body cannot move a connection to another endpoint.
func keepEndpointReference(r *resource, body object) {
	if old, _ := r.body["properties"].(object); old["privateEndpoint"] != nil {
		properties(body)["privateEndpoint"] = clone(old["privateEndpoint"])
	}
}

func showEndpointConnection(s *Simulator, r *resource, body object) {
	if endpoint, name, automatic := s.endpointOfConnection(r); endpoint != nil {
		properties(body)["privateLinkServiceConnectionState"] = s.connectionState(endpoint, name, automatic)
	}
}

func checkEndpointConnection(s *Simulator, t target, body object) *response {
	if s.recordings[key(t.id)] != nil {
		return nil // a recording says that Azure took it
	}
	if s.find(t.id) == nil {
		return s.errAbsent(t)
	}
	if status := text(body, "properties.privateLinkServiceConnectionState.status"); !isApprovalStatus(status) {
		return armError(http.StatusBadRequest, "BadRequest",
			"The status '%s' of the private endpoint connection is not one of Approved, Rejected, Disconnected, Pending.", status)
	}
	return nil
}

// isApprovalStatus reports whether a status is one that an owner may give.
func isApprovalStatus(status string) bool {
	return slices.Contains([]string{"Approved", "Rejected", "Disconnected", "Pending"}, status)
}

// onConnectionWritten lets the endpoint see what the owner decided.
func onConnectionWritten(s *Simulator, r *resource) {
	state := "properties.privateLinkServiceConnectionState."
	s.setEndpointState(r, text(r.body, state+"status"), text(r.body, state+"description"))
}

// onConnectionDeleted: an owner who deletes a connection disconnects the endpoint.
func onConnectionDeleted(s *Simulator, r *resource) { s.setEndpointState(r, "Disconnected", "") }

func (s *Simulator) setEndpointState(connection *resource, status, description string) {
	endpoint, name, _ := s.endpointOfConnection(connection)
	if endpoint == nil || status == "" {
		return
	}
	endpoint.setConnectionState(name, status, description)
	endpoint.version++
}
