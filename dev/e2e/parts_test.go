package e2e

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
)

// partsText are a resource group, an account in it and a network that needs the account.
const partsText = `type: Microsoft.Resources/resourceGroups@2021-04-01
name: parts
owner: ` + subscription + `
body: {location: westus2}
labels: {stack: parts}
---
type: Microsoft.Storage/storageAccounts@2023-01-01
name: stparts
owner: parts
body: {location: westus2, kind: StorageV2, sku: {name: Standard_LRS}, properties: {accessTier: Hot}}
labels: {stack: parts}
`

// onePart is a manifest whose owner and reference have no manifest beside it.
const onePart = `type: Microsoft.Network/virtualNetworks@2023-05-01
name: net
owner: parts
body:
  location: westus2
  tags: {tier: {$ref: stparts, path: properties.accessTier}}
  properties: {addressSpace: {addressPrefixes: [10.0.0.0/16]}}
labels: {stack: parts}
`

// TestNamesAndParts applies a part of a folder, then one file below what is managed by then,
// with the visibility of a real server.
func TestNamesAndParts(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{Simulator: armsim.Options{TimeScale: 600}})
	quickPolls(w)
	w.StartWorker(harness.WorkerOptions{})
	w.Write("stack/stack.yaml", partsText)
	file := w.Write("one/net.yaml", onePart)
	const group = subscription + "/resourceGroups/parts"

	if refused := w.CLI("apply", "-f", file); refused.Code != 2 || !strings.Contains(refused.Err, `neither a manifest nor a managed resource is named "parts"`) {
		t.Errorf("before anything is managed: %s", refused)
	}
	w.Write("stack/net.yaml", onePart)
	part := w.MustCLI("apply", "-f", "stack", "--target", "stparts", "--wait", "--timeout", "120s")
	if want := "and resource group parts, which it needs; 1 other manifest left out"; !strings.Contains(part.Err, want) {
		t.Errorf("the output of --target lacks %q: %s", want, part)
	}
	if found := stored(w, group+"/providers/Microsoft.Network/*"); len(found) > 0 {
		t.Errorf("the target took %v along", found)
	}

	// Lists are behind by moments.
	w.Until(60*time.Second, "a plan finds the owner and the reference", func() (bool, string) {
		planned := w.CLI("plan", "-f", file)
		return planned.Code == 2 && strings.Contains(planned.Err, "stparts is the managed resource "+group+"/providers/Microsoft.Storage/storageAccounts/stparts"), planned.String()
	})
	w.MustCLI("apply", "-f", file, "--wait", "--timeout", "120s")
	found := stored(w, group+"/providers/Microsoft.Network/virtualNetworks/net")
	if len(found) != 1 {
		t.Fatalf("%d networks, want 1", len(found))
	}
	if raw, err := json.Marshal(found[0].Body); err != nil || !strings.Contains(string(raw), `"tier":"Hot"`) {
		t.Errorf("the network has no value of the account: %s %v", raw, err)
	}
	for _, c := range plan(w, 0, "-f", "stack") {
		if c.Action != "none" {
			t.Errorf("the whole folder afterwards: %+v", c)
		}
	}
	w.MustCLI("pause", "PARTS/net", "--reason", "test")
	if shown := w.MustCLI("get", "parts/net").Out; !strings.Contains(shown, "Paused") {
		t.Errorf("group/name chose another resource:\n%s", shown)
	}
}
