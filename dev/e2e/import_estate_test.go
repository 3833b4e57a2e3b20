package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
)

// outcome is an entry of the report of an import.
type outcome struct {
	ID     string `json:"id"`
	Type   string `json:"type"`
	Status string `json:"status"`
	Why    string `json:"why"`
	File   string `json:"file"`
}

// importedSubscription is a subscription of its own, so that nothing else is in it.
const importedSubscription = "/subscriptions/22222222-3333-4444-5555-666666666666"

// putEstate puts an estate of 30 types and 4 levels below its groups into the simulator, as
// other tools have made it, and returns the number of its resources.
func putEstate(w *harness.World) int {
	w.T.Helper()
	put := func(id string, body map[string]any) {
		w.Sim.Call(http.MethodPut, "/resources", map[string]any{"id": id, "body": body}, nil)
	}
	located := func(properties map[string]any) map[string]any {
		return map[string]any{"location": "westus2", "properties": properties}
	}
	put(importedSubscription+"/providers/Microsoft.Authorization/policyDefinitions/naming", map[string]any{"properties": map[string]any{"policyType": "Custom", "mode": "All", "policyRule": map[string]any{"if": map[string]any{"field": "name", "like": "x*"}, "then": map[string]any{"effect": "audit"}}}})
	put(importedSubscription+"/providers/Microsoft.Authorization/policyAssignments/naming", map[string]any{"properties": map[string]any{"policyDefinitionId": importedSubscription + "/providers/Microsoft.Authorization/policyDefinitions/naming"}})
	for g := range 8 {
		group := fmt.Sprintf("%s/resourceGroups/shop-%d", importedSubscription, g)
		put(group, map[string]any{"location": "westus2"})
		// The names are those of one stage, but for the route tables: these repeat.
		at := func(typ string) string {
			if strings.HasSuffix(typ, "routes") {
				return group + "/providers/" + typ
			}
			return fmt.Sprintf("%s/providers/%s-%d", group, typ, g)
		}
		put(at("Microsoft.ManagedIdentity/userAssignedIdentities/app"), located(nil))
		put(at("Microsoft.Network/routeTables/routes"), located(nil))
		put(at("Microsoft.Network/networkSecurityGroups/guard"), located(nil))
		put(at("Microsoft.Network/publicIPAddresses/front"), map[string]any{"location": "westus2", "sku": map[string]any{"name": "Standard"}, "properties": map[string]any{"publicIPAllocationMethod": "Static"}})
		network := at("Microsoft.Network/virtualNetworks/net")
		put(network, located(map[string]any{"addressSpace": map[string]any{"addressPrefixes": []any{"10.0.0.0/16"}}}))
		put(network+"/subnets/apps", map[string]any{"properties": map[string]any{"addressPrefix": "10.0.0.0/24", "networkSecurityGroup": map[string]any{"id": at("Microsoft.Network/networkSecurityGroups/guard")}}})
		account := at("Microsoft.Storage/storageAccounts/shopstore")
		put(account, map[string]any{"location": "westus2", "kind": "StorageV2", "sku": map[string]any{"name": "Standard_LRS"}, "properties": map[string]any{}})
		put(account+"/blobServices/default", map[string]any{"properties": map[string]any{"isVersioningEnabled": true}})
		put(account+"/blobServices/default/containers/data", map[string]any{"properties": map[string]any{"publicAccess": "None"}})
		put(account+"/blobServices/default/containers/data/immutabilityPolicies/default", map[string]any{"properties": map[string]any{"immutabilityPeriodSinceCreationInDays": 3}})
		put(account+"/queueServices/default", map[string]any{"properties": map[string]any{}})
		put(account+"/privateEndpointConnections/pe", map[string]any{"properties": map[string]any{}})
		put(account+"/providers/Microsoft.Authorization/locks/keep", map[string]any{"properties": map[string]any{"level": "CanNotDelete"}})
		put(account+"/providers/Microsoft.Authorization/roleAssignments/"+fmt.Sprintf("aaaaaaaa-0000-0000-0000-00000000000%d", g), map[string]any{"properties": map[string]any{"roleDefinitionId": importedSubscription + "/providers/Microsoft.Authorization/roleDefinitions/r", "principalId": fmt.Sprintf("bbbbbbbb-0000-0000-0000-00000000000%d", g)}})
		vault := at("Microsoft.KeyVault/vaults/shop-kv")
		put(vault, located(map[string]any{"tenantId": "99999999-2222-3333-4444-555555555555", "sku": map[string]any{"family": "A", "name": "standard"}}))
		put(vault+"/providers/Microsoft.Insights/diagnosticSettings/logs", map[string]any{"properties": map[string]any{"workspaceId": at("Microsoft.OperationalInsights/workspaces/logs")}})
		put(at("Microsoft.OperationalInsights/workspaces/logs"), located(map[string]any{"retentionInDays": 30}))
		server := at("Microsoft.Sql/servers/shop-sql")
		put(server, located(map[string]any{"administratorLogin": "shop", "version": "12.0"}))
		put(server+"/databases/master", map[string]any{"location": "westus2", "properties": map[string]any{}})
		put(server+"/databases/orders", map[string]any{"location": "westus2", "sku": map[string]any{"name": "S0"}, "properties": map[string]any{}})
		put(server+"/firewallRules/office", map[string]any{"properties": map[string]any{"startIpAddress": "10.0.0.1", "endIpAddress": "10.0.0.2"}})
		bus := at("Microsoft.EventHub/namespaces/shop-bus")
		put(bus, map[string]any{"location": "westus2", "sku": map[string]any{"name": "Standard"}, "properties": map[string]any{}})
		put(bus+"/eventhubs/orders", map[string]any{"properties": map[string]any{"partitionCount": 2}})
		put(bus+"/eventhubs/orders/consumergroups/$Default", map[string]any{"properties": map[string]any{}})
		put(bus+"/eventhubs/orders/consumergroups/web", map[string]any{"properties": map[string]any{}})
		put(at("Microsoft.Network/dnsZones/shop.example"), map[string]any{"location": "global", "properties": map[string]any{}})
		put(at("Microsoft.Network/dnsZones/shop.example")+"/A/www", map[string]any{"properties": map[string]any{"TTL": 300}})
		put(at("Microsoft.Kusto/clusters/shop"), map[string]any{"location": "westus2", "sku": map[string]any{"name": "Dev(No SLA)_Standard_E2a_v4", "tier": "Basic", "capacity": 1}, "properties": map[string]any{}})
		put(at("Microsoft.Kusto/clusters/shop")+"/databases/events", map[string]any{"location": "westus2", "kind": "ReadWrite", "properties": map[string]any{}})
		put(at("Microsoft.Web/serverfarms/plan"), map[string]any{"location": "westus2", "sku": map[string]any{"name": "P1v3"}, "properties": map[string]any{}})
		put(at("Microsoft.Insights/components/web"), map[string]any{"location": "westus2", "kind": "web", "properties": map[string]any{"Application_Type": "web"}})
		put(at("Microsoft.ContainerRegistry/registries/images"), map[string]any{"location": "westus2", "sku": map[string]any{"name": "Basic"}, "properties": map[string]any{}})
	}
	managed := importedSubscription + "/resourceGroups/MC_shop"
	put(managed, map[string]any{"location": "westus2", "managedBy": importedSubscription + "/resourceGroups/shop-0/providers/Microsoft.ContainerService/managedClusters/shop"})
	put(managed+"/providers/Microsoft.Network/routeTables/nodes", map[string]any{"location": "westus2", "properties": map[string]any{}})
	return len(stored(w, importedSubscription+"/*"))
}

