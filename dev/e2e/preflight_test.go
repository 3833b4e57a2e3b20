package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
)

// wrongBody is a body that Azure refuses: a type, its body, and the property and line that a
// preflight must name.
type wrongBody struct{ typ, body, path string }

// wrongBodies returns ten mistakes, each in the line of its path.
func wrongBodies() []wrongBody {
	return []wrongBody{
		{"Microsoft.Storage/storageAccounts@2023-01-01", "kind: StorageV2\n  sku: {name: Standard_LRS}\n  properties:\n    minimumTlsVerison: TLS1_2", "body.properties.minimumTlsVerison"},
		{"Microsoft.ServiceBus/namespaces@2021-11-01", "sku: {name: Standard, tier: Standard}\n  properties:\n    zoneRedundnt: true", "body.properties.zoneRedundnt"},
		{"Microsoft.Network/virtualNetworks@2023-09-01", "properties:\n    addressSpace: {addressPrefixes: [10.0.0.0/16]}\n    subnets:\n    - name: a\n      properties:\n        adressPrefix: 10.0.0.0/24", "body.properties.subnets[name=a].properties.adressPrefix"},
		{"Microsoft.Network/publicIPAddresses@2023-09-01", "properties:\n    idleTimeoutInMinutes: soon", "body.properties.idleTimeoutInMinutes"},
		{"Microsoft.Network/networkSecurityGroups@2023-09-01", "properties:\n    flushConnection: maybe", "body.properties.flushConnection"},
		{"Microsoft.Cache/redis@2023-08-01", "properties:\n    sku: {name: Basic, family: C, capacity: 0}\n    enableNonSslPort: sure", "body.properties.enableNonSslPort"},
		{"Microsoft.Compute/disks@2023-10-02", "properties:\n    creationData: {createOption: Empty}\n    diskSizeGigabytes: 4", "body.properties.diskSizeGigabytes"},
		{"Microsoft.KeyVault/vaults@2023-07-01", "properties:\n    tenantId: aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee\n    sku: {family: A, name: standard}\n    softDeleteRetentionInDays: many", "body.properties.softDeleteRetentionInDays"},
		{"Microsoft.Kusto/clusters@2023-08-15", "sku: {name: Standard_E8ads_v5, tier: Standard, capacity: 2}\n  properties:\n    enableStreamingIngst: true", "body.properties.enableStreamingIngst"},
		{"Microsoft.Sql/servers@2023-08-01", "properties:\n    administratorLogin: admin1\n    administratorLoginPassword: {$secret: env:ARMATURE_SECRET_E2E}\n    restrictOutboundAccess: Enabled", "body.properties.restrictOutboundAccess"},
	}
}

const preflightPassword = "pre-fl1ght-P4ssw0rd"

// wantNoWrites fails the test when ARM got a request that changes something.
func wantNoWrites(w *harness.World) {
	w.T.Helper()
	counters := w.Sim.Counters()
	if n := counters.ByMethod[http.MethodPut] + counters.ByMethod[http.MethodPatch] + counters.ByMethod[http.MethodDelete]; n > 0 || len(counters.Writes) > 0 {
		w.T.Errorf("a preflight sent %v and wrote %v", counters.ByMethod, counters.Writes)
	}
}

