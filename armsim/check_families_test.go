package armsim_test

import (
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
)

const (
	aks       = group + "/providers/Microsoft.ContainerService/managedClusters/aks1"
	postgres  = group + "/providers/Microsoft.DBforPostgreSQL/flexibleServers/pg1"
	mi        = group + "/providers/Microsoft.ManagedIdentity/userAssignedIdentities/mi1"
	located   = `{"location":"westus2"}`
	networkRP = group + "/providers/Microsoft.Network/"
)

// TestSiblings checks that a change is refused, with the provider's code, while another
// member of the family changes, and accepted afterwards.
func TestSiblings(t *testing.T) {
	tests := map[string]struct {
		root, first, then string
		method            string
		status            int
		code              string
		reason            string
	}{
		"subnet beside subnet":  {vnet, vnet + "/subnets/a", vnet + "/subnets/b", "PUT", 409, "AnotherOperationInProgress", "recorded for subnets"},
		"vnet beside subnet":    {vnet, vnet + "/subnets/a", vnet, "PUT", 409, "AnotherOperationInProgress", "the parent's list contains its subnets"},
		"peering beside subnet": {vnet, vnet + "/subnets/a", vnet + "/virtualNetworkPeerings/p", "PUT", 409, "AnotherOperationInProgress", "peerings change the same network"},
		"delete beside subnet":  {vnet, vnet + "/subnets/a", vnet, "DELETE", 409, "AnotherOperationInProgress", "a delete is a change too"},
		"rule beside rule":      {networkRP + "networkSecurityGroups/n", networkRP + "networkSecurityGroups/n/securityRules/a", networkRP + "networkSecurityGroups/n/securityRules/b", "PUT", 409, "AnotherOperationInProgress", "rules are their group's list"},
		"route beside route":    {networkRP + "routeTables/r", networkRP + "routeTables/r/routes/a", networkRP + "routeTables/r/routes/b", "PUT", 429, "RetryableError", "recorded for routes"},
		"pool beside pool":      {aks, aks + "/agentPools/a", aks + "/agentPools/b", "PUT", 409, "OperationNotAllowed", "a cluster runs one operation at a time"},
		"cluster beside pool":   {aks, aks + "/agentPools/a", aks, "PUT", 409, "OperationNotAllowed", "a cluster runs one operation at a time"},
		"stop beside pool":      {aks, aks + "/agentPools/a", aks + "/stop", "POST", 409, "OperationNotAllowed", "stopping is an operation too"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, armsim.Options{})
			h.makeGroup()
			h.want(h.do("PUT", test.root+version, located), 201, "")
			h.pass(time.Hour)
			h.want(h.do("PUT", test.first+version, `{}`), 201, "")
			got := h.do(test.method, test.then+version, located)
			h.want(got, test.status, test.code)
			if test.status == 429 {
				detail := got.at("error.details").([]any)[0].(map[string]any)
				if detail["code"] != "RetryableErrorDueToAnotherOperation" || got.header.Get("Retry-After") != "11" {
					t.Errorf("want the detail's code and Retry-After as recorded: %s %v", got.raw, got.header)
				}
			}
			h.want(h.do("GET", test.root+version, ""), 200, "")
			root := strings.ToLower(test.root[strings.LastIndex(test.root, "Microsoft."):])
			if n := h.Counters().SiblingRefusals[root[:strings.LastIndexByte(root, '/')]]; n != 1 {
				t.Errorf("%d refusals are counted, want 1: %v", n, h.Counters().SiblingRefusals)
			}
			h.pass(time.Hour)
			if again := h.do(test.method, test.then+version, located); again.status > 202 {
				t.Errorf("still refused although nothing is in flight and %s: %s", test.reason, again.raw)
			}
		})
	}
}

func TestUnrelatedChangesAreConcurrent(t *testing.T) {
	h := newHarness(t, armsim.Options{})
	h.makeGroup()
	zone := networkRP + "privateDnsZones/z.com"
	h.want(h.do("PUT", zone+version, `{"location":"global"}`), 202, "")
	h.pass(time.Hour)
	for _, id := range []string{zone + "/virtualNetworkLinks/a", zone + "/virtualNetworkLinks/b"} {
		h.want(h.do("PUT", id+version, `{"location":"global"}`), 202, "")
	}
	h.want(h.do("PUT", vnet+version, located), 201, "")
	h.want(h.do("PUT", vnet+"2"+version, located), 201, "")
	if got := h.Counters().SiblingRefusals; len(got) != 0 {
		t.Errorf("siblings include resources of different parents: %v", got)
	}
	h.pass(time.Hour)
	h.want(h.do("DELETE", zone+version, ""), 409, "CannotDeleteResource")
}

