package armsim

import (
	"fmt"
	"strings"
	"time"
)

const (
	privateEndpointType = "microsoft.network/privateendpoints"
	automaticProperty   = "privateLinkServiceConnections"
	manualProperty      = "manualPrivateLinkServiceConnections"
	// defaultApproval is the simulated time for which an automatic connection is
	// Pending. Recorded ones were approved before the operation was done.
	defaultApproval = 20 * time.Second
)

// Approval is the decision of a private link service's owner about the connections of a
// private endpoint.
type Approval struct {
	ID         string `json:"id"`                   // of the private endpoint
	Connection string `json:"connection,omitempty"` // name of the connection; empty = all
	// Status is Approved, Rejected, Disconnected or Pending.
	Status      string `json:"status"`
	Description string `json:"description,omitempty"`
}

// Approve sets the state of a private endpoint's connections, automatic or manual.
// Later PUTs keep it.
func (s *Simulator) Approve(a Approval) error {
	defer s.As(Author{}).lock()()
	if !isApprovalStatus(a.Status) {
		return fmt.Errorf("approve %s: the status %q is not Approved, Rejected, Disconnected or Pending", a.ID, a.Status)
	}
	r := s.find(a.ID)
	if r == nil || !strings.EqualFold(r.typ, privateEndpointType) {
		return fmt.Errorf("approve %s: there is no such private endpoint", a.ID)
	}
	found := false
	for _, connection := range connections(r.body) {
		name, _ := itemName(connection)
		if a.Connection != "" && !strings.EqualFold(a.Connection, name) {
			continue
		}
		found = true
		r.setConnectionState(name, a.Status, a.Description)
	}
	if !found {
		return fmt.Errorf("approve %s: it has no connection %q", a.ID, a.Connection)
	}
	r.version++
	s.recordWrite(r, "Succeeded")
	return nil
}

// setConnectionState stores the owner's decision about a connection.
func (r *resource) setConnectionState(name, status, description string) {
	if r.connectionStates == nil {
		r.connectionStates = map[string]object{}
	}
	r.connectionStates[strings.ToLower(name)] = object{"status": status, "description": description, "actionsRequired": "None"}
}

// connections returns the connections of a private endpoint, automatic ones first.
func connections(body object) []any {
	p, _ := body["properties"].(object)
	automatic, _ := p[automaticProperty].([]any)
	manual, _ := p[manualProperty].([]any)
	return append(append([]any(nil), automatic...), manual...)
}

func privateEndpointDefaults(r *resource, body object) {
	guidDefaults(r, body)
	p := properties(body)
	for _, name := range []string{automaticProperty, manualProperty, "ipConfigurations", "customDnsConfigs"} {
		setDefault(p, name, []any{})
	}
	setDefault(p, "customNetworkInterfaceName", "")
}

// showConnections shows the connections in their current state, by time or by the
// owner's decision.
func showConnections(s *Simulator, r *resource, body object) {
	p := properties(body)
	for _, property := range []string{automaticProperty, manualProperty} {
		list, _ := p[property].([]any)
		for _, item := range list {
			connection, ok := item.(object)
			name, named := itemName(item)
			if !ok || !named {
				continue
			}
			connection["id"], connection["type"] = r.id+"/"+property+"/"+name, r.typ+"/"+property
			connection["etag"] = r.etag()
			cp := properties(connection)
			cp["provisioningState"] = "Succeeded"
			cp["privateLinkServiceConnectionState"] = s.connectionState(r, name, property == automaticProperty)
		}
	}
}

func (s *Simulator) connectionState(r *resource, name string, automatic bool) object {
	if decided := r.connectionStates[strings.ToLower(name)]; decided != nil {
		return cloneObject(decided)
	}
	age := s.clock.now().Sub(r.created)
	switch {
	case automatic && age >= s.options.Approval:
		return object{"status": "Approved", "description": "Auto-Approved", "actionsRequired": "None"}
	case !automatic && s.options.ManualApproval > 0 && age >= s.options.ManualApproval:
		return object{"status": "Approved", "description": "Approved", "actionsRequired": "None"}
	}
	return object{"status": "Pending", "description": "Awaiting Approval", "actionsRequired": "None"}
}

// SetApproval sets the simulated time for which automatic connections of private
// endpoints are Pending after the endpoint was created.
func (s *Simulator) SetApproval(d time.Duration) { s.locked(func() { s.options.Approval = d }) }

// onEndpointDone and onEndpointDeleted create and remove the resources that accompany
// an endpoint.
func onEndpointDone(s *Simulator, endpoint *resource) {
	createInterface(s, endpoint)
	createConnections(s, endpoint)
}

func onEndpointDeleted(s *Simulator, endpoint *resource) {
	removeInterface(s, endpoint)
	removeConnections(s, endpoint)
}

// interfaceID returns the ID of the network interface of a private endpoint.
func interfaceID(endpoint *resource) string {
	scope := scopeOf(endpoint.id)
	return scope + "/providers/Microsoft.Network/networkInterfaces/" + endpoint.name + ".nic." + endpoint.guid
}

func createInterface(s *Simulator, endpoint *resource) {
	if !s.options.PrivateEndpointInterfaces {
		return
	}
	id := interfaceID(endpoint)
	properties(endpoint.body)["networkInterfaces"] = []any{object{"id": id}}
	t, ok := parseID(id)
	if !ok || s.find(id) != nil {
		return
	}
	r := s.newResource(t)
	s.resources[key(id)] = r
	r.body = object{"location": endpoint.body["location"], "properties": object{
		"provisioningState": "Succeeded", "privateEndpoint": object{"id": endpoint.id},
		"ipConfigurations": []any{object{"name": "privateEndpointIpConfig." + endpoint.guid, "properties": object{
			"subnet": object{"id": text(endpoint.body, "properties.subnet.id")}, "privateIPAddress": "10.0.0.4",
		}}},
	}}
	s.touch(r)
}

func removeInterface(s *Simulator, endpoint *resource) { s.removeWith(interfaceID(endpoint)) }
