package armsim_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
)

func TestDeleteOfUsedResource(t *testing.T) {
	subnet, address, rp := vnet+"/subnets/a", networkRP+"publicIPAddresses/ip", group+"/providers/"
	nic := fmt.Sprintf(`{"location":"westus2","properties":{"ipConfigurations":[{"name":"c1","properties":{"subnet":{"id":%q},"publicIPAddress":{"id":%q}}}]}}`, strings.ToUpper(subnet), address)
	tests := map[string]struct {
		used, user, body string
		remove           string // target of the DELETE, when it is not used itself
		status           int
		code, message    string
	}{
		"subnet by NIC":            {used: subnet, user: networkRP + "networkInterfaces/n", body: nic, status: 400, code: "InUseSubnetCannotBeDeleted", message: "/networkInterfaces/n/ipConfigurations/c1 and cannot"},
		"vnet of that subnet":      {used: subnet, user: networkRP + "networkInterfaces/n", body: nic, remove: vnet, status: 400, code: "InUseSubnetCannotBeDeleted", message: "Subnet a is in use"},
		"subnet by endpoint":       {used: subnet, user: networkRP + "privateEndpoints/p", body: fmt.Sprintf(`{"location":"westus2","properties":{"subnet":{"id":%q}}}`, subnet), status: 400, code: "InUseSubnetCannotBeDeleted", message: "/privateEndpoints/p"},
		"subnet by pool":           {used: subnet, user: aks + "/agentPools/p", body: fmt.Sprintf(`{"properties":{"vnetSubnetID":%q}}`, subnet), status: 400, code: "InUseSubnetCannotBeDeleted", message: "/agentPools/p"},
		"subnet by inline pool":    {used: subnet, user: aks, body: fmt.Sprintf(`{"location":"westus2","properties":{"agentPoolProfiles":[{"name":"p","vnetSubnetID":%q}]}}`, subnet), status: 400, code: "InUseSubnetCannotBeDeleted", message: "/agentPools/p"},
		"subnet by scale set":      {used: subnet, user: rp + "Microsoft.Compute/virtualMachineScaleSets/s", body: fmt.Sprintf(`{"location":"westus2","properties":{"virtualMachineProfile":{"networkProfile":{"networkInterfaceConfigurations":[{"name":"n","properties":{"ipConfigurations":[{"name":"i","properties":{"subnet":{"id":%q}}}]}}]}}}}`, subnet), status: 400, code: "InUseSubnetCannotBeDeleted", message: "/networkInterfaceConfigurations/n/ipConfigurations/i"},
		"public IP by NIC":         {used: address, user: networkRP + "networkInterfaces/n", body: nic, status: 400, code: "PublicIPAddressCannotBeDeleted", message: "/ipConfigurations/c1"},
		"public IP by balancer":    {used: address, user: networkRP + "loadBalancers/l", body: fmt.Sprintf(`{"location":"westus2","properties":{"frontendIPConfigurations":[{"name":"f","properties":{"publicIPAddress":{"id":%q}}}]}}`, address), status: 400, code: "PublicIPAddressCannotBeDeleted", message: "/frontendIPConfigurations/f"},
		"public IP by NAT gateway": {used: address, user: networkRP + "natGateways/g", body: fmt.Sprintf(`{"location":"westus2","properties":{"publicIpAddresses":[{"id":%q}]}}`, address), status: 400, code: "PublicIPAddressCannotBeDeleted", message: "/natGateways/g"},
		"security group by subnet": {used: networkRP + "networkSecurityGroups/n", user: subnet, body: fmt.Sprintf(`{"properties":{"networkSecurityGroup":{"id":%q}}}`, networkRP+"networkSecurityGroups/n"), status: 400, code: "InUseNetworkSecurityGroupCannotBeDeleted", message: subnet},
		"route table by subnet":    {used: networkRP + "routeTables/r", user: subnet, body: fmt.Sprintf(`{"properties":{"routeTable":{"id":%q}}}`, networkRP+"routeTables/r"), status: 400, code: "InUseRouteTableCannotBeDeleted", message: subnet},
		"NIC by machine":           {used: networkRP + "networkInterfaces/n", user: rp + "Microsoft.Compute/virtualMachines/m", body: fmt.Sprintf(`{"location":"westus2","properties":{"networkProfile":{"networkInterfaces":[{"id":%q}]}}}`, networkRP+"networkInterfaces/n"), status: 400, code: "NicInUse", message: "/virtualMachines/m"},
		"balancer by scale set":    {used: networkRP + "loadBalancers/l", user: rp + "Microsoft.Compute/virtualMachineScaleSets/s", body: fmt.Sprintf(`{"location":"westus2","properties":{"virtualMachineProfile":{"networkProfile":{"networkInterfaceConfigurations":[{"name":"n","properties":{"ipConfigurations":[{"name":"i","properties":{"loadBalancerBackendAddressPools":[{"id":%q}]}}]}}]}}}}`, networkRP+"loadBalancers/l/backendAddressPools/b"), status: 400, code: "LoadBalancerInUseByVirtualMachineScaleSet", message: "/virtualMachineScaleSets/s"},
		"disk by machine":          {used: rp + "Microsoft.Compute/disks/d", user: rp + "Microsoft.Compute/virtualMachines/m", body: fmt.Sprintf(`{"location":"westus2","properties":{"storageProfile":{"osDisk":{"managedDisk":{"id":%q}}}}}`, rp+"Microsoft.Compute/disks/d"), status: 409, code: "OperationNotAllowed", message: "/virtualMachines/m"},
		"plan by site":             {used: rp + "Microsoft.Web/serverfarms/f", user: rp + "Microsoft.Web/sites/s", body: fmt.Sprintf(`{"location":"westus2","properties":{"serverFarmId":%q}}`, rp+"Microsoft.Web/serverfarms/f"), status: 409, code: "Conflict", message: "web app(s) s"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, armsim.Options{})
			for _, id := range []string{test.used, test.user, subnet, address} {
				if err := h.Put(id, map[string]any{"location": "westus2"}); err != nil {
					t.Fatal(err)
				}
			}
			if got := h.do("PUT", test.user+version, test.body); got.status > 202 {
				t.Fatalf("put the user: %s", got.raw)
			}
			h.pass(time.Hour)
			remove := test.used
			if test.remove != "" {
				remove = test.remove
			}
			got := h.do("DELETE", remove+version, "")
			h.want(got, test.status, test.code)
			if !strings.Contains(got.raw, test.message) {
				t.Errorf("the refusal does not name the user (%s): %s", test.message, got.raw)
			}
			h.want(h.do("GET", test.used+version, ""), 200, "")
			h.Delete(test.user)
			if test.user == subnet || strings.HasPrefix(test.user, test.used) {
				return // the subnet was deleted with its parent's row
			}
			if got := h.do("DELETE", remove+version, ""); got.status >= 400 { // 204: the plan went with its last site
				t.Errorf("still refused after the deletion of its user: %s", got.raw)
			}
		})
	}
}

