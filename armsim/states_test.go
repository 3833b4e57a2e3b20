package armsim_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
)

// TestStates follows a resource from its creation through a change and an action, in
// the service's own states.
func TestStates(t *testing.T) {
	scaleSet := group + "/providers/Microsoft.Compute/virtualMachineScaleSets/s"
	pool := aks + "/agentPools/p"
	type step struct {
		method, path, body string
		status             int
		at                 string
		during, after      string
	}
	tests := map[string][]step{
		"kubernetes cluster": {
			{"PUT", aks, `{"location":"westus2","properties":{"kubernetesVersion":"1.30.0"}}`, 201, "provisioningState", "Creating", "Succeeded"},
			{"PUT", aks, `{"location":"westus2","properties":{"kubernetesVersion":"1.30.0"}}`, 200, "provisioningState", "Updating", "Succeeded"},
			{"PUT", aks, `{"location":"westus2","properties":{"kubernetesVersion":"1.31.0"}}`, 200, "provisioningState", "Upgrading", "Succeeded"},
			{"POST", aks + "/stop", "", 202, "provisioningState", "Stopping", "Succeeded"},
			{"POST", aks + "/start", "", 202, "powerState.code", "Stopped", "Running"},
		},
		"kubernetes pool": {
			{"PUT", aks, located, 201, "provisioningState", "Creating", "Succeeded"},
			{"PUT", pool, `{"properties":{"count":1}}`, 201, "provisioningState", "Creating", "Succeeded"},
			{"PUT", pool, `{"properties":{"count":3}}`, 200, "provisioningState", "Scaling", "Succeeded"},
			{"PUT", pool, `{"properties":{"count":3,"orchestratorVersion":"1.32.0"}}`, 200, "provisioningState", "Upgrading", "Succeeded"},
			{"PUT", pool, `{"properties":{"count":3,"orchestratorVersion":"1.32.0","powerState":{"code":"Stopped"}}}`, 200, "provisioningState", "Stopping", "Succeeded"},
			{"PUT", pool, `{"properties":{"count":3,"orchestratorVersion":"1.32.0"}}`, 200, "powerState.code", "Stopped", "Stopped"},
		},
		"postgres": {
			{"PUT", postgres, located, 202, "state", "<nil>", "Ready"},
			{"PUT", postgres, located, 202, "state", "Updating", "Ready"},
			{"POST", postgres + "/stop", "", 202, "state", "Stopping", "Stopped"},
			{"POST", postgres + "/start", "", 202, "state", "Starting", "Ready"},
			{"POST", postgres + "/restart", "", 202, "state", "Restarting", "Ready"},
			{"DELETE", postgres, "", 202, "state", "Dropping", "<nil>"},
		},
		"scale set": {
			{"PUT", scaleSet, `{"location":"westus2","sku":{"name":"STANDARD_D1_v2","capacity":1}}`, 201, "provisioningState", "Creating", "Succeeded"},
			{"PUT", scaleSet, `{"location":"westus2","sku":{"name":"STANDARD_D1_v2","capacity":2}}`, 200, "provisioningState", "Updating", "Succeeded"},
			{"POST", scaleSet + "/deallocate", "", 202, "provisioningState", "Updating", "Succeeded"},
		},
		"disk": {
			{"PUT", group + "/providers/Microsoft.Compute/disks/d", located, 202, "provisioningState", "Updating", "Succeeded"},
		},
	}
	for name, steps := range tests {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, armsim.Options{})
			h.makeGroup()
			for _, s := range steps {
				id := s.path
				if s.method == "POST" {
					id = s.path[:len(s.path)-len(lastName(s.path))-1]
				}
				h.want(h.do(s.method, s.path+version, s.body), s.status, "")
				for _, want := range []string{s.during, s.after} {
					if got := fmt.Sprint(h.do("GET", id+version, "").at("properties." + s.at)); got != want {
						t.Errorf("%s %s: %s is %s, want %s (then %s)", s.method, s.path, s.at, got, want, s.after)
					}
					h.pass(time.Hour)
				}
			}
		})
	}
}

