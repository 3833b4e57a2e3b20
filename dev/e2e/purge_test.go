package e2e

import (
	"net/http"
	"strings"
	"testing"

	"github.com/armature-io/armature/dev/internal/harness"
)

// TestRecordPurge deletes a vault whose manifest states a purge, and creates it again
// under its name. A vault whose manifest states none keeps its name.
func TestRecordPurge(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{})
	w.StartWorker(harness.WorkerOptions{})
	s := scenarios{w}
	s.putGroup("purge")
	group := subscription + "/resourceGroups/purge"
	for name, purge := range map[string]bool{"purged": true, "kept": false} {
		text := "type: Microsoft.KeyVault/vaults@2023-07-01\nname: " + name + "\nowner: " + group +
			"\nbody: {location: westus2, properties: {tenantId: 11111111-2222-3333-4444-555555555555, sku: {family: A, name: standard}, accessPolicies: []}}\n"
		if purge {
			text += "reconcile: {delete: {purge: true}}\n"
		}
		id := group + "/providers/Microsoft.KeyVault/vaults/" + name
		file := w.Write(name+".yaml", text)
		w.MustCLI("apply", "-f", file, "--wait", "--timeout", "60s")
		deleted := w.MustCLI("delete", id, "--yes", "--wait", "--timeout", "120s").String()
		if strings.Contains(deleted, "then it is purged") != purge {
			t.Errorf("purge %t: the output is\n%s", purge, deleted)
		}
		if purge {
			w.Record(id, "purge")
		}
		purges := w.Sim.Count(http.MethodPost, subscription+"/providers/Microsoft.KeyVault/locations/westus2/deletedVaults/"+name+"/purge")
		again := w.CLI("apply", "-f", file, "--wait", "--timeout", "15s")
		if purge != (again.Code == 0) {
			t.Errorf("purge %t after %d purges: %s", purge, purges, again)
		}
	}
}
