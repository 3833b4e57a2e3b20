package activities

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/resource"
)

// passRunner runs the steps of passes of one resource, with the memory between them.
type passRunner struct {
	*world
	spec   resource.Desired
	memory json.RawMessage
	puts   int
	// accepted is the PUT that no post-check has compared yet.
	accepted *AcceptedPut
	// results are the results of the PUTs.
	results []PutResourceResult
	// refusal is what the operation of the last PUT refused.
	refusal *OperationRefusal
	// approved is set when a user requested the passes.
	approved bool
}

// pass runs one pass and returns the verdict that ended it.
func (p *passRunner) pass() resource.Verdict {
	p.t.Helper()
	got := p.read()
	if got.Verdict.Stops() {
		return got.Verdict
	}
	in := PreCheckInput{Desired: p.spec, PassFacts: p.facts(), Observed: got.Observed, Memory: p.memory, Applied: p.puts > 0, Existed: p.puts > 0, ExistenceOnly: got.ExistenceOnly}
	if p.accepted != nil {
		in.AcceptedAt = p.accepted.At
	}
	pre := local(p.world, p.acts.PreCheck, in)
	if pre.Verdict.Stops() {
		return pre.Verdict
	}
	post := PostCheckInput{Desired: p.spec, PassFacts: p.facts(), Memory: p.memory, Observed: got.Observed, Put: pre.Adopt, Adopted: pre.Adopt}
	if pre.Verdict.Action == resource.ActionProceed && !pre.Adopt {
		if stop := p.write(pre.Verdict, got); stop != nil {
			return *stop
		}
		after := p.read()
		if after.Verdict.Stops() {
			return after.Verdict
		}
		pre.Verify, post.Observed, post.Memory = true, after.Observed, p.memory
	}
	if pre.Verify {
		post.Put, post.Sent, post.Kept, post.Differences = true, true, p.accepted.Kept, p.accepted.Differences
	}
	end := local(p.world, p.acts.PostCheck, post)
	if end.Memory != nil {
		p.memory, p.accepted = end.Memory, nil
	}
	return end.Verdict
}

// write sends the PUT and waits for its operation.
func (p *passRunner) write(pre resource.Verdict, got GetResourceResult) *resource.Verdict {
	p.t.Helper()
	p.fresh()
	put, _ := finish(p.world, p.acts.PutResource, PutResourceInput{
		Desired: p.spec, PassFacts: p.facts(), Kind: kindIf(pre.Create, kindIf(p.puts == 0, PutCreation, PutCreationAgain), PutChange), Memory: p.memory, ObservedAt: got.ReadAt,
		OperationRefusal: p.refusal,
	})
	if put.Sent || put.Memory != nil {
		p.refusal = put.Refusal
	}
	p.results = append(p.results, put)
	if put.Memory != nil {
		p.memory = put.Memory
	}
	if put.Verdict.Stops() {
		return &put.Verdict
	}
	p.puts++
	p.accepted = &AcceptedPut{At: p.now(), Kept: put.Kept, Differences: pre.Differences}
	if !put.Done {
		p.fresh()
		poll, _ := finish(p.world, p.acts.PollOperation, PollOperationInput{Target: p.target(), Token: put.Token})
		if p.refusal = poll.Refusal; poll.Verdict.Stops() {
			p.accepted = nil
			return &poll.Verdict
		}
	}
	return nil
}

// facts returns the facts of the next pass.
func (p *passRunner) facts() PassFacts {
	return PassFacts{Mandate: Mandate{Correction: p.puts > 0, Approved: Approvals{Drops: p.approved}}}
}

func (p *passRunner) target() resource.Target {
	return resource.Target{ID: p.spec.ID, APIVersion: p.spec.APIVersion}
}

func (p *passRunner) read() GetResourceResult {
	p.fresh()
	got, _ := finish(p.world, p.acts.GetResource, GetResourceInput{Target: p.target()})
	return got
}

