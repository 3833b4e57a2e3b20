package e2e

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
)

// plantedSubscription is a subscription of its own, so that nothing else is in it.
const plantedSubscription = "/subscriptions/33333333-4444-5555-6666-777777777777"

// managedText are resources with a workflow: tracked ones, children, and an extension resource.
const managedText = `type: Microsoft.Resources/resourceGroups@2021-04-01
name: shop
owner: ` + plantedSubscription + `
body: {location: westus2}
---
type: Microsoft.Network/virtualNetworks@2023-05-01
name: net
owner: shop
body:
  location: westus2
  properties:
    addressSpace: {addressPrefixes: [10.0.0.0/16]}
    subnets:
      - name: stated
        properties: {addressPrefix: 10.0.0.0/24}
---
type: Microsoft.Storage/storageAccounts@2023-01-01
name: shopstore
owner: shop
body: {location: westus2, kind: StorageV2, sku: {name: Standard_LRS}, properties: {accessTier: Hot}}
---
type: Microsoft.EventHub/namespaces@2024-01-01
name: shop-bus
owner: shop
body: {location: westus2, sku: {name: Standard, tier: Standard}, properties: {}}
---
type: Microsoft.EventHub/namespaces/eventhubs@2024-01-01
name: orders
owner: shop-bus
body: {properties: {partitionCount: 2}}
---
type: Microsoft.Authorization/locks@2020-05-01
name: keep
owner: shopstore
body: {properties: {level: CanNotDelete}}
`

// plant puts resources into the simulator, as other tools have made them, and returns those that
// should have a workflow, without the subscription. The others need none: children that exist by
// themselves, a stated item of a managed network, items of an unmanaged one, and a group of a
// service.
func plant(w *harness.World) []string {
	w.T.Helper()
	const shop = "/resourceGroups/shop"
	put := func(id string, body map[string]any) {
		w.Sim.Call(http.MethodPut, "/resources", map[string]any{"id": plantedSubscription + id, "body": body}, nil)
	}
	located := func(properties map[string]any) map[string]any {
		return map[string]any{"location": "westus2", "properties": properties}
	}
	with := func(properties map[string]any) map[string]any { return map[string]any{"properties": properties} }
	network, account, bus := shop+"/providers/Microsoft.Network/virtualNetworks/net", shop+"/providers/Microsoft.Storage/storageAccounts/shopstore", shop+"/providers/Microsoft.EventHub/namespaces/shop-bus"
	server, other := shop+"/providers/Microsoft.Sql/servers/shop-sql", shop+"/providers/Microsoft.Network/virtualNetworks/other"
	var unmanaged []string
	for _, r := range []struct {
		id    string
		body  map[string]any
		comes bool
	}{
		{id: "/resourceGroups/tmp-1", body: map[string]any{"location": "westus2"}},
		{id: "/resourceGroups/tmp-1/providers/Microsoft.Network/routeTables/try", body: located(map[string]any{})},
		{id: shop + "/providers/Microsoft.Authorization/roleAssignments/aaaaaaaa-0000-0000-0000-000000000001", body: with(map[string]any{"roleDefinitionId": plantedSubscription + "/providers/Microsoft.Authorization/roleDefinitions/r", "principalId": "bbbbbbbb-0000-0000-0000-000000000001"})},
		{id: network + "/subnets/foreign", body: with(map[string]any{"addressPrefix": "10.0.1.0/24"})},
		{id: account + "/blobServices/default", body: with(map[string]any{"isVersioningEnabled": true}), comes: true},
		{id: account + "/blobServices/default/containers/data", body: with(map[string]any{"publicAccess": "None"})},
		{id: account + "/privateEndpointConnections/pe", body: with(map[string]any{}), comes: true},
		{id: account + "/providers/Microsoft.Insights/diagnosticSettings/logs", body: with(map[string]any{"workspaceId": plantedSubscription + shop + "/providers/Microsoft.OperationalInsights/workspaces/logs"})},
		{id: bus + "/eventhubs/orders/consumergroups/$Default", body: with(map[string]any{}), comes: true},
		{id: bus + "/eventhubs/orders/consumergroups/web", body: with(map[string]any{"userMetadata": "web"})},
		{id: bus + "/eventhubs/extra", body: with(map[string]any{"partitionCount": 1})},
		{id: bus + "/providers/Microsoft.Authorization/locks/by-hand", body: with(map[string]any{"level": "CanNotDelete"})},
		{id: server, body: located(map[string]any{"administratorLogin": "shop", "version": "12.0"})},
		{id: server + "/databases/master", body: located(map[string]any{}), comes: true},
		{id: server + "/databases/orders", body: map[string]any{"location": "westus2", "sku": map[string]any{"name": "S0"}, "properties": map[string]any{}}},
		{id: server + "/firewallRules/office", body: with(map[string]any{"startIpAddress": "10.0.0.1", "endIpAddress": "10.0.0.2"})},
		{id: other, body: located(map[string]any{"addressSpace": map[string]any{"addressPrefixes": []any{"10.1.0.0/16"}}})},
		{id: other + "/subnets/a", body: with(map[string]any{"addressPrefix": "10.1.0.0/24"}), comes: true},
		{id: "/resourceGroups/MC_shop", body: map[string]any{"location": "westus2", "managedBy": plantedSubscription + shop + "/providers/Microsoft.ContainerService/managedClusters/shop"}, comes: true},
		{id: "/resourceGroups/MC_shop/providers/Microsoft.Network/routeTables/nodes", body: located(map[string]any{}), comes: true},
	} {
		put(r.id, r.body)
		if !r.comes {
			unmanaged = append(unmanaged, r.id)
		}
	}
	return unmanaged
}