// TestInlineDelete checks that a parent's list deletes the children that it omits, but
// not those in use, and that an absent list deletes them only before the api-version
// that keeps subnets.
func TestInlineDelete(t *testing.T) {
	h := newHarness(t, armsim.Options{})
	h.makeGroup()
	two := `{"location":"westus2","properties":{"subnets":[{"name":"a","properties":{}},{"name":"b","properties":{}}]}}`
	one := `{"location":"westus2","properties":{"subnets":[{"name":"a","properties":{}}]}}`
	put := func(version, body string) response {
		t.Helper()
		got := h.do("PUT", vnet+version, body)
		h.pass(time.Minute)
		return got
	}
	h.want(put(version, two), 201, "")
	h.pass(time.Minute)
	h.want(h.do("PUT", networkRP+"privateEndpoints/p"+version, fmt.Sprintf(`{"location":"westus2","properties":{"subnet":{"id":%q}}}`, vnet+"/subnets/b")), 201, "")
	h.want(put(version, one), 400, "InUseSubnetCannotBeDeleted")
	h.want(h.do("GET", vnet+"/subnets/b"+version, ""), 200, "")
	h.Delete(networkRP + "privateEndpoints/p")
	h.want(put(version, one), 200, "")
	h.want(h.do("GET", vnet+"/subnets/b"+version, ""), 404, "ResourceNotFound")
	h.want(put(version, located), 200, "")
	h.want(h.do("GET", vnet+"/subnets/a"+version, ""), 200, "")
	h.want(put("?api-version=2020-11-01", located), 200, "")
	h.want(h.do("GET", vnet+"/subnets/a"+version, ""), 404, "ResourceNotFound")
}

func TestLastPoolIsKept(t *testing.T) {
	h := newHarness(t, armsim.Options{})
	h.makeGroup()
	h.want(h.do("PUT", aks+version, `{"location":"westus2","properties":{"agentPoolProfiles":[{"name":"sys"}]}}`), 201, "")
	h.wantAt(h.do("GET", aks+"/agentPools/sys"+version, ""), "properties.provisioningState", "Updating")
	h.pass(time.Hour)
	h.wantAt(h.do("GET", aks+"/agentPools/sys"+version, ""), "properties.mode", "System")
	h.want(h.do("PUT", aks+"/agentPools/user"+version, `{"properties":{"count":2}}`), 201, "")
	h.pass(time.Hour)
	h.want(h.do("DELETE", aks+"/agentPools/sys"+version, ""), 400, "OperationNotAllowed")
	h.want(h.do("PUT", aks+version, `{"location":"westus2","tags":{"a":"b"}}`), 200, "")
	h.pass(time.Hour)
	profiles := h.do("GET", aks+version, "").at("properties.agentPoolProfiles").([]any)
	if len(profiles) != 2 || profiles[1].(map[string]any)["name"] != "user" || fmt.Sprint(profiles[1].(map[string]any)["count"]) != "2" {
		t.Errorf("the cluster has %v, want both pools", profiles)
	}
	h.want(h.do("DELETE", aks+"/agentPools/user"+version, ""), 202, "")
	h.pass(time.Hour)
	h.want(h.do("DELETE", aks+version, ""), 202, "")
	h.pass(time.Hour)
	h.want(h.do("GET", aks+"/agentPools/sys"+version, ""), 404, "ParentResourceNotFound")
}