// TestImportEstate imports a subscription of more than 200 resources of 30 types. Everything
// that exists there is accounted for, the plan of the result is in sync, and a second import
// changes nothing.
func TestImportEstate(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{Simulator: armsim.Options{TimeScale: 1200, PageSize: 25}})
	quickPolls(w)
	w.StartWorker(harness.WorkerOptions{})
	w.Sim.Call(http.MethodPost, "/answers", armsim.AnswerRule{Type: "Microsoft.Web/serverfarms/virtualNetworkConnections/gateways", ListStatus: 405}, nil)
	exist := putEstate(w)
	w.Sim.Reset()
	first := w.MustCLI("import", importedSubscription, "--adopt", "as-is", "--policy", "observe", "-o", "stack", "--report", "first.json")
	counters := w.Sim.Counters()
	t.Logf("%d resources, %d GETs\n%s", exist, counters.ByMethod[http.MethodGet], first.Err)
	if writes := counters.ByMethod[http.MethodPut] + counters.ByMethod[http.MethodDelete] + counters.ByMethod[http.MethodPatch]; writes > 0 {
		t.Errorf("an import wrote %d times", writes)
	}
	outcomes := reportOf(w, "first.json")
	accounted(w, outcomes)
	kinds, imported, levels := map[string]bool{}, 0, 0
	for _, o := range outcomes {
		if o.Status == "imported" {
			imported++
			kinds[strings.ToLower(o.Type)] = true
			levels = max(levels, strings.Count(o.Type, "/"))
		}
	}
	if imported < 200 || exist < 200 || len(kinds) < 30 || levels < 4 {
		t.Errorf("%d of %d resources of %d types and %d levels were imported, want 200, 30 types and 4 levels\n%s", imported, exist, len(kinds), levels, first.Err)
	}
	for _, want := range []string{"policy: observe", "adopt: as-is", "owner: shop-sql-0\n", "$ref: logs-0", "owner: shop-bus-0\n"} {
		if text := manifestsOf(w, "stack"); !strings.Contains(text, want) {
			t.Errorf("no manifest contains %q", want)
		}
	}
	for _, c := range plan(w, 0, "-f", "stack") {
		if c.Action != "none" {
			t.Errorf("the plan of an import: %+v", c)
		}
	}
	w.MustCLI("import", importedSubscription, "--query", "resources | where resourceGroup =~ 'shop-1'", "--children", "-o", "queried", "--report", "queried.json")
	queried := reportOf(w, "queried.json")
	for _, o := range queried {
		if o.Status == "imported" && !strings.Contains(strings.ToLower(o.ID), "/resourcegroups/shop-1/") {
			t.Errorf("the query imported %s", o.ID)
		}
	}
	if len(queried) < 25 {
		t.Errorf("the query found %d resources, want 25", len(queried))
	}
	plan(w, 0, "-f", "queried")
	before := manifestsOf(w, "stack")
	again := w.MustCLI("import", importedSubscription, "--adopt", "as-is", "--policy", "observe", "-o", "stack", "--report", "second.json")
	if after := manifestsOf(w, "stack"); after != before {
		t.Errorf("a second import changes files")
	}
	for _, o := range reportOf(w, "second.json") {
		if o.Status == "imported" || o.Status == "differs" {
			t.Errorf("a second import: %+v\n%s", o, again.Err)
		}
	}
	w.MustCLI("import", importedSubscription, "--adopt", "as-is", "--policy", "observe", "-o", "other")
	if other := manifestsOf(w, "other"); other != before {
		t.Errorf("two imports of the same estate differ")
	}
}