// TestBusyServerFailsOperation checks that PostgreSQL accepts the write and its operation fails.
func TestBusyServerFailsOperation(t *testing.T) {
	h := newHarness(t, armsim.Options{})
	h.makeGroup()
	h.want(h.do("PUT", postgres+version, located), 202, "")
	h.want(h.do("GET", postgres+version, ""), 404, "ResourceNotFound")
	h.want(h.do("PUT", postgres+"/databases/early"+version, `{}`), 404, "ParentResourceNotFound")
	h.pass(time.Hour)
	h.want(h.do("PUT", postgres+"/databases/a"+version, `{}`), 202, "")
	late := h.do("PUT", postgres+"/firewallRules/b"+version, `{}`)
	h.want(late, 202, "")
	server := h.do("PUT", postgres+version, located)
	h.want(server, 202, "")
	h.wantAt(h.do("GET", postgres+version, ""), "properties.state", "Ready")
	h.pass(time.Minute)
	for code, answer := range map[string]response{"ServerIsBusy": late, "ProvisioningServerBusy": server} {
		status := h.do("GET", answer.header.Get("Azure-AsyncOperation"), "")
		h.wantAt(status, "status", "Failed")
		h.wantAt(status, "error.code", code)
	}
	h.want(h.do("GET", postgres+"/databases/a"+version, ""), 200, "")
	h.want(h.do("GET", postgres+"/firewallRules/b"+version, ""), 404, "ResourceNotFound")
	if state := h.Resources(postgres, "")[0].State; state != "Succeeded" {
		t.Errorf("the refused update left the server %s", state)
	}
	h.want(h.do("PUT", postgres+"/firewallRules/b"+version, `{}`), 202, "")
	h.want(h.do("GET", postgres+"/firewallRules/b"+version, ""), 404, "ResourceNotFound")
	h.pass(time.Hour)
	h.want(h.do("GET", postgres+"/firewallRules/b"+version, ""), 200, "")
	if n := h.Counters().SiblingRefusals["microsoft.dbforpostgresql/flexibleservers"]; n != 2 {
		t.Errorf("%d refusals are counted, want 2", n)
	}
}

// TestConcurrentCredentials checks that synchronous writes conflict while their
// requests overlap, and only then.
func TestConcurrentCredentials(t *testing.T) {
	h := newHarness(t, armsim.Options{TimeScale: 1e6})
	h.makeGroup()
	h.want(h.do("PUT", mi+version, located), 201, "")
	credential := mi + "/federatedIdentityCredentials/"
	gate := h.AddFault(armsim.Fault{Method: "PUT", Path: credential + "a", Applied: true, Gate: true})
	answered := make(chan response)
	go func() { answered <- h.do("PUT", credential+"a"+version, `{}`) }()
	await(t, "the first write is held", func() bool { return h.Faults()[0].Waiting == 1 })
	h.want(h.do("PUT", credential+"b"+version, `{}`), 409, "ConcurrentFederatedIdentityCredentialsWritesForSingleManagedIdentity")
	h.want(h.do("PUT", mi+version, `{"location":"westus2","tags":{"a":"b"}}`), 200, "")
	h.RemoveFault(gate)
	h.want(<-answered, 201, "")
	for _, name := range []string{"b", "c"} {
		h.want(h.do("PUT", credential+name+version, `{}`), 201, "")
	}
	if n := h.Counters().SiblingRefusals["microsoft.managedidentity/userassignedidentities"]; n != 1 {
		t.Errorf("%d refusals are counted, want 1", n)
	}
}

// TestOnlySynchronousWritesTakeTime checks that a write with an operation returns at
// once; otherwise this test would last for days.
func TestOnlySynchronousWritesTakeTime(t *testing.T) {
	h := newHarness(t, armsim.Options{TimeScale: 1e-6})
	h.makeGroup()
	h.want(h.do("PUT", group+"/providers/Microsoft.DocumentDB/databaseAccounts/a"+version, located), 200, "")
}

// await polls a condition for at most ten seconds.
func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	end := time.After(10 * time.Second)
	for !holds() {
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("%s: not within ten seconds", what)
		}
	}
}