// patch changes the resource as another tool does.
func (p *passRunner) patch(body string) {
	p.t.Helper()
	var object map[string]any
	must(p.t, json.Unmarshal([]byte(body), &object))
	p.advance(time.Second) // operations end
	must(p.t, p.sim.Patch(p.spec.ID.String(), object))
}

// TestGuardSettingsOfOthers creates a resource, lets another tool set what the manifest
// does not state, and drifts one property that it states: one PUT corrects it and takes
// nothing of the other tool. A second drift shows that what was kept once is kept again.
//
//guard:lists-of-several-writers
//guard:settings-of-others
func TestGuardSettingsOfOthers(t *testing.T) {
	t.Parallel()
	const network = groupText + "/providers/Microsoft.Network/"
	cases := map[string]struct {
		reason, id, version string
		body, theirs, drift string
		// also are patches of other resources, or new ones, by another tool, next is the body of the
		// manifest from the second correction on.
		also map[string]string
		next string
		// keeps are texts that the stored body must contain at the end.
		keeps []string
	}{
		"subnet": {
			reason: "the network team attached them", id: network + "virtualNetworks/net/subnets/s1", version: "2023-09-01",
			body:   `{"properties":{"addressPrefix":"10.0.1.0/24","privateEndpointNetworkPolicies":"Disabled"}}`,
			theirs: `{"properties":{"networkSecurityGroup":{"id":"` + network + `networkSecurityGroups/n"},"routeTable":{"id":"` + network + `routeTables/r"},"natGateway":{"id":"` + network + `natGateways/g"}}}`,
			drift:  `{"properties":{"privateEndpointNetworkPolicies":"Enabled"}}`,
			keeps:  []string{"networkSecurityGroups/n", "routeTables/r", "natGateways/g", `"privateEndpointNetworkPolicies":"Disabled"`},
		},
		"network interface": {
			reason: "a load balancer's owner added the pool", id: network + "networkInterfaces/nic", version: "2023-09-01",
			body:   `{"location":"westus2","properties":{"enableAcceleratedNetworking":true,"ipConfigurations":[{"name":"a","properties":{"privateIPAllocationMethod":"Dynamic","subnet":{"id":"` + network + `virtualNetworks/net/subnets/s1"}}}]}}`,
			theirs: `{"properties":{"ipConfigurations":[{"name":"a","properties":{"privateIPAllocationMethod":"Dynamic","subnet":{"id":"` + network + `virtualNetworks/net/subnets/s1"},"loadBalancerBackendAddressPools":[{"id":"` + network + `loadBalancers/l/backendAddressPools/b"}]}}]}}`,
			drift:  `{"properties":{"enableAcceleratedNetworking":false}}`,
			keeps:  []string{"backendAddressPools/b", `"enableAcceleratedNetworking":true`},
		},
		"storage account": {
			reason: "Azure Policy hardened it", id: groupText + "/providers/Microsoft.Storage/storageAccounts/acct", version: "2023-01-01",
			body:   `{"location":"westus2","kind":"StorageV2","sku":{"name":"Standard_LRS"},"properties":{"accessTier":"Hot"}}`,
			theirs: `{"properties":{"publicNetworkAccess":"Disabled","minimumTlsVersion":"TLS1_2","networkAcls":{"defaultAction":"Deny","bypass":"None"}}}`,
			drift:  `{"properties":{"accessTier":"Cool"}}`,
			keeps:  []string{`"publicNetworkAccess":"Disabled"`, `"minimumTlsVersion":"TLS1_2"`, `"defaultAction":"Deny"`, `"accessTier":"Hot"`},
		},
		"web app": {
			reason: "an operator integrated it into a network", id: groupText + "/providers/Microsoft.Web/sites/site1", version: "2023-01-01",
			body:   `{"location":"westus2","properties":{"httpsOnly":true}}`,
			theirs: `{"identity":{"type":"UserAssigned","userAssignedIdentities":{"` + groupText + `/providers/Microsoft.ManagedIdentity/userAssignedIdentities/u":{}}},"properties":{"virtualNetworkSubnetId":"` + network + `virtualNetworks/net/subnets/s1","siteConfig":{"alwaysOn":true}}}`,
			drift:  `{"properties":{"httpsOnly":false}}`,
			keeps:  []string{"subnets/s1", `"alwaysOn":true`, "userAssignedIdentities/u", `"type":"UserAssigned"`, `"httpsOnly":true`},
		},
		"cluster": {
			reason: "the autoscaler scaled a pool, and an operator set the channel", id: groupText + "/providers/Microsoft.ContainerService/managedClusters/aks", version: "2024-02-01",
			body:   `{"location":"westus2","identity":{"type":"SystemAssigned"},"properties":{"dnsPrefix":"aks","disableLocalAccounts":true,"agentPoolProfiles":[{"name":"system","mode":"System","vmSize":"Standard_DS2_v2","enableAutoScaling":true,"minCount":1,"maxCount":5}]}}`,
			theirs: `{"properties":{"autoUpgradeProfile":{"upgradeChannel":"stable"}}}`,
			also:   map[string]string{groupText + "/providers/Microsoft.ContainerService/managedClusters/aks/agentPools/system": `{"properties":{"count":4}}`},
			drift:  `{"properties":{"disableLocalAccounts":false}}`,
			keeps:  []string{`"upgradeChannel":"stable"`, `"count":4`, `"disableLocalAccounts":true`},
		},
		"cluster with a pool of another manifest": {
			reason: "the versions of all pools are stated or none", id: groupText + "/providers/Microsoft.ContainerService/managedClusters/aks", version: "2024-02-01",
			body:   `{"location":"westus2","identity":{"type":"SystemAssigned"},"properties":{"dnsPrefix":"aks","disableLocalAccounts":true,"agentPoolProfiles":[{"name":"system","mode":"System","vmSize":"Standard_DS2_v2","count":1}]}}`,
			theirs: `{"tags":{"cost":"1"}}`,
			also:   map[string]string{groupText + "/providers/Microsoft.ContainerService/managedClusters/aks/agentPools/batch": `{"properties":{"vmSize":"Standard_DS2_v2","count":2,"orchestratorVersion":"1.31.6"}}`},
			drift:  `{"properties":{"disableLocalAccounts":false}}`,
			keeps:  []string{`"name":"batch"`, `"cost":"1"`, `"disableLocalAccounts":true`},
		},
		"document account": {
			reason: "an operator opened it for an office", id: groupText + "/providers/Microsoft.DocumentDB/databaseAccounts/cosmos", version: "2023-11-15",
			body:   `{"location":"westus2","properties":{"databaseAccountOfferType":"Standard","locations":[{"locationName":"westus2"}],"enableAutomaticFailover":true}}`,
			theirs: `{"properties":{"ipRules":[{"ipAddressOrRange":"203.0.113.7"}]}}`,
			drift:  `{"properties":{"enableAutomaticFailover":false}}`,
			keeps:  []string{"203.0.113.7", `"enableAutomaticFailover":true`},
		},
		"container app": {
			reason: "a pipeline set a secret, which no GET shows", id: appText, version: "2024-03-01",
			body:   strings.Replace(appBody, "%s", "", 1),
			theirs: `{"properties":{"configuration":{"secrets":[{"name":"db","value":"` + otherSecret + `"}]}}}`,
			drift:  appDrift,
			keeps:  []string{`"name":"db"`, `"external":true`, otherSecret},
		},
		"SQL database": {
			reason: "the size of the last SKU is the service's default", id: groupText + "/providers/Microsoft.Sql/servers/sql/databases/db", version: "2021-11-01",
			body:   `{"location":"westus2","sku":{"name":"S0"},"properties":{"readScale":"Disabled"}}`,
			next:   `{"location":"westus2","sku":{"name":"Basic"},"properties":{"readScale":"Disabled"}}`,
			theirs: `{"properties":{"autoPauseDelay":60}}`,
			drift:  `{"properties":{"readScale":"Enabled"}}`,
			keeps:  []string{`"autoPauseDelay":60`, `"readScale":"Disabled"`},
		},
		"machine": {
			reason: "an operator attached a disk", id: groupText + "/providers/Microsoft.Compute/virtualMachines/vm", version: "2023-03-01",
			body:   `{"location":"westus2","properties":{"hardwareProfile":{"vmSize":"Standard_B2s"},"licenseType":"None"}}`,
			theirs: `{"properties":{"storageProfile":{"dataDisks":[{"lun":1,"createOption":"Attach","managedDisk":{"id":"` + groupText + `/providers/Microsoft.Compute/disks/theirs"}}]}}}`,
			drift:  `{"properties":{"licenseType":"Windows_Server"}}`,
			keeps:  []string{"disks/theirs", `"licenseType":"None"`},
		},
		"machine with disks of its own": {
			reason: "an operator attached a second disk", id: groupText + "/providers/Microsoft.Compute/virtualMachines/vm", version: "2023-03-01",
			body:   `{"location":"westus2","properties":{"hardwareProfile":{"vmSize":"Standard_B2s"},"licenseType":"None","storageProfile":{"dataDisks":[{"lun":0,"createOption":"Empty","diskSizeGB":8}]}}}`,
			theirs: `{"properties":{"storageProfile":{"dataDisks":[{"lun":0,"createOption":"Empty","diskSizeGB":8},{"lun":1,"createOption":"Attach","managedDisk":{"id":"` + groupText + `/providers/Microsoft.Compute/disks/d"}}]}}}`,
			drift:  `{"properties":{"licenseType":"Windows_Server"}}`,
			keeps:  []string{"disks/d", `"diskSizeGB":8`, `"licenseType":"None"`},
		},
		"vault": {
			reason: "an application added its access policy", id: groupText + "/providers/Microsoft.KeyVault/vaults/v", version: "2023-02-01",
			body:   `{"location":"westus2","properties":{"tenantId":"11111111-1111-1111-1111-111111111111","sku":{"family":"A","name":"standard"},"enabledForDeployment":true,"accessPolicies":[{"tenantId":"11111111-1111-1111-1111-111111111111","objectId":"22222222-2222-2222-2222-222222222222","permissions":{"keys":["get"]}}]}}`,
			theirs: `{"properties":{"accessPolicies":[{"tenantId":"11111111-1111-1111-1111-111111111111","objectId":"33333333-3333-3333-3333-333333333333","permissions":{"secrets":["get"]}},{"tenantId":"11111111-1111-1111-1111-111111111111","objectId":"22222222-2222-2222-2222-222222222222","permissions":{"keys":["get"]}}]}}`,
			drift:  `{"properties":{"enabledForDeployment":false}}`,
			keeps:  []string{"33333333", "22222222", `"enabledForDeployment":true`},
		},
		"gateway": {
			reason: "an ingress controller added a listener and a pool", id: network + "applicationGateways/gw", version: "2023-09-01",
			body:   `{"location":"westus2","properties":{"enableHttp2":true,"httpListeners":[{"name":"own","properties":{"protocol":"Http"}}]}}`,
			theirs: `{"tags":{"managed-by-k8s-ingress":"1.5.3"},"properties":{"httpListeners":[{"name":"k8s","properties":{"protocol":"Https"}},{"name":"own","properties":{"protocol":"Http"}}],"backendAddressPools":[{"name":"pool","properties":{"backendAddresses":[{"ipAddress":"10.1.0.9"}]}}]}}`,
			drift:  `{"properties":{"enableHttp2":false}}`,
			keeps:  []string{`"name":"k8s"`, "10.1.0.9", `"name":"own"`, `"enableHttp2":true`, "managed-by-k8s-ingress"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(s *setup) { s.sim.TimeScale = 1e6 })
			w.put(groupText, `{"location":"westus2"}`)
			w.put(network+"virtualNetworks/net", `{"location":"westus2"}`)
			w.put(groupText+"/providers/Microsoft.Sql/servers/sql", `{"location":"westus2"}`)
			for _, used := range []string{"virtualNetworks/net/subnets/s1", "networkSecurityGroups/n", "routeTables/r", "natGateways/g"} {
				if network+used != tc.id {
					w.put(network+used, `{"location":"westus2","properties":{}}`)
				}
			}
			p := &passRunner{world: w, spec: desired(t, tc.id, tc.body)}
			p.spec.APIVersion = tc.version
			if got := p.pass(); got.Stops() || p.puts != 1 {
				t.Fatalf("creation: %d PUTs, %s %s", p.puts, got.Reason, got.Message)
			}
			p.patch(tc.theirs)
			for other, patch := range tc.also {
				if len(w.sim.Resources(other, "")) == 0 {
					w.put(other, patch)
					continue
				}
				(&passRunner{world: w, spec: resource.Desired{ID: id(t, other)}}).patch(patch)
			}
			if got := p.pass(); got.Stops() || p.puts != 1 {
				t.Fatalf("what others set is no drift: %d PUTs, %s %s", p.puts, got.Reason, got.Message)
			}
			for round := range 2 {
				p.patch(tc.drift)
				if tc.next != "" && round > 0 {
					p.spec.Body = json.RawMessage(tc.next)
				}
				if got := p.pass(); got.Stops() || p.puts != round+2 {
					t.Fatalf("correction %d: %d PUTs, %s %s", round+1, p.puts, got.Reason, got.Message)
				}
				if got := p.pass(); got.Stops() || p.puts != round+2 {
					t.Fatalf("after correction %d: %d PUTs, %s %s", round+1, p.puts, got.Reason, got.Message)
				}
				stored := w.storedBody(tc.id)
				for _, text := range tc.keeps {
					if !strings.Contains(stored, text) {
						t.Errorf("correction %d lost %s (%s): %s", round+1, text, tc.reason, stored)
					}
				}
			}
		})
	}
}