// TestPutOfStoppedResource checks that a stopped cluster and a stopped server refuse a
// PUT, and that a PUT of a stopped gateway starts it.
func TestPutOfStoppedResource(t *testing.T) {
	h := newHarness(t, armsim.Options{})
	h.makeGroup()
	for id, code := range map[string]string{aks: "OperationNotAllowed", postgres: "ServerStoppedError"} {
		h.do("PUT", id+version, located)
		h.pass(time.Hour)
		h.want(h.do("POST", id+"/stop"+version, ""), 202, "")
		h.pass(time.Hour)
		h.want(h.do("PUT", id+version, located), 400, code)
	}
	gateway := networkRP + "applicationGateways/gw"
	if err := h.Put(gateway, map[string]any{"location": "westus2"}); err != nil {
		t.Fatal(err)
	}
	if err := h.Patch(gateway, map[string]any{"properties": map[string]any{"operationalState": "Stopped"}}); err != nil {
		t.Fatal(err)
	}
	h.wantAt(h.do("GET", gateway+version, ""), "properties.operationalState", "Stopped")
	h.want(h.do("PUT", gateway+version, located), 200, "")
	h.pass(time.Hour)
	h.wantAt(h.do("GET", gateway+version, ""), "properties.operationalState", "Running")
}

func lastName(path string) string {
	for i := len(path) - 1; i >= 0; i-- {
		if path[i] == '/' {
			return path[i+1:]
		}
	}
	return path
}

func TestOperationStatusTexts(t *testing.T) {
	h := newHarness(t, armsim.Options{})
	h.makeGroup()
	h.want(h.do("PUT", aks+version, located), 201, "")
	h.pass(time.Hour)
	h.want(h.do("PUT", aks+"/agentPools/p"+version, `{"properties":{"count":1}}`), 201, "")
	h.pass(time.Hour)
	put := h.do("PUT", aks+"/agentPools/p"+version, `{"properties":{"count":4}}`)
	h.wantAt(h.do("GET", put.header.Get("Azure-AsyncOperation"), ""), "status", "ScalingAgentPool: 1/4 nodes completed")
	server := h.do("PUT", postgres+version, located)
	h.wantAt(server, "operation", "UpsertServerManagementOperationV2")
}

func TestServerDefaults(t *testing.T) {
	tests := map[string]struct{ id, body, at, want string }{
		"vnet's peerings":  {vnet, located, "properties.virtualNetworkPeerings", "[]"},
		"cluster's name":   {aks, located, "properties.nodeResourceGroup", "MC_rg1_aks1_westus2"},
		"cluster's plugin": {aks, `{"location":"westus2","properties":{"networkProfile":{"networkPlugin":"azure"}}}`, "properties.networkProfile.networkPlugin", "azure"},
		"server's host":    {postgres, located, "properties.fullyQualifiedDomainName", "pg1.postgres.database.azure.com"},
		"server's region":  {postgres, located, "location", "West US 2"},
		"server's backup":  {postgres, `{"location":"westus2","properties":{"backup":{"backupRetentionDays":9}}}`, "properties.backup.geoRedundantBackup", "Disabled"},
		"server's scale":   {group + "/providers/Microsoft.Compute/virtualMachineScaleSets/s", `{"location":"westus2","sku":{"name":"a"}}`, "sku.tier", "Standard"},
		"identity's id":    {mi, located, "properties.tenantId", "00000000-0000-0000-0000-000000000000"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, armsim.Options{})
			h.makeGroup()
			if got := h.do("PUT", test.id+version, test.body); got.status > 202 {
				t.Fatal(got.raw)
			}
			h.pass(time.Hour)
			h.wantAt(h.do("GET", test.id+version, ""), test.at, test.want)
		})
	}
}

