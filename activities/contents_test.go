package activities

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"github.com/armature-io/armature/activities/contents"
	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// TestEveryParentIsGuarded deletes a resource of every published type that has child
// collections, once for each collection with an unmanaged child in it: the child must be
// named. One without children must proceed.
//
//guard:deletes-look-first
func TestEveryParentIsGuarded(t *testing.T) {
	t.Parallel()
	parents, guarded, collections, maxLists, published := 0, 0, 0, 0, 0
	registry := newWorld(t).acts.Registry
	for i, parent := range types.Names(false) {
		if testing.Short() && i%20 != 0 {
			continue
		}
		if len(types.Children(parent)) > 0 {
			published++
		}
		reachable := reachableCollections(t, registry, parent, 0)
		if len(reachable) == 0 {
			continue
		}
		parents++
		problems := 0
		at := parentID(parent)
		w := newWorld(t)
		w.put(at, `{"location":"westus2"}`)
		if got, _ := lookInto(t, w, at); got.Verdict.Action != resource.ActionProceed {
			problems++
			t.Errorf("%s without children: %s %q", parent, got.Verdict.Action, got.Verdict.Message)
		}
		for _, below := range reachable {
			w.put(at+"/"+below, `{"properties":{}}`)
			got, lists := lookInto(t, w, at)
			collections, maxLists = collections+1, max(maxLists, lists)
			if got.Verdict.Action != resource.ActionBlock || got.Verdict.Reason != resource.ReasonContainsUnmanaged || !strings.Contains(got.Verdict.Message, below[strings.LastIndex(below, "/")+1:]+" (") {
				problems++
				t.Errorf("%s with %s: %s %s %q", parent, below, got.Verdict.Action, got.Verdict.Reason, got.Verdict.Message)
			}
			w.sim.Delete(at + "/" + below)
		}
		if problems == 0 {
			guarded++
		}
	}
	fmt.Printf("score deletes.guarded %d/%d types, %d collections, at most %d requests for one deletion; %d other types have only children that no PUT creates or that exist by themselves\n",
		guarded, parents, collections, maxLists, published-parents)
}

// lookInto runs CheckContents and counts its list requests.
func lookInto(t *testing.T, w *world, at string) (CheckContentsResult, int) {
	t.Helper()
	before := len(w.sim.Requests())
	got, _ := finish(w, w.acts.CheckContents, contents.Request{ID: id(t, at), APIVersion: types.Newest(id(t, at).Type()), By: "ada@host", EndScope: true, WithData: true})
	return got, len(w.sim.Requests()) - before
}

// maxDepth is the number of levels that a look descends into.
const maxDepth = 4

// reachableCollections returns the paths, below a parent, of a child in each collection
// that a DELETE takes along, also in collections of children with fixed names.
func reachableCollections(t *testing.T, registry *extensionhost.Registry, parent string, depth int) []string {
	t.Helper()
	var paths []string
	for _, child := range types.Children(parent) {
		segment := child.Type[strings.LastIndex(child.Type, "/")+1:]
		kind := registry.Facts(child.Type).Child.Kind
		switch {
		case !child.Writable || kind == extensions.ChildView || kind == extensions.ChildPart || kind == extensions.ChildSetting || kind == extensions.ChildRule:
		case len(child.Names) > 0 && !child.Open && depth < maxDepth:
			for _, below := range reachableCollections(t, registry, child.Type, depth+1) {
				paths = append(paths, segment+"/"+child.Names[0]+"/"+below)
			}
		case child.Open:
			paths = append(paths, segment+"/"+foreignName(child.Type))
		}
	}
	return paths
}

// foreignName returns a name that a person gives a child of a type.
func foreignName(childType string) string {
	switch strings.ToLower(childType) {
	case "microsoft.operationalinsights/workspaces/tables":
		return "c1_CL"
	case "microsoft.apimanagement/service/contenttypes":
		return "c-1"
	}
	return "c1"
}

// parentID returns an ID of a type in a scope that the type allows.
func parentID(resourceType string) string {
	scope := groupText
	if shape := types.Lookup(resourceType, types.Newest(resourceType)); shape.Readable&types.ResourceGroupScope == 0 && shape.Writable&types.ResourceGroupScope == 0 {
		switch all := shape.Readable | shape.Writable; {
		case all&types.SubscriptionScope != 0:
			scope = groupText[:strings.Index(groupText, "/resourceGroups")]
		case all&types.ExtensionScope == 0 && all&(types.TenantScope|types.ManagementGroupScope) != 0:
			scope = ""
		}
	}
	segments := strings.Split(resourceType, "/")
	at := scope + "/providers/" + segments[0]
	for i, segment := range segments[1:] {
		at += fmt.Sprintf("/%s/p%d", segment, i)
	}
	return at
}

