package armsim_test

import (
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
)

// TestPeering checks that a peering is Initiated alone, Connected with the other side,
// and Disconnected after the deletion of the other side; then it must be put before the
// other one.
func TestPeering(t *testing.T) {
	h := newHarness(t, armsim.Options{})
	h.makeGroup()
	spoke := networkRP + "virtualNetworks/spoke"
	here, back := vnet+"/virtualNetworkPeerings/out", spoke+"/virtualNetworkPeerings/back"
	body := func(remote string) string {
		return `{"properties":{"remoteVirtualNetwork":{"id":"` + remote + `"}}}`
	}
	want := func(id, state string) {
		t.Helper()
		h.wantAt(h.do("GET", id+version, ""), "properties.peeringState", state)
	}
	put := func(id, remote string, status int, code string) {
		t.Helper()
		h.want(h.do("PUT", id+version, body(remote)), status, code)
		h.pass(time.Hour)
	}
	h.want(h.do("PUT", vnet+version, located), 201, "")
	h.pass(time.Hour)
	put(here, spoke, 400, "InvalidResourceReference")
	h.want(h.do("PUT", spoke+version, located), 201, "")
	if got := h.do("PUT", here+version, body(spoke)); got.status != 429 {
		t.Errorf("a peering with a network that is Updating returns %d, want 429", got.status)
	}
	h.pass(time.Hour)
	put(here, spoke, 201, "")
	want(here, "Initiated")
	put(back, vnet, 201, "")
	want(here, "Connected")
	want(back, "Connected")

	h.want(h.do("DELETE", back+version, ""), 202, "")
	h.pass(time.Hour)
	want(here, "Disconnected")
	put(back, vnet, 400, "RemotePeeringIsDisconnected")
	put(here, spoke, 200, "")
	want(here, "Initiated")
	put(back, vnet, 201, "")
	want(here, "Connected")
	if !h.Delete(spoke) {
		t.Fatal("there is no spoke")
	}
	want(here, "Disconnected")
}