// TestGuardOneShots corrects a database that was copied from another one: the PUT does not
// ask for a copy again.
//
//guard:creations-are-not-repeated
func TestGuardOneShots(t *testing.T) {
	t.Parallel()
	const server = groupText + "/providers/Microsoft.Sql/servers/s"
	for _, put := range []resource.Put{"", resource.PutMerge, resource.PutReplace} {
		w := newWorld(t, func(s *setup) { s.sim.TimeScale = 1e6 })
		w.put(groupText, `{"location":"westus2"}`)
		w.put(server, `{"location":"westus2"}`)
		p := &passRunner{world: w, spec: desired(t, server+"/databases/d",
			`{"location":"westus2","properties":{"createMode":"Copy","sourceDatabaseId":"`+server+`/databases/old","readScale":"Enabled"}}`)}
		p.spec.APIVersion, p.spec.Put = "2021-11-01", put
		if got := p.pass(); got.Stops() || p.puts != 1 || !strings.Contains(jsonOf(w.lastPut()), "sourceDatabaseId") {
			t.Fatalf("put %q: creation: %d PUTs of %s, %s %s", put, p.puts, jsonOf(w.lastPut()), got.Reason, got.Message)
		}
		p.patch(`{"properties":{"readScale":"Disabled","createMode":"Default"}}`)
		if got := p.pass(); got.Stops() || p.puts != 2 {
			t.Fatalf("put %q: correction: %d PUTs, %s %s", put, p.puts, got.Reason, got.Message)
		}
		if sent := jsonOf(w.lastPut()); strings.Contains(sent, "createMode") || strings.Contains(sent, "sourceDatabaseId") || !strings.Contains(sent, `"readScale":"Enabled"`) {
			t.Errorf("put %q: the correction sends %s", put, sent)
		}
		if got := p.pass(); got.Stops() || p.puts != 2 {
			t.Errorf("put %q: after it: %d PUTs, %s %s", put, p.puts, got.Reason, got.Message)
		}
	}
}
