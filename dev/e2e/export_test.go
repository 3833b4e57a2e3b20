package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/workflows"
)

const (
	exportGroup   = subscription + "/resourceGroups/exports"
	exportAccount = exportGroup + "/providers/Microsoft.Storage/storageAccounts/stexports"
	exportVault   = "kv"
)

// exportManifest is a storage account with a key, and a text with a key, as exports.
var exportManifest = fmt.Sprintf(`type: Microsoft.Storage/storageAccounts@2023-01-01
name: stexports
owner: %s
body: {location: westus2, kind: StorageV2, sku: {name: Standard_LRS}}
reconcile: {interval: 0}
export:
- to: keyvault:https://kv.vault.example/secrets/app-key1
  from: {action: listKeys, path: 'keys[keyName=key1].value'}
  tags: {team: data}
- to: keyvault:https://kv.vault.example/secrets/app-connection
  from: {action: listKeys, text: 'AccountName=${name};Blob=${properties.primaryEndpoints.blob};AccountKey=${action.keys[1].value}'}
`, exportGroup)

// exportWorld returns a world with key vaults.
func exportWorld(t *testing.T) *harness.World {
	t.Helper()
	w := harness.New(t, binaries, harness.Options{TLS: true, Vaults: true, Simulator: armsim.Options{TimeScale: 600}})
	w.Env = append(w.Env, "ARMATURE_EXPORT_VAULTS=https://kv.vault.example/secrets/app-*", "ARMATURE_LOG_LEVEL=debug",
		"ARMATURE_MASK_KEY=env:EXPORT_MASK_KEY", "EXPORT_MASK_KEY=a-mask-key-of-enough-length-0123456789")
	w.Sim.Call(http.MethodPut, "/resources", map[string]any{"id": exportGroup, "body": map[string]any{"location": "westus2"}}, nil)
	return w
}

// regenerate makes the simulated service change a key of the account.
func regenerate(w *harness.World, key string) {
	w.T.Helper()
	w.Sim.Call(http.MethodPost, "/keys", armsim.KeyChange{ID: exportAccount, Name: key}, nil)
}

// TestExport writes keys of a storage account to a key vault, follows a rotation with one
// version, and writes nothing in the passes without a change.
func TestExport(t *testing.T) {
	t.Parallel()
	w := exportWorld(t)
	w.StartWorker(harness.WorkerOptions{})
	w.MustCLI("apply", "-f", w.Write("account.yaml", exportManifest), "--wait", "--timeout", "60s")

	key, connection := w.Sim.VaultSecret(exportVault, "app-key1"), w.Sim.VaultSecret(exportVault, "app-connection")
	if len(key.Versions) != 1 || len(connection.Versions) != 1 {
		t.Fatalf("the vault has %d and %d versions, want one each\n%s", len(key.Versions), len(connection.Versions), w.HistoryLines(exportAccount))
	}
	if tags := key.Versions[0].Tags; tags["team"] != "data" || !strings.EqualFold(tags["armature-export"], exportAccount) {
		t.Errorf("the secret has the tags %v", tags)
	}
	if text := connection.Versions[0].Value; !strings.HasPrefix(text, "AccountName=stexports;Blob=https://stexports.blob.core.windows.net/;AccountKey=") || strings.HasSuffix(text, "=") {
		t.Errorf("the text is %q", text)
	}

	reconcile := func() {
		t.Helper()
		w.MustCLI("reconcile", exportAccount, "--wait", "--timeout", "60s")
	}
	reconcile()
	reconcile()
	if n := len(w.Sim.VaultSecret(exportVault, "app-key1").Versions); n != 1 {
		t.Errorf("after passes without a change the secret has %d versions", n)
	}
	regenerate(w, "key1")
	reconcile()
	reconcile()
	rotated := w.Sim.VaultSecret(exportVault, "app-key1").Versions
	if len(rotated) != 2 || rotated[0].Value == rotated[1].Value {
		t.Fatalf("after a rotation the secret has %d versions, want 2 that differ\n%s", len(rotated), w.HistoryLines(exportAccount))
	}
	if n := len(w.Sim.VaultSecret(exportVault, "app-connection").Versions); n != 1 {
		t.Errorf("the other key was not rotated, and its secret has %d versions", n)
	}
	status := w.UntilStatus(30*time.Second, exportAccount, "shows the version", func(status workflows.Status) bool {
		return len(status.Exports) == 2 && status.Exports[0].Version == rotated[1].ID
	})
	if one := status.Exports[0]; one.Hash == "" || one.WrittenAt.IsZero() || one.ComparedAt.IsZero() {
		t.Errorf("the status remembers %+v, want hash and times", one)
	}
}