// TestPreflight asks ARM about ten wrong manifests: each is named with its property, its file and
// its line, in every format, without a write. What is good is counted, and no secret is anywhere.
func TestPreflight(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{Simulator: armsim.Options{Validate: true}})
	w.StartWorker(harness.WorkerOptions{Env: []string{"ARMATURE_SECRET_E2E=" + preflightPassword}})
	group := subscription + "/resourceGroups/pre"
	w.Sim.Call(http.MethodPut, "/resources", map[string]any{"id": group, "body": map[string]any{"location": "westus2"}}, nil)
	var good, places []string
	for i, wrong := range wrongBodies() {
		name := fmt.Sprintf("wrong%d", i)
		text := fmt.Sprintf("type: %s\nname: %s\nowner: %s\nbody:\n  location: westus2\n  %s\n", wrong.typ, name, group, wrong.body)
		w.Write("wrong/"+name+".yaml", text)
		places = append(places, fmt.Sprintf("%s.yaml:%d", name, strings.Count(strings.TrimSpace(text), "\n")+1))
	}
	for i := range 3 {
		name := fmt.Sprintf("good%d", i)
		good = append(good, fmt.Sprintf("type: Microsoft.Storage/storageAccounts@2023-01-01\nname: %s\nowner: %s\nbody: {location: westus2, kind: StorageV2, sku: {name: Standard_LRS}, properties: {}}\n", name, group))
	}
	w.Write("good.yaml", strings.Join(good, "---\n"))
	w.Sim.Reset()

	shown := w.CLI("plan", "--preflight", "--validation", "off", "-f", "wrong", "-f", "good.yaml")
	if shown.Code != 1 || !strings.Contains(shown.Out, "Preflight: ARM objects to 10 resources (13 asked, 0 not asked, 0 unsupported).") {
		t.Errorf("want the counts and exit code 1 of %s", shown)
	}
	marked := w.CLI("plan", "--preflight", "--validation", "off", "-f", "wrong", "-o", "markdown")
	for i, wrong := range wrongBodies() {
		for _, output := range []string{shown.Out, marked.Out} {
			if !strings.Contains(output, wrong.path+": ") || !strings.Contains(output, places[i]) {
				t.Errorf("%s at %s is not named in\n%s", wrong.path, places[i], output)
			}
		}
	}
	var read struct {
		Resources []struct {
			Action string
			Issues []struct {
				File, Path string
				Line       int
			}
		}
		Preflight struct{ Asked, Objected, NotAsked, Unsupported int }
	}
	machine := w.CLI("plan", "--preflight", "--validation", "off", "-f", "wrong", "-o", "json")
	if err := json.Unmarshal([]byte(machine.Out), &read); err != nil {
		t.Fatalf("%v of %s", err, machine)
	}
	if read.Preflight.Objected != 10 || len(read.Resources) != 10 {
		t.Errorf("the JSON counts %+v", read.Preflight)
	}
	for _, r := range read.Resources {
		if r.Action != "error" || len(r.Issues) != 1 || r.Issues[0].Line == 0 || !strings.HasPrefix(r.Issues[0].Path, "body.properties.") {
			t.Errorf("the JSON has %+v", r)
		}
	}
	fine := w.CLI("plan", "--preflight", "-f", "good.yaml")
	if fine.Code != 2 || !strings.Contains(fine.Out, "Preflight: ARM found nothing (3 asked, 0 not asked, 0 unsupported).") || strings.Contains(fine.Out, "valid") {
		t.Errorf("want that ARM found nothing of %s", fine)
	}
	wantNoWrites(w)
	for _, text := range append(w.Texts(), shown.Out, shown.Err, marked.Out, machine.Out) {
		if strings.Contains(text, preflightPassword) {
			t.Fatal("the secret is in the history or the output")
		}
	}
}

// TestPreflightMany asks about many resources in fewer requests: how many depends on how many plans
// run at the same time.
func TestPreflightMany(t *testing.T) {
	t.Parallel()
	many := 300
	if testing.Short() {
		many = 60
	}
	w := harness.New(t, binaries, harness.Options{Simulator: armsim.Options{Validate: true}})
	w.StartWorker(harness.WorkerOptions{})
	group := subscription + "/resourceGroups/many"
	w.Sim.Call(http.MethodPut, "/resources", map[string]any{"id": group, "body": map[string]any{"location": "westus2"}}, nil)
	var text strings.Builder
	for i := range many {
		fmt.Fprintf(&text, "---\ntype: Microsoft.Storage/storageAccounts@2023-01-01\nname: many%d\nowner: %s\nbody: {location: westus2, kind: StorageV2, sku: {name: Standard_LRS}, properties: {}}\n", i, group)
	}
	w.Write("many.yaml", text.String())
	w.Sim.Reset()
	result := w.CLI("plan", "--preflight", "-f", "many.yaml")
	posts := w.Sim.Counters().ByMethod[http.MethodPost]
	t.Logf("score plan.preflight.requests %d for %d resources", posts, many)
	if want := fmt.Sprintf("Preflight: ARM found nothing (%d asked, 0 not asked, 0 unsupported).", many); result.Code != 2 || !strings.Contains(result.Out, want) || posts > many*3/4 {
		t.Errorf("%d requests for %d resources, want fewer and %q in %s", posts, many, want, result)
	}
	wantNoWrites(w)
}
