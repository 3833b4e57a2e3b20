package e2e

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
)

// projectFiles are a project with two environments; the network's tag follows an observed
// value of the storage account.
var projectFiles = map[string]string{
	"shop/armature.yaml": `params:
  env: {kind: text}
  sku: {kind: text, default: Standard_LRS}
environments:
  dev: {subscription: 11111111-2222-3333-4444-555555555555, resource-group: shop-dev, params: {env: dev}, labels: {env: dev}}
  prod: {subscription: 11111111-2222-3333-4444-666666666666, resource-group: shop-prod, params: {env: prod, sku: Standard_ZRS}, labels: {env: prod}}
`,
	"shop/stack.yaml": `type: Microsoft.Resources/resourceGroups@2021-04-01
name: {$text: "shop-${params.env}"}
alias: group
body: {location: westus2}
---
type: Microsoft.Storage/storageAccounts@2023-01-01
name: {$text: "stshop${params.env}"}
alias: storage
owner: group
body: {location: westus2, kind: StorageV2, sku: {name: {$param: sku}}, properties: {accessTier: Hot}}
outputs: {TIER: properties.accessTier, STORAGE_ID: id}
---
type: Microsoft.Network/virtualNetworks@2023-05-01
name: net
owner: group
body:
  location: westus2
  tags: {tier: {$text: "${params.env}-${ref.storage.properties.accessTier}"}}
  properties: {addressSpace: {addressPrefixes: [10.0.0.0/16]}}
`,
}

// TestEnvironments applies one folder for two environments, reads outputs, and follows a
// value that a text contains.
func TestEnvironments(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{Simulator: armsim.Options{TimeScale: 300}})
	w.StartWorker(harness.WorkerOptions{})
	for name, text := range projectFiles {
		w.Write(name, text)
	}
	for _, env := range []string{"dev", "prod"} {
		w.MustCLI("apply", "-f", "shop", "--env", env, "--wait", "--timeout", "120s")
	}
	tags := func(env, group string) string {
		t.Helper()
		found := stored(w, "/subscriptions/11111111-2222-3333-4444-"+env+"/resourceGroups/"+group+"/providers/Microsoft.Network/virtualNetworks/net")
		if len(found) != 1 {
			t.Fatalf("%d networks in %s", len(found), group)
		}
		raw, err := json.Marshal(found[0].Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	if body := tags("555555555555", "shop-dev"); !strings.Contains(body, `"tier":"dev-Hot"`) {
		t.Errorf("dev: %s", body)
	}
	if body := tags("666666666666", "shop-prod"); !strings.Contains(body, `"tier":"prod-Hot"`) {
		t.Errorf("prod: %s", body)
	}
	got := w.MustCLI("outputs", "-l", "env=prod", "-o", "env").Out
	want := "STORAGE_ID='/subscriptions/11111111-2222-3333-4444-666666666666/resourceGroups/shop-prod/providers/Microsoft.Storage/storageAccounts/stshopprod'\nTIER='Hot'\n"
	if got != want {
		t.Errorf("outputs:\n%s\nwant:\n%s", got, want)
	}
	var described []struct {
		Observed map[string]any `json:"observed"`
	}
	if err := json.Unmarshal([]byte(w.MustCLI("describe", "stshopprod", "-o", "json").Out), &described); err != nil || len(described) != 1 || described[0].Observed["location"] == nil {
		t.Errorf("describe shows no observed body: %v %v", described, err)
	}

	// The text of the network follows the account.
	w.Write("shop/stack.yaml", strings.Replace(projectFiles["shop/stack.yaml"], "accessTier: Hot", "accessTier: Cool", 1))
	w.MustCLI("apply", "-f", "shop", "--env", "dev", "--wait", "--timeout", "120s")
	w.MustCLI("reconcile", "-l", "env=dev", "--wait", "--timeout", "60s")
	if body := tags("555555555555", "shop-dev"); !strings.Contains(body, `"tier":"dev-Cool"`) {
		t.Errorf("dev after the change: %s", body)
	}
	before := w.Sim.Counters().ByMethod[http.MethodPut]
	w.MustCLI("reconcile", "-l", "env=prod", "--wait", "--timeout", "60s")
	if after := w.Sim.Counters().ByMethod[http.MethodPut]; after != before {
		t.Errorf("a pass in sync of prod sent %d PUTs", after-before)
	}
	w.Write("shop/stack.yaml", projectFiles["shop/stack.yaml"])
	for _, c := range plan(w, 0, "-f", "shop", "--env", "prod") {
		if c.Action != "none" {
			t.Errorf("plan of prod: %+v", c)
		}
	}
}