//guard:deletes-look-first
func TestContentsOfTypes(t *testing.T) {
	t.Parallel()
	const (
		server  = groupText + "/providers/Microsoft.Sql/servers/s1"
		account = groupText + "/providers/Microsoft.Storage/storageAccounts/a1"
		network = groupText + "/providers/Microsoft.Network/virtualNetworks/n1"
		cluster = groupText + "/providers/Microsoft.ContainerService/managedClusters/k1"
		zone    = groupText + "/providers/Microsoft.Network/dnsZones/example.org"
		vault   = groupText + "/providers/Microsoft.KeyVault/vaults/v1"
		machine = groupText + "/providers/Microsoft.Compute/virtualMachines/m1"
		disk    = groupText + "/providers/Microsoft.Compute/disks/d1"
		factory = groupText + "/providers/Microsoft.DataFactory/factories/f1"
		site    = groupText + "/providers/Microsoft.Web/sites/site1"

		insights   = groupText + "/providers/Microsoft.Insights/components/i1"
		workspace  = groupText + "/providers/Microsoft.OperationalInsights/workspaces/w1"
		automation = groupText + "/providers/Microsoft.Automation/automationAccounts/a1"
		scaleSet   = groupText + "/providers/Microsoft.Compute/virtualMachineScaleSets/s1"

		machineBody = `{"location":"westus2","properties":{"storageProfile":{"dataDisks":[{"lun":0,"name":"d1","createOption":"Attach","deleteOption":"Delete","managedDisk":{"id":"` + disk + `"}}]}}}`
	)
	cases := map[string]struct {
		reason, resource, stated string
		body, childBody          string
		children                 []string
		managed                  map[string]Managed
		fault                    *armsim.Fault
		action                   resource.Action
		parts                    []string
	}{
		"database": {
			reason: "a database would go with its server", resource: server, children: []string{server + "/databases/db1"},
			action: resource.ActionBlock, parts: []string{"s1/db1 (Microsoft.Sql/servers/databases)", "--cascade"},
		},
		"system database": {
			reason: "every server has it", resource: server, children: []string{server + "/databases/master"}, action: resource.ActionProceed,
		},
		"firewall rule": {
			reason: "it has no use without its server", resource: server, children: []string{server + "/firewallRules/office"},
			action: resource.ActionProceed, parts: []string{"s1/office (Microsoft.Sql/servers/firewallRules)"},
		},
		"extension of a machine": {
			reason: "a policy installed it", resource: machine, children: []string{machine + "/extensions/AzureMonitorLinuxAgent"},
			action: resource.ActionProceed, parts: []string{"AzureMonitorLinuxAgent"},
		},
		"detection rules": {
			reason: "each component has them, and nobody can delete them", resource: insights, children: []string{insights + "/ProactiveDetectionConfigs/slowpageloadtime"}, action: resource.ActionProceed,
		},
		"network of a factory": {
			reason: "its name is fixed, its endpoints are not", resource: factory,
			children: []string{factory + "/managedVirtualNetworks/default", factory + "/managedVirtualNetworks/default/managedPrivateEndpoints/e1"},
			action:   resource.ActionBlock, parts: []string{"f1/default/e1"},
		},
		"below a service": {
			reason: "the service exists by itself, the container does not", resource: account,
			children: []string{account + "/blobServices/default", account + "/blobServices/default/containers/c1"},
			action:   resource.ActionBlock, parts: []string{"containers"},
		},
		"the service alone": {
			reason: "every account has it", resource: account, children: []string{account + "/blobServices/default", account + "/fileServices/default"},
			action: resource.ActionProceed,
		},
		"stated subnet": {
			reason: "what the manifest of the network states belongs to it", resource: network,
			stated:   `{"properties":{"subnets":[{"name":"Inside","properties":{}}]}}`,
			children: []string{network + "/subnets/inside"}, action: resource.ActionProceed,
		},
		"stated pool": {
			reason: "the list in the body has another name than the collection", resource: cluster,
			stated:   `{"properties":{"agentPoolProfiles":[{"name":"system","count":1}]}}`,
			children: []string{cluster + "/agentPools/system"}, action: resource.ActionProceed,
		},
		"other subnet": {
			reason: "only the stated one belongs to it", resource: network,
			stated:   `{"properties":{"subnets":[{"name":"inside"}], "dhcpOptions":{"name":"outside"}}}`,
			children: []string{network + "/subnets/inside", network + "/subnets/outside"},
			action:   resource.ActionBlock, parts: []string{"n1/outside"},
		},
		"tables of Azure": {
			reason: "every workspace has hundreds", resource: workspace, children: []string{workspace + "/tables/Heartbeat", workspace + "/savedSearches/LogManagement(w1)_General|x"}, action: resource.ActionProceed,
		},
		"custom table": {
			reason: "its name ends with _CL", resource: workspace, children: []string{workspace + "/tables/Heartbeat", workspace + "/tables/Audit_CL"},
			action: resource.ActionBlock, parts: []string{"Audit_CL"},
		},
		"built-in module": {
			reason: "the service marks it", resource: automation, children: []string{automation + "/modules/Az"}, childBody: `{"properties":{"isGlobal":true}}`, action: resource.ActionProceed,
		},
		"module": {
			reason: "a person imported it", resource: automation, children: []string{automation + "/modules/Mine"}, childBody: `{"properties":{"isGlobal":false}}`,
			action: resource.ActionBlock, parts: []string{"Mine"},
		},
		"default host name": {
			reason: "every site has it", resource: site, children: []string{site + "/hostNameBindings/site1.azurewebsites.net", site + "/functions/f1"}, action: resource.ActionProceed,
		},
		"host name": {
			reason: "a domain is a person's", resource: site, children: []string{site + "/hostNameBindings/www.example.org"},
			action: resource.ActionBlock, parts: []string{"www.example.org"},
		},
		"apex records": {
			reason: "every zone has them", resource: zone, children: []string{zone + "/SOA/@", zone + "/NS/@"}, action: resource.ActionProceed,
		},
		"delegation": {
			reason: "an NS record below the apex is a person's", resource: zone, children: []string{zone + "/NS/@", zone + "/NS/west"},
			action: resource.ActionBlock, parts: []string{"west"},
		},
		"connection": {
			reason: "the private endpoint stays", resource: vault, children: []string{vault + "/privateEndpointConnections/pe1"}, action: resource.ActionProceed,
		},
		"machine of a scale set": {
			reason: "the set made it", resource: scaleSet, children: []string{scaleSet + "/virtualMachines/0"}, action: resource.ActionProceed,
		},
		"extension of a scale set": {
			reason: "a person added it", resource: scaleSet, children: []string{scaleSet + "/extensions/e1"},
			action: resource.ActionBlock, parts: []string{"e1 (Microsoft.Compute/virtualMachineScaleSets/extensions)"},
		},
		"managed and deleted": {
			reason: "it is deleted too", resource: server, children: []string{server + "/databases/db1"},
			managed: map[string]Managed{server + "/databases/db1": {Deleting: true, Released: true}}, action: resource.ActionProceed,
		},
		"disk": {
			reason: "another tool marked the disk, and it goes with the machine", resource: machine, children: []string{disk},
			body: machineBody, stated: `{"properties":{"hardwareProfile":{"vmSize":"Standard_B2s"}}}`,
			action: resource.ActionBlock, parts: []string{"d1 (Microsoft.Compute/disks)"},
		},
		"disk of the manifest": {
			reason: "the manifest decided that the disk goes with the machine", resource: machine, children: []string{disk},
			body: machineBody, stated: machineBody, action: resource.ActionProceed,
		},
		"managed disk": {
			reason: "the disk is deleted too", resource: machine, children: []string{disk}, body: machineBody,
			managed: map[string]Managed{disk: {Deleting: true, Released: true}}, action: resource.ActionProceed,
		},
		"managed group": {
			reason: "the group is named", resource: cluster, body: `{"location":"westus2","properties":{"nodeResourceGroup":"MC_rg_k1_westus2"}}`,
			action: resource.ActionProceed, parts: []string{"MC_rg_k1_westus2"},
		},
		"not listable": {
			reason: "what nobody can look at may hold data", resource: vault, fault: &armsim.Fault{Status: 405, Code: "MethodNotAllowed", Type: "Microsoft.KeyVault/vaults/secrets"},
			action: resource.ActionBlock, parts: []string{"could not be listed", "secrets of v1", "--cascade"},
		},
		"no absence": {
			reason: "a 404 that no table has proves nothing", resource: vault, fault: &armsim.Fault{Status: 404, Code: "EndpointNotFound", Type: "Microsoft.KeyVault/vaults/secrets"},
			action: resource.ActionBlock, parts: []string{"secrets of v1"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.put(tc.resource, cmp.Or(tc.body, `{"location":"westus2"}`))
			for _, child := range tc.children {
				w.put(child, cmp.Or(tc.childBody, `{"properties":{}}`))
			}
			for at, managed := range tc.managed {
				w.manages(at, managed)
			}
			if tc.fault != nil {
				w.sim.AddFault(*tc.fault)
			}
			at := id(t, tc.resource)
			got, _ := finish(w, w.acts.CheckContents, contents.Request{ID: at, APIVersion: types.Newest(at.Type()), By: "ada@host", WithData: true, Stated: []byte(tc.stated)})
			wantContents(t, got.Verdict, tc.action, tc.reason, tc.parts)
		})
	}
}

