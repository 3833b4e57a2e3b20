package armsim_test

import (
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
)

// A move takes the children along and keeps what identifies the resource; the old IDs are
// absent once the operation has ended.
func TestMoveResources(t *testing.T) {
	h := newHarness(t, armsim.Options{})
	h.makeGroup()
	const name = "/providers/Microsoft.Network/networkSecurityGroups/nsg1"
	target := root + "/resourceGroups/rg2"
	h.want(h.do("PUT", target+version, `{"location":"westus2"}`), 201, "")
	h.do("PUT", group+name+version, `{"location":"westus2"}`)
	h.clock.Advance(time.Hour)
	h.do("PUT", group+name+"/securityRules/r1"+version, `{"properties":{"priority":100}}`)
	h.clock.Advance(time.Hour)
	before := h.do("GET", group+name+version, "")
	h.want(before, 200, "")

	move := func(body string) response { return h.do("POST", group+"/moveResources"+version, body) }
	refusals := map[string]struct {
		reason, body, code string
		status             int
	}{
		"no group":    {"the target has to exist", `{"resources":["` + group + name + `"],"targetResourceGroup":"` + root + `/resourceGroups/none"}`, "ResourceGroupNotFound", 404},
		"no resource": {"what does not exist is not moved", `{"resources":["` + plain + `"],"targetResourceGroup":"` + target + `"}`, "ResourceNotFound", 404},
		"a child":     {"a child moves with its parent only", `{"resources":["` + group + name + `/securityRules/r1"],"targetResourceGroup":"` + target + `"}`, "InvalidMoveResourceId", 400},
		"nothing":     {"an empty list is a mistake", `{"resources":[],"targetResourceGroup":"` + target + `"}`, "MoveResourcesHasNoResources", 400},
	}
	for label, c := range refusals {
		if got := move(c.body); got.status != c.status || got.code() != c.code {
			t.Errorf("%s: %d %s, want %d %s: %s", label, got.status, got.code(), c.status, c.code, c.reason)
		}
	}
	accepted := move(`{"resources":["` + group + name + `"],"targetResourceGroup":"` + target + `"}`)
	if accepted.status != 202 || accepted.header.Get("Location") == "" {
		t.Fatalf("the move gives %d and Location %q", accepted.status, accepted.header.Get("Location"))
	}
	for _, locked := range []string{group, target} {
		h.want(h.do("PUT", locked+"/providers/Microsoft.Example/things/t2"+version, `{"location":"westus2"}`), 409, "Conflict")
	}
	h.want(h.do("GET", group+name+version, ""), 200, "")
	h.clock.Advance(time.Hour)
	h.want(h.do("GET", group+name+version, ""), 404, "ResourceNotFound")
	h.want(h.do("GET", target+name+"/securityRules/r1"+version, ""), 200, "")
	after := h.do("GET", target+name+version, "")
	if guid := before.at("properties.resourceGuid"); guid == nil || after.at("properties.resourceGuid") != guid || after.at("id") != target+name {
		t.Errorf("after the move: %s", after.raw)
	}
	if err := h.Move(target+name+"/securityRules/r1", group); err == nil {
		t.Error("a child was moved alone")
	}
	if err := h.Move(target+name, group); err != nil {
		t.Fatal(err)
	}
	h.want(h.do("GET", group+name+version, ""), 200, "")
}
