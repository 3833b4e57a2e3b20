package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/armature-io/armature/dev/internal/harness"
)

// member is one resource of a stack, as a manifest and as what Azure stores.
type member struct {
	// kind is type@api-version, path what follows the group in the ID, owner the
	// path of the owner ("" for the group).
	kind, path, owner string
	// body is JSON; {REF:path} is replaced by a reference to another member.
	body string
}

// tallStack returns a resource group with 59 resources in four levels, including the
// difficult cases of deletion: a cluster whose only pool is a resource of its own,
// types without DELETE, a subnet that private endpoints use, a public IP address that
// a load balancer uses.
func tallStack() []member {
	const network, location = "Microsoft.Network/", `"location":"westus2"`
	vnet, account := network+"virtualNetworks/net", "Microsoft.Storage/storageAccounts/stack"
	adx, aks, bus := "Microsoft.Kusto/clusters/adx", "Microsoft.ContainerService/managedClusters/aks", "Microsoft.EventHub/namespaces/bus"
	all := []member{
		{network + "networkSecurityGroups@2024-01-01", network + "networkSecurityGroups/nsg", "", `{` + location + `}`},
		{network + "virtualNetworks@2024-01-01", vnet, "", `{` + location + `,"properties":{"addressSpace":{"addressPrefixes":["10.0.0.0/16"]}}}`},
		{network + "loadBalancers@2024-01-01", network + "loadBalancers/lb", "", `{` + location + `,"properties":{"frontendIPConfigurations":[{"name":"front","properties":{"publicIPAddress":{"id":{REF:` + network + `publicIPAddresses/ip0}}}}]}}`},
		{"Microsoft.Storage/storageAccounts@2023-01-01", account, "", `{` + location + `,"kind":"StorageV2","sku":{"name":"Standard_LRS"}}`},
		{"Microsoft.Storage/storageAccounts/blobServices@2023-01-01", account + "/blobServices/default", account, `{"properties":{"isVersioningEnabled":true}}`},
		{"Microsoft.Kusto/clusters@2023-08-15", adx, "", `{` + location + `,"sku":{"name":"Standard_D13_v2","tier":"Standard","capacity":2}}`},
		{"Microsoft.ContainerService/managedClusters@2024-02-01", aks, "", `{` + location + `,"identity":{"type":"SystemAssigned"},"properties":{"dnsPrefix":"aks"}}`},
		{"Microsoft.ContainerService/managedClusters/agentPools@2024-02-01", aks + "/agentPools/system", aks, `{"properties":{"count":1,"vmSize":"Standard_DS2_v2","mode":"System"}}`},
		{"Microsoft.EventHub/namespaces@2024-01-01", bus, "", `{` + location + `,"sku":{"name":"Standard"}}`},
		{"Microsoft.EventHub/namespaces/networkRuleSets@2024-01-01", bus + "/networkRuleSets/default", bus, `{"properties":{"defaultAction":"Deny"}}`},
	}
	for i := range 3 {
		hub := fmt.Sprintf("%s/eventhubs/hub%d", bus, i)
		all = append(all,
			member{network + "publicIPAddresses@2024-01-01", fmt.Sprintf("%spublicIPAddresses/ip%d", network, i), "", `{` + location + `,"sku":{"name":"Standard"},"properties":{"publicIPAllocationMethod":"Static"}}`},
			member{"Microsoft.EventHub/namespaces/eventhubs@2024-01-01", hub, bus, `{"properties":{"partitionCount":1}}`},
			member{"Microsoft.EventHub/namespaces/eventhubs/consumergroups@2024-01-01", hub + "/consumergroups/readers", hub, `{"properties":{}}`},
		)
	}
	for i := range 5 {
		all = append(all, member{network + "virtualNetworks/subnets@2024-01-01", fmt.Sprintf("%s/subnets/s%d", vnet, i), vnet,
			fmt.Sprintf(`{"properties":{"addressPrefix":"10.0.%d.0/24","networkSecurityGroup":{"id":{REF:%snetworkSecurityGroups/nsg}}}}`, i, network)})
	}
	for i := range 2 {
		all = append(all, member{network + "privateEndpoints@2024-01-01", fmt.Sprintf("%sprivateEndpoints/pe%d", network, i), "",
			fmt.Sprintf(`{%s,"properties":{"subnet":{"id":{REF:%s/subnets/s1}},"privateLinkServiceConnections":[{"name":"c","properties":{"privateLinkServiceId":{REF:%s},"groupIds":["blob"]}}]}}`, location, vnet, account)})
	}
	for i := range 8 {
		all = append(all, member{"Microsoft.Storage/storageAccounts/blobServices/containers@2023-01-01",
			fmt.Sprintf("%s/blobServices/default/containers/c%d", account, i), account + "/blobServices/default", `{"properties":{"publicAccess":"None"}}`})
	}
	for i := range 8 {
		database := fmt.Sprintf("%s/databases/db%d", adx, i)
		all = append(all, member{"Microsoft.Kusto/clusters/databases@2023-08-15", database, adx, `{` + location + `,"kind":"ReadWrite","properties":{"softDeletePeriod":"P30D"}}`})
		if i < 4 {
			all = append(all, member{"Microsoft.Kusto/clusters/databases/principalAssignments@2023-08-15", database + "/principalAssignments/a", database,
				`{"properties":{"principalId":"0f8fad5b-d9cb-469f-a165-70867728950e","principalType":"App","role":"Viewer"}}`})
		}
	}
	for i := len(all); i < 59; i++ {
		all = append(all, member{"Microsoft.Example/things@2024-01-01", fmt.Sprintf("Microsoft.Example/things/t%d", i), "", `{` + location + `,"properties":{"size":1}}`})
	}
	return all
}