func TestTypesWithoutDelete(t *testing.T) {
	h := newHarness(t, armsim.Options{})
	h.makeGroup()
	account := group + "/providers/Microsoft.Storage/storageAccounts/acc"
	for _, id := range []string{account + "/blobServices/default", postgres + "/configurations/c"} {
		if err := h.Put(id, map[string]any{}); err != nil {
			t.Fatal(err)
		}
		h.want(h.do("DELETE", id+version, ""), 405, "MethodNotAllowed")
		h.want(h.do("GET", id+version, ""), 200, "")
	}
}

// TestGroupDeletion checks that the resources of a group are deleted one by one, users
// before what they use, and that use from outside the group blocks it.
func TestGroupDeletion(t *testing.T) {
	h := newHarness(t, armsim.Options{})
	h.makeGroup()
	subnet, endpoint, rules := vnet+"/subnets/a", networkRP+"privateEndpoints/p", networkRP+"networkSecurityGroups/n"
	for id, body := range map[string]map[string]any{
		rules:  {"location": "westus2"},
		subnet: {"properties": map[string]any{"networkSecurityGroup": map[string]any{"id": rules}}}, aks + "/agentPools/p": {"properties": map[string]any{"vnetSubnetID": subnet}},
		endpoint: {"location": "westus2", "properties": map[string]any{"subnet": map[string]any{"id": subnet}}},
	} {
		if err := h.Put(id, body); err != nil {
			t.Fatal(err)
		}
	}
	gone := h.do("DELETE", group+version, "")
	h.want(gone, 202, "")
	piecemeal := false
	exists := func(id string) bool { return len(h.Resources(id, "")) > 0 }
	for range 40 {
		h.pass(time.Second / 2)
		for _, user := range []string{endpoint, aks + "/agentPools/p"} {
			if exists(user) && !exists(subnet) {
				t.Errorf("the subnet was deleted before %s", user)
			}
		}
		if exists(subnet) && !exists(rules) {
			t.Error("the security group was deleted before the subnet that uses it")
		}
		piecemeal = piecemeal || !exists(endpoint) && exists(vnet)
	}
	if !piecemeal {
		t.Error("all resources were deleted at once, want one after the other")
	}
	h.want(h.do("GET", gone.header.Get("Location"), ""), 200, "")
	h.want(h.do("GET", group+version, ""), 404, "ResourceGroupNotFound")
	if left := h.Resources("", ""); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

func TestGroupDeletionBlocked(t *testing.T) {
	h := newHarness(t, armsim.Options{})
	h.makeGroup()
	outside := root + "/resourceGroups/rg2/providers/Microsoft.Network/privateEndpoints/p"
	rules := networkRP + "networkSecurityGroups/n"
	// Nothing outside uses these three; each of them uses the next one.
	machine, nic, other := group+"/providers/Microsoft.Compute/virtualMachines/m", networkRP+"networkInterfaces/n", vnet+"2/subnets/b"
	for id, body := range map[string]map[string]any{
		rules: {"location": "westus2"}, vnet + "/subnets/a": {"properties": map[string]any{"networkSecurityGroup": map[string]any{"id": rules}}}, plain: {"location": "westus2"},
		outside: {"location": "westus2", "properties": map[string]any{"subnet": map[string]any{"id": vnet + "/subnets/a"}}},
		machine: {"location": "westus2", "properties": map[string]any{"networkProfile": map[string]any{"networkInterfaces": []any{map[string]any{"id": nic}}}}},
		other:   {}, nic: {"location": "westus2", "properties": map[string]any{"ipConfigurations": []any{
			map[string]any{"properties": map[string]any{"subnet": map[string]any{"id": other}}}}}},
	} {
		if err := h.Put(id, body); err != nil {
			t.Fatal(err)
		}
	}
	gone := h.do("DELETE", group+version, "")
	h.pass(time.Hour)
	end := h.do("GET", gone.header.Get("Location"), "")
	h.want(end, 409, "ResourceGroupDeletionBlocked")
	if !strings.Contains(end.raw, "/subnets/a") || !strings.Contains(end.raw, "rg2") {
		t.Errorf("the error does not name the blocking resource: %s", end.raw)
	}
	h.wantAt(h.do("GET", group+version, ""), "properties.provisioningState", "Succeeded")
	for _, kept := range []string{vnet + "/subnets/a", rules} { // the remaining subnet uses its rules
		h.want(h.do("GET", kept+version, ""), 200, "")
	}
	for _, gone := range []string{plain, machine, nic, vnet + "2"} {
		h.want(h.do("GET", gone+version, ""), 404, "ResourceNotFound")
	}
	h.Delete(outside)
	h.want(h.do("DELETE", group+version, ""), 202, "")
	h.pass(time.Hour)
	h.want(h.do("GET", group+version, ""), 404, "ResourceGroupNotFound")
}
