package armsim

import (
	"net/http"
	"slices"
	"strings"
)

// connectionCollection is the collection in which a resource shows the private
// endpoints that are connected to it, and in which its owner approves or rejects them.
const connectionCollection = "privateEndpointConnections"

// endpointConnectionRow describes the service side of private endpoints, below any
// type: a PUT decides the state, a DELETE disconnects. Only an endpoint creates one.
func endpointConnectionRow() typeRule {
	return typeRule{
		typePattern: "*/" + strings.ToLower(connectionCollection), etag: true,
		create: OperationSpec{Shape: ShapeSync}, update: OperationSpec{Shape: ShapeSync}, delete: OperationSpec{Shape: ShapeSync},
		defaults: keepEndpointReference, onRead: showEndpointConnection, checkWrite: checkEndpointConnection,
		onDone: onConnectionWritten, onDeleted: onConnectionDeleted,
	}
}

// createConnections adds a new endpoint's connections to the resources that it connects
// to.
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

// hasConnection reports whether a resource already shows an endpoint.
func (s *Simulator) hasConnection(endpoint, target *resource) bool {
	return slices.ContainsFunc(s.children(target.id, connectionCollection), func(r *resource) bool {
		return key(endpointID(r)) == key(endpoint.id)
	})
}

// removeConnections removes a deleted endpoint's connections from the resources that it
// was connected to.
func removeConnections(s *Simulator, endpoint *resource) {
	for _, r := range s.below("") {
		if key(endpointID(r)) == key(endpoint.id) {
			s.removeOne(r)
		}
	}
}

// endpointID returns the endpoint's ID of a connection, "" for other resources.
func endpointID(r *resource) string {
	if !strings.HasSuffix(strings.ToLower(r.typ), "/"+strings.ToLower(connectionCollection)) {
		return ""
	}
	return text(r.body, "properties.privateEndpoint.id")
}

// endpointOfConnection returns the endpoint of a connection, the connection's name
// there, and whether it is approved automatically; nil for a connection that no
// endpoint created.
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

// keepEndpointReference prevents a body from moving a connection to another endpoint.
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
		return nil // the recording shows that Azure accepted it
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

// isApprovalStatus reports whether an owner may set a status.
func isApprovalStatus(status string) bool {
	return slices.Contains([]string{"Approved", "Rejected", "Disconnected", "Pending"}, status)
}

// onConnectionWritten copies the owner's decision to the endpoint.
func onConnectionWritten(s *Simulator, r *resource) {
	state := "properties.privateLinkServiceConnectionState."
	s.setEndpointState(r, text(r.body, state+"status"), text(r.body, state+"description"))
}

// onConnectionDeleted disconnects the endpoint of a deleted connection.
func onConnectionDeleted(s *Simulator, r *resource) { s.setEndpointState(r, "Disconnected", "") }

func (s *Simulator) setEndpointState(connection *resource, status, description string) {
	endpoint, name, _ := s.endpointOfConnection(connection)
	if endpoint == nil || status == "" {
		return
	}
	endpoint.setConnectionState(name, status, description)
	endpoint.version++
	s.touch(endpoint)
}