// id returns the resource ID of a member.
func (m member) id(group string) string { return group + "/providers/" + m.path }

// manifest names other members by $ref.
func (m member) manifest(group string) string {
	typ, version, _ := strings.Cut(m.kind, "@")
	names := strings.Split(m.path, "/")
	owner := group
	if m.owner != "" {
		owner = group + "/providers/" + m.owner
	}
	body := references(m.body, func(path string) string { return fmt.Sprintf(`{"$ref": %q}`, group+"/providers/"+path) })
	return fmt.Sprintf("type: %s@%s\nname: %s\nowner: %s\nbody: %s\nreconcile: {interval: 24h}\nlabels: {stack: tall}\n",
		typ, version, names[len(names)-1], owner, body)
}

// references replaces {REF:path}.
func references(body string, with func(path string) string) string {
	for {
		before, rest, found := strings.Cut(body, "{REF:")
		if !found {
			return body
		}
		path, after, _ := strings.Cut(rest, "}")
		body = before + with(path) + after
	}
}

// writeStack writes the manifests of a group and its members into a folder of
// their own, a file for each.
func writeStack(w *harness.World, group string, members []member) string {
	w.T.Helper()
	name := group[strings.LastIndex(group, "/")+1:]
	w.Write(name+"/group.yaml", fmt.Sprintf("type: Microsoft.Resources/resourceGroups@2021-04-01\nname: %s\nowner: %s\nbody: {location: westus2}\nreconcile: {interval: 24h}\nlabels: {stack: tall}\n", name, subscription))
	for i, m := range members {
		w.Write(fmt.Sprintf("%s/%02d.yaml", name, i), m.manifest(group))
	}
	return w.Folder + "/" + name
}

// putStack creates the resources of a stack in the simulator, outside Armature.
func putStack(w *harness.World, group string, members []member) {
	w.T.Helper()
	put := func(id string, body map[string]any) {
		w.Sim.Call(http.MethodPut, "/resources", map[string]any{"id": id, "body": body}, nil)
	}
	put(group, map[string]any{"location": "westus2"})
	for _, m := range members {
		var body map[string]any
		text := references(m.body, func(path string) string { return fmt.Sprintf("%q", group+"/providers/"+path) })
		if err := json.Unmarshal([]byte(text), &body); err != nil {
			w.T.Fatalf("%s: %v", m.path, err)
		}
		put(m.id(group), body)
	}
}
