package webui

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/dev/temporaldev"
	"github.com/armature-io/armature/workflows"
)

// triesSeen is the number of tries of the database before the first page is opened.
const triesSeen = 6

// newStory makes everything Ready, changes a database outside Armature, waits for the
// correction, and then keeps the cluster Updating.
func newStory(t *testing.T) story {
	t.Helper()
	w := harness.New(t, binaries, harness.Options{Simulator: armsim.Options{TimeScale: 600}})
	ui, err := temporaldev.StartUI(t.Context(), w.Temporal.Address(), temporaldev.UIOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ui.Stop() })
	s := story{World: w, ui: ui, b: openBrowser(t)}
	w.Sim.Call(http.MethodPost, "/operations", armsim.OperationRule{Spec: armsim.OperationSpec{RetryAfter: []float64{60}}}, nil)
	s.worker = w.StartWorker(harness.WorkerOptions{})

	w.Write("stack/group.yaml", groupManifest)
	w.Write("stack/firewall.yaml", firewallManifest())
	w.Write("stack/cluster.yaml", clusterManifest)
	w.Write("stack/telemetry.yaml", databaseManifest("telemetry"))
	w.MustCLI("apply", "-f", "stack", "--wait", "--timeout", "90s")
	w.Sim.Patch(database, map[string]any{"properties": map[string]any{"softDeletePeriod": "P1D"}})
	w.MustCLI("reconcile", database, "--wait", "--timeout", "60s")

	w.Sim.Call(http.MethodPost, "/holds", armsim.Hold{ID: cluster}, nil)
	w.Sim.Patch(cluster, map[string]any{"sku": map[string]any{"capacity": 3}})
	w.MustCLI("reconcile", cluster)
	w.UntilPhase(30*time.Second, cluster, workflows.PhaseOperating)
	w.MustCLI("reconcile", database)
	w.Write("stack/audit.yaml", databaseManifest("audit"))
	w.Write("stack/traces.yaml", databaseManifest("traces"))
	w.MustCLI("apply", "-f", "stack")
	w.UntilStatus(120*time.Second, database, "has waited for a while", func(status workflows.Status) bool {
		return status.Phase == workflows.PhaseBlocked && status.Attempts >= triesSeen
	})
	for _, name := range []string{"audit", "traces"} {
		w.UntilPhase(30*time.Second, cluster+"/databases/"+name, workflows.PhaseBlocked)
	}
	return s
}

const groupManifest = `type: Microsoft.Resources/resourceGroups@2021-04-01
name: armature-demo
owner: /subscriptions/11111111-2222-3333-4444-555555555555
body: {location: westus2}
labels: {stack: demo}
`

const clusterManifest = `type: Microsoft.Kusto/clusters@2023-08-15
name: adx
owner: armature-demo
body:
  location: westus2
  sku: {name: Standard_D13_v2, tier: Standard, capacity: 2}
labels: {stack: demo}
`

func databaseManifest(name string) string {
	return fmt.Sprintf(`type: Microsoft.Kusto/clusters/databases@2023-08-15
name: %s
owner: adx
body: {location: westus2, kind: ReadWrite, properties: {softDeletePeriod: P30D}}
labels: {stack: demo}
`, name)
}

// firewallManifest is large enough to be compressed in a history.
func firewallManifest() string {
	var b strings.Builder
	b.WriteString(`type: Microsoft.Network/networkSecurityGroups@2020-11-01
name: demo-nsg
owner: armature-demo
labels: {stack: demo}
body:
  location: westus2
  properties:
    securityRules:
`)
	for i := range 16 {
		fmt.Fprintf(&b, `      - name: allow-rule-%02d
        properties:
          priority: %d
          direction: Inbound
          access: Allow
          protocol: Tcp
          sourceAddressPrefix: 10.%d.0.0/16
          sourcePortRange: "*"
          destinationAddressPrefix: "*"
          destinationPortRange: "%d"
`, i+1, 100+10*i, i, 8000+i)
	}
	return b.String()
}
