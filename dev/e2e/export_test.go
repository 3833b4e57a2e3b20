package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/dev/internal/leaks"
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

// TestRecordExport writes keys of a storage account to a key vault, follows a rotation with one
// version, and writes nothing in the passes without a change.
func TestRecordExport(t *testing.T) {
	t.Parallel()
	w := exportWorld(t)
	worker := w.StartWorker(harness.WorkerOptions{})
	output := []string{w.MustCLI("apply", "-f", w.Write("account.yaml", exportManifest), "--wait", "--timeout", "60s").Out}

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
		output = append(output, w.MustCLI("reconcile", exportAccount, "--wait", "--timeout", "60s").Out)
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
	w.Record(exportAccount, "export")

	for _, args := range [][]string{{"describe", exportAccount}, {"describe", exportAccount, "-o", "json"}, {"get", "-o", "wide"}, {"plan", "-f", "account.yaml"}} {
		output = append(output, w.MustCLI(args...).Out)
	}
	_, metrics := worker.Get("/metrics")
	searchValues(w, map[string]string{
		"Temporal": strings.Join(w.Texts(), "\n"), "the worker's log": worker.Log(), "the CLI's output": strings.Join(output, "\n"), "the metrics": metrics,
	})
}

// searchValues fails where a place contains a value of a key or of a secret in the vault. Each
// place contains the version, or the name of the activity, to prove that the search works.
func searchValues(w *harness.World, places map[string]string) {
	w.T.Helper()
	var made struct{ Values []string }
	w.Sim.Call(http.MethodGet, "/secrets", nil, &made)
	if len(made.Values) < 4 {
		w.T.Errorf("the simulator knows only %d values", len(made.Values))
	}
	version := w.Sim.VaultSecret(exportVault, "app-key1").Versions[1].ID
	for place, text := range places {
		if !strings.Contains(text, version) && !strings.Contains(text, "ExportValues") {
			w.T.Errorf("%s shows nothing of the export", place)
		}
	}
	values := map[string]string{}
	for _, value := range made.Values {
		values[value] = "a value"
	}
	for _, leak := range leaks.Find(places, values) {
		w.T.Error(leak)
	}
}

// TestExportKilled kills the worker between the action and the write, and between the write
// and the result: the vault has exactly one version.
func TestExportKilled(t *testing.T) {
	t.Parallel()
	for name, applied := range map[string]bool{"between action and write": false, "after the write": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := exportWorld(t)
			worker := w.StartWorker(harness.WorkerOptions{})
			gate := armsim.Fault{Method: http.MethodPut, Path: "/vaults/kv/secrets/app-key1", Applied: applied, Gate: true}
			w.Sim.Call(http.MethodPost, "/faults", gate, nil)
			w.MustCLI("apply", "-f", w.Write("account.yaml", exportManifest))
			w.Until(crashReaches, "the worker writes the secret", func() (bool, string) {
				return held(w) == 1, worker.Log()
			})
			worker.Kill()
			w.Sim.Call(http.MethodDelete, "/faults", nil, nil)
			w.StartWorker(harness.WorkerOptions{})
			w.UntilPhase(crashRecovers, exportAccount, workflows.PhaseReady)
			for _, secret := range []string{"app-key1", "app-connection"} {
				if n := len(w.Sim.VaultSecret(exportVault, secret).Versions); n != 1 {
					t.Errorf("%s has %d versions, want exactly one\n%s", secret, n, w.HistoryLines(exportAccount))
				}
			}
		})
	}
}
