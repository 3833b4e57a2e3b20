package armsim

import (
	"net/http"
	"strings"
)

const (
	peeringType = "microsoft.network/virtualnetworks/virtualnetworkpeerings"
	// The states of a peering: only this side exists, both sides exist, and the other
	// side was deleted.
	peeringInitiated, peeringConnected, peeringDisconnected = "Initiated", "Connected", "Disconnected"
)

// remoteNetwork returns the ID of the remote network of a peering.
func remoteNetwork(peering object) string { return text(peering, "properties.remoteVirtualNetwork.id") }

// counterpart returns the peering in the opposite direction, nil if there is none.
func (s *Simulator) counterpart(r *resource) *resource {
	remote := remoteNetwork(r.body)
	if remote == "" {
		return nil
	}
	for _, other := range s.children(remote, "virtualNetworkPeerings") {
		if within(r.id, remoteNetwork(other.body)) {
			return other
		}
	}
	return nil
}

func peeringDefaults(r *resource, body object) {
	p := properties(body)
	setDefaults(p, object{
		"allowVirtualNetworkAccess": true, "allowForwardedTraffic": false, "allowGatewayTransit": false, "useRemoteGateways": false,
	})
	keepProperty(r, body, "peeringState", peeringInitiated)
}

// checkPeering refuses a peering with a network that is absent or changing, and one
// that was disconnected on the other side, which must be put first (400
// RemotePeeringIsDisconnected).
func checkPeering(s *Simulator, t target, body object) *response {
	remote := remoteNetwork(body)
	if remote == "" || s.recordings[key(t.id)] != nil {
		return nil // the recording shows that Azure accepted it
	}
	if resp := s.checkReference(t, remote); resp != nil {
		return resp
	}
	for _, other := range s.children(remote, "virtualNetworkPeerings") {
		if within(t.id, remoteNetwork(other.body)) && text(other.body, "properties.peeringState") == peeringDisconnected {
			return armError(http.StatusBadRequest, "RemotePeeringIsDisconnected",
				"Cannot create or update peering %s because remote peering %s referencing parent virtual network %s is in Disconnected state. Update or re-create the remote peering to get it back to Initiated state. Peering gets Disconnected when remote vnet or remote peering is deleted and re-created.",
				t.id, other.id, t.parentID())
		}
	}
	return nil
}

// connectPeering runs at the end of a peering's write. If both sides exist, both become
// Connected.
func connectPeering(s *Simulator, r *resource) {
	state, other := peeringInitiated, s.counterpart(r)
	if other != nil && terminal(other.state()) {
		state = peeringConnected
		properties(other.body)["peeringState"] = state
		other.version++
		s.touch(other)
	}
	properties(r.body)["peeringState"] = state
}

// disconnectPeering runs after a peering was deleted.
func disconnectPeering(s *Simulator, r *resource) {
	if other := s.counterpart(r); other != nil {
		properties(other.body)["peeringState"] = peeringDisconnected
		other.version++
		s.touch(other)
	}
}

// disconnectNetwork runs after a network was deleted with its own peerings.
func disconnectNetwork(s *Simulator, network *resource) {
	for _, r := range s.below("") {
		if strings.EqualFold(r.typ, peeringType) && key(remoteNetwork(r.body)) == key(network.id) {
			properties(r.body)["peeringState"] = peeringDisconnected
			r.version++
			s.touch(r)
		}
	}
}