// wantContents compares a verdict with an action and parts of its message.
func wantContents(t *testing.T, got resource.Verdict, action resource.Action, reason string, parts []string) {
	t.Helper()
	if got.Action != action {
		t.Errorf("%s %q, want %s: %s", got.Action, got.Message, action, reason)
	}
	for _, part := range parts {
		if !strings.Contains(got.Message, part) {
			t.Errorf("%q does not contain %q: %s", got.Message, part, reason)
		}
	}
}

// TestScopesAreGuarded deletes what ends a whole scope: neither a plain delete nor
// --cascade does, and a subscription has to be empty.
//
//guard:scopes
func TestScopesAreGuarded(t *testing.T) {
	t.Parallel()
	const (
		alias        = "/providers/Microsoft.Subscription/aliases/team-a"
		group        = "/providers/Microsoft.Management/managementGroups/platform"
		subscription = "/subscriptions/99999999-2222-3333-4444-555555555555"
		aliasBody    = `{"properties":{"subscriptionId":"99999999-2222-3333-4444-555555555555"}}`
	)
	cases := map[string]struct {
		reason, resource  string
		cascade, endScope bool
		full              bool
		action            resource.Action
		parts             []string
	}{
		"alias":            {"the subscription would be canceled", alias, false, false, false, resource.ActionBlock, []string{"cancels the subscription 99999999", "--end-scope"}},
		"alias, cascade":   {"--cascade does not name the effect", alias, true, false, false, resource.ActionBlock, []string{"--end-scope"}},
		"alias, allowed":   {"the subscription is empty and the effect is named", alias, false, true, false, resource.ActionProceed, nil},
		"alias, full":      {"a subscription with groups is not canceled", alias, true, true, true, resource.ActionBlock, []string{"contains resource groups: prod"}},
		"group":            {"rights are kept there", group, true, false, false, resource.ActionBlock, []string{"deletes the management group", "--end-scope"}},
		"group, allowed":   {"the effect is named", group, true, true, false, resource.ActionProceed, nil},
		"other, not asked": {"other types need no such flag", groupText, true, false, false, resource.ActionProceed, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.put(alias, aliasBody)
			w.put(group, `{"properties":{}}`)
			w.put(groupText, `{"location":"westus2"}`)
			if tc.full {
				w.put(subscription+"/resourceGroups/prod", `{"location":"westus2"}`)
			}
			at := id(t, tc.resource)
			got, _ := finish(w, w.acts.CheckContents, contents.Request{ID: at, APIVersion: "2021-10-01", By: "ada@host", Cascade: tc.cascade, EndScope: tc.endScope})
			wantContents(t, got.Verdict, tc.action, tc.reason, tc.parts)
		})
	}
}