// coverage is the JSON of unmanaged.
type coverage struct {
	Summary struct {
		Managed, Unmanaged, Ignored, NotRead int
	}
	Coverage           float64
	Unmanaged, Ignored []struct{ ID string }
	UnusedPatterns     []struct{ Pattern string }
}

// coverageOf runs unmanaged for the planted subscription.
func coverageOf(w *harness.World, code int, args ...string) coverage {
	w.T.Helper()
	before := w.Sim.Counters().ByMethod
	result := w.CLI(append([]string{"unmanaged", plantedSubscription, "-o", "json"}, args...)...)
	if result.Code != code {
		w.T.Fatalf("want exit code %d of %s", code, result)
	}
	after := w.Sim.Counters().ByMethod
	for _, method := range []string{http.MethodPut, http.MethodPatch, http.MethodDelete} {
		if after[method] != before[method] {
			w.T.Errorf("unmanaged sent %d %ss", after[method]-before[method], method)
		}
	}
	var read coverage
	if err := json.Unmarshal([]byte(result.Out), &read); err != nil {
		w.T.Fatalf("%v of %s", err, result)
	}
	return read
}

// wantIDs compares a list of IDs with a planted set, in lower case.
func wantIDs(t *testing.T, what string, want []string, got []struct{ ID string }) {
	t.Helper()
	var wanted, ids []string
	for _, id := range want {
		wanted = append(wanted, strings.ToLower(plantedSubscription+id))
	}
	for _, r := range got {
		ids = append(ids, strings.ToLower(r.ID))
	}
	slices.Sort(wanted)
	slices.Sort(ids)
	if diff := cmp.Diff(wanted, ids); diff != "" {
		t.Errorf("%s (-want +got)\n%s", what, diff)
	}
}

// TestUnmanaged finds exactly a planted set beside managed resources, ignores what a file
// ignores, and finds nothing once the manifests that it wrote are applied.
func TestUnmanaged(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{Simulator: armsim.Options{TimeScale: 1200}})
	quickPolls(w)
	w.StartWorker(harness.WorkerOptions{})
	w.Write("managed.yaml", managedText)
	w.MustCLI("apply", "-f", "managed.yaml", "--wait", "--timeout", "120s")
	const managed = 6
	planted := plant(w)

	found := coverageOf(w, 0)
	wantIDs(t, "unmanaged", planted, found.Unmanaged)
	if found.Summary.Managed != managed || found.Summary.NotRead != 0 || len(found.Ignored) > 0 {
		t.Errorf("want %d managed resources: %+v", managed, found.Summary)
	}

	w.Write(".armatureignore", "# tried out\ntmp-*\nMicrosoft.Insights/*\n/**/virtualNetworks/net\nMicrosoft.Gone/*\n!foreign\n")
	isIgnored := func(id string) bool {
		return strings.Contains(id, "/tmp-1") || strings.Contains(id, "/Microsoft.Insights/")
	}
	rest := slices.DeleteFunc(slices.Clone(planted), isIgnored)
	ignored := coverageOf(w, 2, "--exit-code", "--import", "stack", "--adopt", "as-is", "--policy", "observe")
	wantIDs(t, "unmanaged beside ignored", rest, ignored.Unmanaged)
	wantIDs(t, "ignored", slices.DeleteFunc(slices.Clone(planted), func(id string) bool { return !isIgnored(id) }), ignored.Ignored)
	if len(ignored.UnusedPatterns) != 1 || ignored.UnusedPatterns[0].Pattern != "Microsoft.Gone/*" {
		t.Errorf("patterns without effect: %+v", ignored.UnusedPatterns)
	}
	if want := float64(1000*managed/(managed+len(rest))) / 10; ignored.Coverage != want {
		t.Errorf("coverage %v, want %v: rounded down", ignored.Coverage, want)
	}

	for _, c := range plan(w, 0, "-f", "stack") {
		if c.Action != "none" {
			t.Errorf("the plan of the manifests: %+v", c)
		}
	}
	w.MustCLI("apply", "-f", "stack", "--wait", "--timeout", "120s")
	if all := coverageOf(w, 0, "--exit-code"); all.Coverage != 100 || all.Summary.Managed != managed+len(rest) {
		t.Errorf("after the manifests are applied: %+v", all)
	}
}