// TestPrivateEndpointInterface checks that the interface is created and deleted with
// the endpoint, and listed in the group.
func TestPrivateEndpointInterface(t *testing.T) {
	h := newHarness(t, armsim.Options{PrivateEndpointInterfaces: true})
	h.makeGroup()
	endpoint, subnet := networkRP+"privateEndpoints/p", vnet+"/subnets/a"
	if err := h.Put(subnet, map[string]any{}); err != nil {
		t.Fatal(err)
	}
	h.want(h.do("PUT", endpoint+version, `{"location":"westus2","properties":{"subnet":{"id":"`+subnet+`"}}}`), 201, "")
	h.pass(time.Hour)
	list, _ := h.do("GET", endpoint+version, "").at("properties.networkInterfaces").([]any)
	if len(list) != 1 {
		t.Fatalf("the endpoint has %d interfaces, want 1", len(list))
	}
	nic := list[0].(map[string]any)["id"].(string)
	h.want(h.do("GET", nic+version, ""), 200, "")
	if items := h.do("GET", group+"/resources"+version, "").at("value").([]any); len(items) != 3 {
		t.Errorf("the group lists %d resources, want network, endpoint and interface", len(items))
	}
	h.want(h.do("DELETE", nic+version, ""), 400, "NicInUseWithPrivateEndpoint")
	h.want(h.do("DELETE", endpoint+version, ""), 202, "")
	h.pass(time.Hour)
	h.want(h.do("GET", nic+version, ""), 404, "ResourceNotFound")
	h.want(h.do("DELETE", subnet+version, ""), 202, "")
}

func TestPrivateEndpoint(t *testing.T) {
	h := newHarness(t, armsim.Options{})
	h.makeGroup()
	automatic, manual := networkRP+"privateEndpoints/a", networkRP+"privateEndpoints/m"
	body := func(property string) string {
		return `{"location":"westus2","properties":{"` + property + `":[{"name":"c1","properties":{"privateLinkServiceId":"` + plain + `","groupIds":["g"]}}]}}`
	}
	state := func(id, property string) string {
		t.Helper()
		list, _ := h.do("GET", id+version, "").at("properties." + property).([]any)
		if len(list) != 1 {
			t.Fatalf("%s has %d %s, want 1", id, len(list), property)
		}
		properties := list[0].(map[string]any)["properties"].(map[string]any)
		return properties["privateLinkServiceConnectionState"].(map[string]any)["status"].(string)
	}
	want := func(id, property, status string) {
		t.Helper()
		if got := state(id, property); got != status {
			t.Errorf("the connection of %s is %s, want %s", id, got, status)
		}
	}
	const auto, man = "privateLinkServiceConnections", "manualPrivateLinkServiceConnections"
	h.want(h.do("PUT", automatic+version, body(auto)), 201, "")
	h.want(h.do("PUT", manual+version, body(man)), 201, "")
	want(automatic, auto, "Pending")
	h.pass(time.Hour)
	h.wantAt(h.do("GET", automatic+version, ""), "properties.provisioningState", "Succeeded")
	want(automatic, auto, "Approved")
	want(manual, man, "Pending")
	control := h.do("POST", "/_sim/connections", `{"id":"`+manual+`","status":"Approved"}`)
	h.want(control, 200, "")
	want(manual, man, "Approved")
	h.want(h.do("PUT", manual+version, body(man)), 200, "")
	h.pass(time.Hour)
	want(manual, man, "Approved")
	h.want(h.do("POST", "/_sim/connections", `{"id":"`+manual+`","connection":"c1","status":"Rejected","description":"no"}`), 200, "")
	want(manual, man, "Rejected")
	for name, bad := range map[string]armsim.Approval{
		"status": {ID: manual, Status: "Perhaps"}, "endpoint": {ID: plain, Status: "Approved"}, "connection": {ID: manual, Connection: "c2", Status: "Approved"},
	} {
		if h.Approve(bad) == nil {
			t.Errorf("an unknown %s is accepted", name)
		}
	}
	h.want(h.do("PUT", "/_sim/options", `{"approvalSeconds":7200}`), 200, "")
	h.want(h.do("PUT", automatic+"2"+version, body(auto)), 201, "")
	h.pass(time.Hour)
	want(automatic+"2", auto, "Pending")
	h.pass(time.Hour)
	want(automatic+"2", auto, "Approved")
}