// TestGuardPlanIsKept deletes the last site of a plan. Azure deletes the plan too unless
// the request says otherwise.
//
//guard:plans-are-kept
func TestGuardPlanIsKept(t *testing.T) {
	t.Parallel()
	const plan = groupText + "/providers/Microsoft.Web/serverfarms/plan1"
	const site = groupText + "/providers/Microsoft.Web/sites/site1"
	w := newWorld(t)
	w.put(groupText, `{"location":"westus2"}`)
	w.put(plan, `{"location":"westus2","sku":{"name":"B1"}}`)
	w.put(site, `{"location":"westus2","properties":{"serverFarmId":"`+plan+`"}}`)
	spec := desired(t, site, `{"location":"westus2"}`)
	sent, _ := finish(w, w.acts.DeleteResource, DeleteResourceInput{Desired: spec})
	if sent.Token != "" {
		w.fresh()
		finish(w, w.acts.PollOperation, PollOperationInput{Target: resource.Target{ID: spec.ID, APIVersion: spec.APIVersion}, Token: sent.Token, Delete: true})
	}
	if _, err := w.acts.Client.Get(t.Context(), id(t, site), spec.APIVersion); !arm.IsAbsent(err) {
		t.Errorf("the site was not deleted: %v, %s", err, sent.Verdict.Message)
	}
	if _, err := w.acts.Client.Get(t.Context(), id(t, plan), spec.APIVersion); err != nil {
		t.Errorf("the plan went with its site: %v", err)
	}
}