// accounted checks that everything that exists has an outcome: its own, or that of its
// collection.
func accounted(w *harness.World, outcomes []outcome) {
	w.T.Helper()
	known := map[string]int{}
	for _, o := range outcomes {
		if o.Status == "not listed" || o.Status == "not read" {
			known[strings.ToLower(o.ID+" "+o.Type)]++
			continue
		}
		known[strings.ToLower(o.ID)]++
	}
	for id, n := range known {
		if n > 1 {
			w.T.Errorf("%s has %d outcomes", id, n)
		}
	}
	for _, r := range stored(w, importedSubscription+"/*") {
		parent := r.ID[:strings.LastIndex(r.ID[:strings.LastIndex(r.ID, "/")], "/")]
		if known[strings.ToLower(r.ID)] == 0 && known[strings.ToLower(parent+" "+r.Type)] == 0 {
			w.T.Errorf("%s has no outcome", r.ID)
		}
	}
}

func reportOf(w *harness.World, name string) []outcome {
	w.T.Helper()
	text, err := os.ReadFile(filepath.Join(w.Folder, name))
	if err != nil {
		w.T.Fatal(err)
	}
	var all []outcome
	if err := json.Unmarshal(text, &all); err != nil {
		w.T.Fatal(err)
	}
	return all
}

// manifestsOf returns the names and texts of the files in a folder.
func manifestsOf(w *harness.World, folder string) string {
	w.T.Helper()
	files, err := filepath.Glob(filepath.Join(w.Folder, folder, "*"))
	if err != nil {
		w.T.Fatal(err)
	}
	var all strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			w.T.Fatal(err)
		}
		fmt.Fprintf(&all, "== %s\n%s\n", filepath.Base(file), text)
	}
	return all.String()
}