// TestEndpointConnection checks that the resource to which a private endpoint connects
// shows the connection, and that its owner decides there, as ARM's clients do.
func TestEndpointConnection(t *testing.T) {
	h := newHarness(t, armsim.Options{})
	h.makeGroup()
	endpoint, list := networkRP+"privateEndpoints/m", plain+"/privateEndpointConnections"
	h.want(h.do("PUT", plain+version, located), 201, "")
	h.pass(time.Hour)
	h.want(h.do("PUT", endpoint+version, `{"location":"westus2","properties":{"manualPrivateLinkServiceConnections":[{"name":"c1","properties":{"privateLinkServiceId":"`+plain+`"}}]}}`), 201, "")
	h.pass(time.Hour)
	listed, _ := h.do("GET", list+version, "").at("value").([]any)
	if len(listed) != 1 {
		t.Fatalf("the target has %d connections, want 1", len(listed))
	}
	connection := listed[0].(map[string]any)["id"].(string)
	decide := func(status string) string {
		return `{"properties":{"privateEndpoint":{"id":"` + plain + `"},"privateLinkServiceConnectionState":{"status":"` + status + `","description":"by ada"}}}`
	}
	want := func(status string) {
		t.Helper()
		h.wantAt(h.do("GET", connection+version, ""), "properties.privateLinkServiceConnectionState.status", status)
		h.wantAt(h.do("GET", connection+version, ""), "properties.privateEndpoint.id", endpoint)
		shown, _ := h.do("GET", endpoint+version, "").at("properties.manualPrivateLinkServiceConnections").([]any)
		state := shown[0].(map[string]any)["properties"].(map[string]any)["privateLinkServiceConnectionState"].(map[string]any)
		if state["status"] != status {
			t.Errorf("the endpoint has %v, want %s", state, status)
		}
	}
	want("Pending")
	h.want(h.do("PUT", endpoint+version, `{"location":"westus2","properties":{"manualPrivateLinkServiceConnections":[{"name":"c1","properties":{"privateLinkServiceId":"`+plain+`"}}]}}`), 200, "")
	h.pass(time.Hour)
	if listed, _ := h.do("GET", list+version, "").at("value").([]any); len(listed) != 1 {
		t.Errorf("after another PUT the target has %d connections, want 1", len(listed))
	}
	h.want(h.do("PUT", connection+version, decide("Perhaps")), 400, "BadRequest")
	h.want(h.do("PUT", list+"/other"+version, decide("Approved")), 404, "ResourceNotFound")
	h.want(h.do("PUT", connection+version, decide("Approved")), 200, "")
	want("Approved")
	h.want(h.do("PUT", connection+version, decide("Rejected")), 200, "")
	want("Rejected")
	h.want(h.do("DELETE", connection+version, ""), 200, "")
	h.want(h.do("GET", connection+version, ""), 404, "ResourceNotFound")
	shown, _ := h.do("GET", endpoint+version, "").at("properties.manualPrivateLinkServiceConnections").([]any)
	if !strings.Contains(fmt.Sprint(shown), "Disconnected") {
		t.Errorf("after its deletion by the owner the endpoint has %v", shown)
	}

	h.want(h.do("PUT", endpoint+"2"+version, `{"location":"westus2","properties":{"privateLinkServiceConnections":[{"name":"c1","properties":{"privateLinkServiceId":"`+plain+`"}}]}}`), 201, "")
	h.pass(time.Hour)
	h.want(h.do("DELETE", endpoint+"2"+version, ""), 202, "")
	h.pass(time.Hour)
	if listed, _ := h.do("GET", list+version, "").at("value").([]any); len(listed) != 0 {
		t.Errorf("the target still has %v", listed)
	}
}
